import DeviceKeys
import Glibc
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import Synchronization
import VaultCrypto
import VaultLogging
import VaultStorage

/// The vault as a synchronous object: one connection, one set of keys, one lock around both.
///
/// ``Vault`` is the actor around it; `vaultctl` calls it directly. Protectors, key derivations and prompts block, so
/// they run outside its lock and outside every transaction.
package final class VaultCore: Sendable {
  package let environment: VaultEnvironment
  let session: Session
  /// The call of the actor that this core is used in; `nil` outside of such calls.
  private let call: OpenCall?
  /// The bits of what was committed: see ``takeDone()``.
  private let done = Atomic<UInt64>(0)

  /// An open vault, shared by the cores of all its callers.
  final class Session: Sendable {
    let protector: Mutex<any Protector>
    /// `nil` only while a transaction has the store.
    let store: Mutex<SealedStore?>
    /// Locks the vault, also while a transaction has the store.
    let latch: VaultLatch
    /// The prompts of all calls that are open. Locking the vault ends them.
    let prompts = OpenPrompts()
    /// How many prompts its callers have open.
    let promptBound = PromptBound()
    /// Those who listen to what happens to the vault.
    let events = VaultEvents()
    /// Locks the vault at a time.
    let lockTimer = LockTimer()
    /// The thread that has the store in a transaction; 0 if none has.
    private let owner = Atomic<pthread_t>(0)
    /// Whether the closure of the transaction asked to lock the vault.
    private let locksAtEnd = Atomic(false)
    /// Ends tokens at their time.
    let tokenTimer = TokenTimer()
    /// Whether it was said that no commit can be remembered.
    let isToldOfWitness = Atomic(false)
    /// The newest commit that the protector was told of.
    private let noted = Mutex((key: DeviceKeyID?.none, sequence: UInt64(0)))

    init(_ store: consuming SealedStore, protector: any Protector) {
      self.protector = Mutex(protector)
      latch = store.latch
      latch.observe { [events] in events.send($0) }
      self.store = Mutex(consume store)
    }

    func beginTransaction() { owner.store(pthread_self(), ordering: .relaxed) }

    /// Returns whether the vault is to be locked now.
    func endTransaction() -> Bool {
      owner.store(0, ordering: .relaxed)
      return locksAtEnd.exchange(false, ordering: .relaxed)
    }

    /// Locks the vault at the end of the transaction in whose closure this is called; false outside of one.
    func lockAtEnd() -> Bool {
      guard owner.load(ordering: .relaxed) == pthread_self() else { return false }
      locksAtEnd.store(true, ordering: .relaxed)
      return true
    }

    /// The newest commit that the protector was told of; nil if none.
    var lastNoted: (key: DeviceKeyID, sequence: UInt64)? {
      noted.withLock { last in last.key.map { ($0, last.sequence) } }
    }

    /// Tells the protector of a commit. Called outside of the lock around the store, because a protector can hang; so
    /// another thread can be faster, and an older commit must not overwrite its number.
    func note(_ commit: SeenCommit, under key: DeviceKeyID, of vault: VaultID) {
      noted.withLock { last in
        guard last.key != key || SeenCommit.replaces(commit.sequence, last.sequence) else { return }
        protector.withLock { $0 }.noteCommit(commit, under: key, of: vault)
        last = (key, commit.sequence)
      }
    }

    /// The commit that the protector remembers now. Asked before a state of the file is read, which then has at least this one;
    /// and outside of the lock around the store, because a protector can hang.
    func seen(under key: DeviceKeyID, of vault: VaultID) -> SeenCommit? {
      protector.withLock { $0 }.seenCommit(under: key, of: vault)
    }
  }

  var prompts: OpenPrompts { session.prompts }

  init(_ store: consuming SealedStore, protector: any Protector) {
    environment = store.environment
    session = Session(store, protector: protector)
    call = nil
  }

  init(_ session: Session, environment: VaultEnvironment, call: OpenCall? = nil) {
    self.session = session
    self.environment = environment
    self.call = call
  }

  /// The same open vault for one call of the actor.
  func used(in call: OpenCall) -> VaultCore { VaultCore(session, environment: environment, call: call) }

  /// The same open vault, serving another process.
  package func asked(by caller: Caller) -> VaultCore {
    var environment = environment
    environment.caller = caller
    return VaultCore(session, environment: environment, call: call)
  }

  /// The same open vault, for one of several commands that share it.
  ///
  /// - Parameter body: Called directly before each commit of this command, as ``VaultEnvironment/committing`` says.
  package func committing(
    by body: @escaping @Sendable (_ isChange: Bool) throws(VaultError) -> Void
  ) -> VaultCore {
    var environment = environment
    environment.committing = body
    return VaultCore(session, environment: environment, call: call)
  }

  /// Lends one state of the vault to a closure.
  ///
  /// - Throws: What `body` throws, or ``VaultError``.
  package func read<R>(_ body: (inout ReadTransaction) throws -> R) throws -> R {
    try refreshingKeys { store in
      try store.rows.beginRead()
      store.caller = environment.caller
      try store.refreshForReading()
      var transaction = ReadTransaction(store)
      let outcome = Result { try body(&transaction) }
      store = transaction.end()
      store.rows.rollback()
      return outcome
    }
  }

  /// Lends the vault to a closure that changes it. The changes are durable when this returns.
  ///
  /// - Parameter repairing: Whether rows that no vault can have are removed first: they may be in the way of everything else.
  /// - Throws: What `body` throws, with nothing changed, or ``VaultError``.
  package func write<R>(
    repairing: Bool = false, _ body: (inout WriteTransaction) throws -> R
  ) throws -> R {
    var committed: (commit: SeenCommit, key: DeviceKeyID, vault: VaultID)?
    var notes: [AuditNote] = []
    defer {
      if let committed {
        session.note(committed.commit, under: committed.key, of: committed.vault)
        VaultLog.debug(.vaultStorage, "commit \(committed.commit.sequence) of vault \(committed.vault)")
        for note in notes { note.writeLine() }
      }
    }
    var seen = witnessed()
    return try refreshingKeys(again: { seen = witnessed() }) { store in
      try store.rows.beginImmediate()
      store.caller = environment.caller
      store.witness = seen.commit
      let head = try store.headForWriting()
      // The witness is that of a device key, which another process may have replaced.
      guard store.keys.header.deviceKey == seen.key else { throw WitnessIsStale() }
      var transaction = WriteTransaction(store, head: head)
      let outcome = Result {
        if repairing { try transaction.removeImpossible() }
        let isBehind = try transaction.adoptFile()
        try transaction.endTokens(all: isBehind)
        return try body(&transaction)
      }
      let changes = transaction.changes
      let (commit, nextTokenEnd) = (transaction.head.nextCommit, transaction.head.nextTokenEnd)
      let isCommitted = Result {
        if case .success = outcome { try transaction.sealHead() }
      }
      store = transaction.end()
      guard case .success = outcome, case .success = isCommitted, changes.isDirty else {
        store.rows.rollback()
        try isCommitted.get()
        return outcome
      }
      try environment.committing(changes.done.bits != 0)
      do throws(VaultError) { try store.rows.commit() } catch {
        VaultLog.error(.vaultStorage, "a commit failed: \(error.code)")
        throw error
      }
      notes = changes.notes
      done.bitwiseOr(changes.done.bits, ordering: .relaxed)
      store.noteOwn(commit)
      committed = (commit, store.keys.header.deviceKey, store.vault)
      session.tokenTimer.set(nextTokenEnd, of: session, clock: environment.clock)
      if changes.needsCleaning { store.clean() }
      return outcome
    }
  }

  /// What was committed through this object since it was asked last.
  package func takeDone() -> DoneOperations {
    DoneOperations(bits: done.exchange(0, ordering: .relaxed))
  }

  /// In a copy of the file, or an older state, marks what may have been used elsewhere, as the next write would. Who reads a mark
  /// and asks a person calls this first: a mark that only the last write sets comes too late.
  package func markIfCopied() throws(VaultError) {
    let seen = witnessed()
    let isMarked = try reading { transaction throws(VaultError) in
      if transaction.store.rows.isReadOnly { return true }
      transaction.store.witness = seen.commit
      let head = try transaction.store.head()
      guard transaction.store.keys.header.deviceKey == seen.key,
        head.fileIdentity == transaction.store.rows.fileIdentity
      else { return false }
      return try !transaction.store.isBehind(head)
    }
    if !isMarked { try writing { _ throws(VaultError) in } }
  }

  private struct WitnessIsStale: Error {}

  /// Tells the protector of the state that the file has now. Best effort.
  func noteState() {
    let state = try? reading { transaction throws(VaultError) in
      (try transaction.store.head().commit, transaction.store.keys.header.deviceKey, transaction.store.vault)
    }
    if let (commit, key, vault) = state { session.note(commit, under: key, of: vault) }
  }

  /// Whether the protector remembers the newest commit that this process has made. If not, an older state of the file that somebody puts
  /// back is not noticed.
  package var remembersCommit: Bool {
    guard let (key, sequence) = session.lastNoted else { return true }
    // Another process may have told a later one.
    if let seen = session.seen(under: key, of: withStore { $0.vault }),
      !SeenCommit.replaces(sequence, seen.sequence)
    {
      return true
    }
    // Or it has replaced the key, and with it what is remembered.
    let now = try? reading { transaction throws(VaultError) in transaction.store.keys.header.deviceKey }
    return now != key
  }

  /// Whether ``remembersCommit`` is false because no file can be made, and that was said: when the vault file was new here. It stays so,
  /// and a line at each change would hide the others; `doctor` says it at any time.
  package func takesForKnown() -> Bool {
    guard let (key, _) = session.lastNoted,
      session.protector.withLock({ $0 }).pathOfWitness(of: key, in: withStore { $0.vault }) == nil
    else { return false }
    return checkedAsCopy == nil || session.isToldOfWitness.exchange(true, ordering: .relaxed)
  }

  /// The commit that the protector remembers, under the device key of this session.
  private func witnessed() -> (key: DeviceKeyID, commit: SeenCommit?) {
    let header = withStore { $0.keys.header }
    // A protector that cannot be had knows of none; the one of before says nothing about a key that it does not keep.
    _ = try? keeper(of: header)
    return (header.deviceKey, session.seen(under: header.deviceKey, of: header.vault))
  }

  /// Runs a transaction. If the file has another `config` than the keys, it reads the keys again and runs the
  /// transaction again, after `again`.
  private func refreshingKeys<R>(
    again: () -> Void = {}, _ body: (inout SealedStore) throws -> Result<R, any Error>
  ) throws -> R {
    var race = KeyRace()
    while race.mayTry() {
      var outcome: Result<R, any Error>?
      var needsDeviceKey: DeviceKeyID?
      session.store.withLock { slot in
        var store = slot.take()!
        session.beginTransaction()
        do { outcome = try body(&store) } catch let error as KeysAreStale {
          store.rows.rollback()
          needsDeviceKey = error.deviceKey
        } catch is WitnessIsStale {
          store.rows.rollback()
        } catch {
          store.rows.rollback()
          outcome = .failure(error)
        }
        if session.endTransaction() { session.latch.lock() }
        slot = consume store
      }
      if let outcome { return try outcome.get() }
      if needsDeviceKey != nil { try reload() }
      again()
    }
    throw KeyRace.lost
  }

  /// Reads header and slots again with the device key. A protector can hang: it then holds neither the actor nor a
  /// caller that leaves.
  private func reload() throws(VaultError) {
    try call?.requirePerson()
    let isUsing = call?.endUse() ?? false
    try readKeys()
    guard isUsing, call?.beginUse() == false else { return }
    throw VaultError(.appCancelled, "the call was cancelled")
  }

  private func readKeys() throws(VaultError) {
    var race = KeyRace()
    while race.mayTry() {
      let header = try storedHeader()
      guard let key = try presentKey(header) else { continue }
      let isCurrent = withStore { store -> Result<Bool, VaultError> in
        Result { () throws(VaultError) in try store.reload(with: key) }
      }
      if try isCurrent.get() { return }
    }
    throw KeyRace.lost
  }

  /// The key that the header names; `nil` if another process has replaced it in the meantime.
  private func presentKey(_ header: Header) throws(VaultError) -> DeviceKey? {
    do throws(VaultError) {
      return try DeviceKeys(keeper(of: header), of: header.vault).load(header.deviceKey)
    } catch {
      guard try storedHeader().deviceKey == header.deviceKey else { return nil }
      throw error
    }
  }

  private func storedHeader() throws(VaultError) -> Header {
    let header = withStore { store -> Result<Header, VaultError> in
      Result { () throws(VaultError) in try store.storedHeader().header }
    }
    return try header.get()
  }

  /// Who keeps the device key now.
  var currentProtector: any Protector { session.protector.withLock { $0 } }
  func setProtector(_ new: any Protector) { session.protector.withLock { $0 = new } }

  /// Another process may have moved the device key to another kind of protector.
  func keeper(of header: Header) throws(VaultError) -> any Protector {
    let present = currentProtector
    if present.kind == header.protector { return present }
    let other = try environment.protector(header.protector)
    setProtector(other)
    return other
  }

  /// ``withStore(_:)`` for a step that can fail.
  func withStoreThrowing(_ body: (inout SealedStore) throws(VaultError) -> Void) throws(VaultError) {
    let outcome = withStore { store -> Result<Void, VaultError> in
      Result { () throws(VaultError) in try body(&store) }
    }
    try outcome.get()
  }

  /// Lends the session outside a transaction.
  func withStore<R: Sendable>(_ body: (inout SealedStore) -> R) -> R {
    var result: R?
    session.store.withLock { slot in
      var store = slot.take()!
      result = body(&store)
      slot = consume store
    }
    return result!
  }
}
