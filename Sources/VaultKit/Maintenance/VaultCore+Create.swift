import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultLogging
import VaultStorage

extension VaultCore {
  /// Creates a vault. Throws, and creates nothing, when the path already exists. The vault gets its first audit
  /// entry, then its name. A failure before the naming leaves nothing behind; a failure of the naming leaves the
  /// device key. The path is reserved before the device key is made, and names the key until the vault has its name: if this process is
  /// killed, the next making at the path deletes the key.
  ///
  /// - Parameters:
  ///   - path: Where to create the file. Missing directories are made with mode 0700.
  ///   - protector: Who keeps the device key. The key is durable there before the vault is durable.
  ///   - passcode: `nil` for a vault that is always unlocked.
  ///   - recovery: Shows a new recovery code before the vault gets its name, so that a vault never has a code that
  ///     was not shown. If it throws, no vault is made. `nil` for a vault without a code.
  ///   - publishing: Called directly before the vault gets its name. If it throws, no vault is made.
  /// - Returns: The vault, unlocked.
  package static func create(
    at path: String, protector: any Protector, passcode: consuming Passcode? = nil,
    recovery: ((borrowing RecoveryCode, VaultOutline) throws(VaultError) -> Void)? = nil,
    environment: VaultEnvironment = .system, publishing: () throws(VaultError) -> Void = {}
  ) throws(VaultError) -> VaultCore {
    let place: NewVaultPlace
    do throws(StorageError) { place = try NewVaultPlace.prepare(path) } catch {
      throw VaultError(error, at: path)
    }
    do throws(VaultError) {
      let core = try create(
        in: place, at: path, protector: protector, passcode: passcode, recovery: recovery,
        environment: environment, publishing: publishing)
      place.finish()
      VaultLog.info(.vaultStorage, "created \(address: path)")
      return core
    } catch {
      VaultLog.error(.vaultStorage, "\(address: path) was not created: \(error.code)")
      place.abandon()
      throw error
    }
  }

  /// The same in a place that the caller has prepared, and ends.
  static func create(
    in place: borrowing NewVaultPlace, at path: String, protector: any Protector,
    passcode: consuming Passcode?,
    recovery: ((borrowing RecoveryCode, VaultOutline) throws(VaultError) -> Void)?,
    environment: VaultEnvironment, publishing: () throws(VaultError) -> Void = {}
  ) throws(VaultError) -> VaultCore {
    let vault = VaultID(try environment.random.newBytes(16))!
    removeLeft(in: place, at: path, protector: protector, environment: environment)
    switch try protector.probe(vault) {
    case .unavailable(let fault): throw fault
    case .present: throw (protector as? FileProtector)?.taken ?? keyExists
    case .locked: throw protector.kind.isOwn ? keyLocked : SecretServiceProtector.locked
    case .absent: break
    }
    var pending = try PendingDeviceKey(
      for: path, DeviceKeys(protector, of: vault), random: environment.random)
    do throws(StorageError) { try place.note(pending.name) } catch { throw VaultError(error, at: path) }
    var change = try newKeys(
      of: vault, deviceKey: pending.key, kind: protector.kind, environment: environment)
    let code = recovery == nil ? nil : try RecoveryCode.fresh(random: environment.random)
    if recovery != nil { try change.setRecovery(code!) }
    let outline = VaultOutline(change.header)
    func show() throws(VaultError) {
      try recovery?(code!, outline)
      try publishing()
    }
    guard let passcode = consume passcode else {
      return try make(
        in: place, change: change, pending: &pending, protector: protector, environment: environment,
        show: show)
    }
    let keys = try PasscodeKeys(new: passcode, in: environment)
    try change.setPasscode(keys)
    let core = try make(
      in: place, change: change, pending: &pending, protector: protector, environment: environment, show: show
    )
    try core.adopt(keys)
    return core
  }

  /// Deletes the key of a process that was killed while it made a vault here. It may have had another protector: what it kept in the
  /// standard place is found there.
  private static func removeLeft(
    in place: borrowing NewVaultPlace, at path: String, protector: any Protector,
    environment: VaultEnvironment
  ) {
    guard !place.left.isEmpty else { return }
    PendingDeviceKey.deleteLeft(by: place.left, keptBy: protector, beside: path)
    guard let standard = try? environment.protector(.file) else { return }
    PendingDeviceKey.deleteLeft(by: place.left, keptBy: standard, beside: path)
  }

  private static var keyExists: VaultError {
    VaultError(
      .vaultExists, "there is a device key already at that place",
      hint: .nameOtherKeyPlace)
  }

  private static var keyLocked: VaultError {
    VaultError(.deviceKeyLocked, "the protector of the device key is locked")
  }

  private static func newKeys(
    of vault: VaultID, deviceKey key: borrowing DeviceKey, kind: ProtectorKind, environment: VaultEnvironment
  ) throws(VaultError) -> KeyChange {
    let root = try environment.random.newSecret(32)
    let deviceRoot = try environment.random.newSecret(32)
    let keys = try GenerationKeys(generation: 1, root: root, deviceRoot: SharedSecret(deviceRoot))
    let header = Header(vault: vault, created: environment.clock.now(), protector: kind, key: key.id)
    var change = KeyChange(header: header, slots: [], keys: keys, environment: environment)
    try change.setDeviceKey(key)
    try change.makeClasses()
    return change
  }

  /// Stores the key, then writes the vault. Deletes the key again if writing fails before the vault has its name.
  private static func make(
    in place: borrowing NewVaultPlace, change: KeyChange, pending: inout PendingDeviceKey,
    protector: any Protector,
    environment: VaultEnvironment, show: () throws(VaultError) -> Void
  ) throws(VaultError) -> VaultCore {
    try pending.store()
    do throws(VaultError) {
      let core = VaultCore(
        try write(in: place, change: change, pending: &pending, environment: environment, show: show),
        protector: protector)
      core.noteState()
      return core
    } catch {
      pending.abandon()
      throw error
    }
  }

  private static func write(
    in place: borrowing NewVaultPlace, change: KeyChange, pending: inout PendingDeviceKey,
    environment: VaultEnvironment,
    show: () throws(VaultError) -> Void
  ) throws(VaultError) -> SealedStore {
    let vault = change.header.vault
    var head = Head(auditRoot: change.auditRoot!.bytes)
    head.sequence = firstSequence
    head.recorded = RecordedTime(environment.clock.now()).after(RecordedTime.Reading(environment.clock))
    head.seals = 1
    var copy = VaultCopy(head: head, change: change)
    let state = try change.keys.sealState(
      VaultState().bytes, of: ItemID.zero.stored, revision: 1, in: vault, random: environment.random)
    let row = change.row
    let ring = try KeyRing(
      header: row, slots: change.slots, deviceKey: pending.key, environment: environment)
    let rows = try VaultRows.create(
      in: place,
      publishing: { () throws(VaultError) in
        try show()
        pending.willBeNamed()
      }
    ) { rows throws(VaultError) in
      try copy.writeKeys(change, to: &rows)
      try copy.setState(state, row: 0, in: &rows)
      try copy.beginSegment(in: &rows)
      try copy.log(AuditNote(operation: .vaultCreated), to: &rows, vault: vault, environment: environment)
      try copy.writeHead(to: &rows, vault: vault, environment: environment)
    }
    return SealedStore(rows: rows, keys: ring, environment: environment)
  }

  /// The commit that makes the vault.
  static let firstSequence: UInt64 = 1
}
