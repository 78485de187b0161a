import CommandLineKit
import Glibc
import Synchronization
package import VaultCommands
package import VaultKit

/// The vaults that the agent has open, by the identity of their files, each with its lease.
///
/// All threads use it. Its lock is never held while a file is looked at, read or closed, a key is asked for or a log is written.
/// Locking wipes the keys first; the entry in the vault's log follows on another thread, so that a disk that hangs delays no lock.
///
/// A vault is open here while it is unlocked or a request uses it. A locked one that no request uses is closed, so that its file can
/// be copied over, moved and restored as without an agent. An unlocked one rests between its requests: see ``RestingFile``.
package final class ServedVaults: Sendable {
  private struct Entry {
    let core: VaultCore
    let path: String
    /// The key file that was named when it was opened; nil for the standard place.
    let deviceKey: String?
    /// nil while no passcode has unlocked it here.
    var lease: Lease?
    /// The terminal from which it was unlocked; nil for none, and where a passcode that an item asked for has opened it.
    var unlocker: PersonsTerminal?
    /// How many requests use it.
    var uses = 0
    /// Counts the requests that began to use it.
    var turn = 0
    /// How its file was when the last request ended; nil while one uses it.
    var resting: RestingFile?

    mutating func endLease() { (lease, unlocker) = (nil, nil) }

    func shown(at now: UInt64) -> AgentStatus.Vault {
      let isUnlocked = core.isUnlocked
      let running = isUnlocked ? lease : nil
      return AgentStatus.Vault(
        path: path, isUnlocked: isUnlocked, idleLeft: running?.idleLeft(at: now),
        absoluteLeft: running?.absoluteLeft(at: now))
    }
  }

  private struct State {
    var entries: [FileIdentity: Entry] = [:]
    /// The machine is about to sleep, or the agent to end: what is unlocked now is locked at once, for this reason.
    var locksAtOnce: LockReason?
  }

  private let state = Mutex(State())
  /// What persons have let programs do again in these vaults, until they lock.
  package let grants: ServedGrants
  /// Whether a thread looks at the files of all vaults: one that hangs holds up that thread alone.
  private let isLooking = Atomic(false)
  private let clock: any VaultClock
  private let log: LockLog
  /// Called by any thread when the next end of a lease may have changed.
  private let changed: @Sendable () -> Void

  /// - Parameter changed: Called by any thread when the next end of a lease may have changed.
  package init(
    clock: any VaultClock, log: LockLog = LockLog(), knowing executables: ExecutableReader = .own,
    changed: @escaping @Sendable () -> Void = {}
  ) {
    (self.clock, self.log, self.changed) = (clock, log, changed)
    grants = ServedGrants(clock: clock, knowing: executables, changed: changed)
  }

  /// The open vault of a file; `open` is called where it is not open yet. It is in use until ``ended(_:uses:)``.
  ///
  /// - Returns: nil where the agent keeps no such vault: the path names another file by now, the vault is open with another
  ///   device key, or there are too many.
  package func vault(
    _ file: FileIdentity, at path: String, deviceKey: String?, open: () throws -> VaultCore
  ) throws -> (core: VaultCore, isNew: Bool)? {
    dropReplaced(state.withLock { $0.entries.filter { $0.key == file || $0.value.path == path }.map(\.key) })
    guard FileIdentity(of: path) == file else { return nil }
    switch state.withLock({ found(file, deviceKey: deviceKey, in: &$0) }) {
    case .open(let core): return (core, false)
    case .no: return nil
    case .mayOpen: break
    }
    let core = try open()
    // The path could have got another file meanwhile, and the vault is of that one.
    guard FileIdentity(of: path) == file else { return nil }
    return state.withLock { state in
      switch found(file, deviceKey: deviceKey, in: &state) {
      case .open(let earlier): return (earlier, false)
      case .no: return nil
      case .mayOpen:
        state.entries[file] = Entry(core: core, path: path, deviceKey: deviceKey, uses: 1, turn: 1)
        return (core, true)
      }
    }
  }

  /// A request has ended, which got the vault so many times. The last one closes a vault that is not unlocked, and moves the changes
  /// of one that is into its file.
  package func ended(_ file: FileIdentity, uses: Int) {
    let isLast = state.withLock { state in
      state.entries[file]?.uses -= uses
      return state.entries[file]?.uses == 0
    }
    guard isLast else { return }
    endLeaseIfLocked(file)
    if let core = state.withLock({ $0.entries[file]?.core }) { grants.endRefused(in: file, by: core) }
    closeUnused(file)
    rest(file)
  }

  /// Another process can have changed or removed the passcode, which has locked the vault here.
  private func endLeaseIfLocked(_ file: FileIdentity) {
    guard let core = state.withLock({ $0.entries[file]?.core }), !core.hasOpenKeys || core.isShut else {
      return
    }
    state.withLock { state in
      if state.entries[file]?.uses == 0 { state.entries[file]?.endLease() }
    }
    grants.end(of: file)
  }

  /// Moves the changes of a vault that no request uses into its file, so that none is lost or mixed if another program writes over it.
  private func rest(_ file: FileIdentity) {
    guard let entry = state.withLock({ $0.entries[file] }), entry.uses == 0 else { return }
    let resting =
      RestingFile(of: entry.path) ?? (entry.core.emptyLog() ? RestingFile(of: entry.path) : nil)
    state.withLock { state in
      if state.entries[file]?.turn == entry.turn { state.entries[file]?.resting = resting }
    }
  }

  /// Closes a vault that is not unlocked and that no request uses.
  private func closeUnused(_ file: FileIdentity) {
    let closed = state.withLock { state -> Entry? in
      guard let entry = state.entries[file], entry.uses == 0, entry.lease == nil else { return nil }
      return state.entries.removeValue(forKey: file)
    }
    if closed != nil { grants.end(of: file) }
    // Not under the lock.
    withExtendedLifetime(closed) {}
  }

  /// Whether a request with this device key can use the vault if it is open.
  package func accepts(_ file: FileIdentity, deviceKey: String?) -> Bool {
    state.withLock { $0.entries[file].map { $0.deviceKey == deviceKey } ?? true }
  }

  /// Whether the vault is open or can be opened besides those that are.
  package func hasRoom(for file: FileIdentity) -> Bool {
    state.withLock { $0.entries[file] != nil || $0.entries.count < Self.mostVaults }
  }

  // MARK: Leases

  /// A secret of the vault was used.
  package func used(_ file: FileIdentity) {
    let now = clock.bootMilliseconds()
    state.withLock { $0.entries[file]?.lease?.use(at: now) }
    beginMissingLease(file)
  }

  /// Begins the usual lease of a vault that is unlocked without one: a passcode that an item asked for opens the vault as well.
  package func beginMissingLease(_ file: FileIdentity) {
    guard let entry = state.withLock({ $0.entries[file] }), entry.lease == nil, entry.core.hasPasscode,
      entry.core.isUnlocked
    else { return }
    unlocked(file)
  }

  /// The vault was unlocked by its passcode: the usual lease begins. One that runs already goes on, as after a use: it can be that
  /// of another command, which chose its times.
  ///
  /// - Returns: The vault with its lease; nil if it is not open, or was locked at once.
  @discardableResult
  package func unlocked(_ file: FileIdentity) -> AgentStatus.Vault? {
    changeLease(of: file) { lease, now in
      guard var running = lease, !running.hasEnded(at: now) else { return Lease(from: now) }
      running.use(at: now)
      return running
    }
  }

  /// Notes the terminal of the command whose own passcode has unlocked the vault. A command that only saw the vault become unlocked changes
  /// nothing: it could be there to take the place of the person.
  package func setUnlocker(_ terminal: PersonsTerminal?, of file: FileIdentity) {
    state.withLock { $0.entries[file]?.unlocker = terminal }
  }

  /// Begins a lease of a vault that is unlocked; nil for the usual times.
  ///
  /// - Returns: As of ``unlocked(_:)``.
  package func setLease(
    of file: FileIdentity, idle: Duration?, absolute: Duration?
  ) -> AgentStatus.Vault? {
    changeLease(of: file) { _, now in Lease(from: now, idle: idle, absolute: absolute) }
  }

  private func changeLease(
    of file: FileIdentity, _ change: (Lease?, UInt64) -> Lease
  ) -> AgentStatus.Vault? {
    let now = clock.bootMilliseconds()
    let (entry, tooLate) = state.withLock { state -> (Entry?, LockReason?) in
      guard let entry = state.entries[file] else { return (nil, nil) }
      // What was locked at once and is not unlocked again gets no lease, and no second entry in the log.
      guard state.locksAtOnce == nil || entry.core.hasOpenKeys else { return (nil, nil) }
      state.entries[file]?.lease = change(entry.lease, now)
      return (state.entries[file], state.locksAtOnce)
    }
    guard let entry else { return nil }
    if let tooLate {
      lock(file, because: tooLate)
      return nil
    }
    changed()
    return entry.shown(at: now)
  }

  /// Locks what has no lease any more. Looks at no file.
  ///
  /// - Returns: When this has to be called next, in milliseconds since boot; nil if no vault is unlocked.
  @discardableResult
  package func endLeases() -> UInt64? {
    let now = clock.bootMilliseconds()
    let ended = state.withLock { state in
      state.entries.compactMap { file, entry in
        entry.lease.flatMap { $0.hasEnded(at: now) ? (file, $0.reason) : nil }
      }
    }
    for (file, reason) in ended { lock(file, because: reason) }
    return state.withLock { $0.entries.values.compactMap(\.lease?.idleEnd).min() }
  }

  // MARK: Locking

  /// Wipes the keys of one vault.
  ///
  /// - Returns: Its path if it was unlocked here.
  @discardableResult
  package func lock(_ file: FileIdentity, because reason: LockReason) -> String? {
    let (entry, wasUnlocked) = state.withLock { state -> (Entry?, Bool) in
      let entry = state.entries[file]
      state.entries[file]?.endLease()
      return (entry, entry?.lease != nil)
    }
    guard let entry else { return nil }
    entry.core.lock()
    // Not before: what is kept later finds the vault locked.
    grants.end(of: file)
    guard wasUnlocked else { return nil }
    log.note(reason, in: entry.core) { [self] in closeUnused(file) }
    return entry.path
  }

  /// Wipes the keys of the vaults that were opened at a path.
  ///
  /// - Returns: The path if one was unlocked here.
  package func lock(at path: String, because reason: LockReason) -> [String] {
    let files = state.withLock { $0.entries.filter { $0.value.path == path }.map(\.key) }
    return files.compactMap { lock($0, because: reason) }
  }

  /// Wipes the keys of all vaults.
  ///
  /// - Returns: The paths of those that were unlocked, in order.
  @discardableResult
  package func lockAll(because reason: LockReason) -> [String] {
    let files = state.withLock { state in
      if [.sleep, .ending].contains(reason), state.locksAtOnce != .ending { state.locksAtOnce = reason }
      return Array(state.entries.keys)
    }
    return files.compactMap { lock($0, because: reason) }.sorted()
  }

  /// The machine is awake again, or nothing tells of sleep any more.
  package func awoke() { state.withLock { if $0.locksAtOnce == .sleep { $0.locksAtOnce = nil } } }

  /// Waits for the entries in the logs, for a while: who ends the process after this loses none that can be written.
  package func waitForLog() { log.wait() }

  // MARK: State

  /// Whether a passcode has opened keys of the vault. Waits for no work.
  package func isUnlocked(_ file: FileIdentity) -> Bool {
    state.withLock { $0.entries[file] }.map { $0.core.hasPasscode && $0.core.hasOpenKeys } ?? false
  }

  /// The terminal from which the vault was unlocked; nil for none.
  package func unlocker(of file: FileIdentity) -> PersonsTerminal? {
    state.withLock { $0.entries[file].flatMap { $0.lease == nil ? nil : $0.unlocker } }
  }

  /// The open vaults, by their paths. Extends no lease.
  package func all() -> [AgentStatus.Vault] {
    let now = clock.bootMilliseconds()
    return state.withLock { Array($0.entries.values) }.map { $0.shown(at: now) }.sorted { $0.path < $1.path }
  }

  /// Whether a descriptor is of an open vault or of a file beside it.
  package func holds(_ descriptor: Int32) -> Bool { VaultNames.isOpenVault(descriptor) }

  /// Closes a descriptor that came from another process. One of an open vault stays open until the vault is closed: closing it would
  /// release the locks of this process on the file (POSIX), while another request may write. A vault that keeps too many is locked, so that
  /// it is closed when no request uses it.
  package func closeUnlessHeld(_ descriptor: Int32) {
    guard let kept = VaultNames.close(descriptor), kept.count >= Self.mostKept else { return }
    lock(FileIdentity(device: kept.device, inode: kept.inode), because: .descriptors)
  }

  /// As many as are kept open.
  package static let mostVaults = 16
  /// The descriptors of its own files that a vault keeps.
  package static let mostKept = 64
}

extension ServedVaults {
  private enum Found {
    case open(VaultCore)
    case no
    case mayOpen
  }

  /// Counts a use of a vault that is open.
  private func found(_ file: FileIdentity, deviceKey: String?, in state: inout State) -> Found {
    guard let entry = state.entries[file] else {
      return state.entries.count < Self.mostVaults ? .mayOpen : .no
    }
    guard entry.deviceKey == deviceKey else { return .no }
    state.entries[file]?.uses += 1
    state.entries[file]?.turn += 1
    state.entries[file]?.resting = nil
    return .open(entry.core)
  }

  /// Locks and forgets the vaults whose path names another file by now, or none, and those whose file was written over.
  ///
  /// Looks at their files, which can take its time. If another thread does so already, it does nothing.
  package func dropReplaced() {
    guard !isLooking.exchange(true, ordering: .acquiringAndReleasing) else { return }
    defer { isLooking.store(false, ordering: .releasing) }
    dropReplaced(state.withLock { Array($0.entries.keys) })
  }

  private func dropReplaced(_ files: [FileIdentity]) {
    let found = state.withLock { state in
      files.compactMap { file in
        state.entries[file].map { (file: file, path: $0.path, turn: $0.turn, resting: $0.resting) }
      }
    }
    for vault in found {
      let file = vault.file
      if FileIdentity(of: vault.path) != file {
        lock(file, because: .fileReplaced)
        // Not ended under the lock.
        let dropped = state.withLock { $0.entries.removeValue(forKey: file) }
        withExtendedLifetime(dropped) {}
      } else if vault.resting?.isWrittenOver(at: vault.path) == true {
        forget(file, turn: vault.turn)
      }
    }
  }

  /// Locks and closes a vault whose file was written over. The log gets no entry: what this process knows of the file is of its bytes
  /// before.
  private func forget(_ file: FileIdentity, turn: Int) {
    let unused = state.withLock { state -> VaultCore? in
      guard let entry = state.entries[file], entry.turn == turn, entry.uses == 0 else { return nil }
      state.entries[file]?.endLease()
      return entry.core
    }
    unused?.lock()
    if unused != nil { grants.end(of: file) }
    closeUnused(file)
  }
}
