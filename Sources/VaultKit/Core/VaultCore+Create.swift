import Glibc
import SecretMemory
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// A new vault. Nothing is made when anything is at the path already, and a failure leaves nothing behind.
  ///
  /// - Parameters:
  ///   - path: Where; folders that do not exist are made with mode 0700.
  ///   - protector: Who keeps the device key. It is durable there before the vault is.
  ///   - passcode: `nil` for a vault that is always unlocked.
  ///   - recovery: Whether to make a recovery code.
  /// - Returns: The vault, unlocked, and the code to show once.
  package static func create(
    at path: String, protector: any Protector, passcode: consuming Passcode? = nil, recovery: Bool = false,
    environment: VaultEnvironment = .system
  ) throws(VaultError) -> CreatedVault {
    let vault = VaultID(try crypto { () throws(CryptoError) in try environment.random.bytes(16) })!
    switch try protector.probe(vault) {
    case .unavailable(let fault): throw fault
    case .present:
      throw VaultError(
        .vaultExists, "there is a device key already at that place",
        hint: "name another one with --device-key")
    case .locked: throw SecretServiceCalls.locked
    case .absent: break
    }
    let key = try DeviceKey.fresh(random: environment.random)
    var change = try newKeys(vault, key, protector.kind, environment)
    let code = recovery ? try RecoveryCode.fresh(random: environment.random) : nil
    if recovery { try change.setRecovery(code!) }
    if let passcode = consume passcode {
      let derivation = try KeyDerivation.fresh(environment.parameters, random: environment.random)
      let keys = try PasscodeKeys(passcode, derivation, environment)
      try change.setPasscode(keys)
      let core = try make(path, change, key, protector, environment)
      try core.adopt(keys)
      return CreatedVault(core: core, recoveryCode: code)
    }
    return CreatedVault(core: try make(path, change, key, protector, environment), recoveryCode: code)
  }

  private static func newKeys(
    _ vault: VaultID, _ key: borrowing DeviceKey, _ kind: ProtectorKind, _ environment: VaultEnvironment
  ) throws(VaultError) -> KeyChange {
    let root = try crypto { () throws(CryptoError) in try environment.random.secret(32) }
    let deviceRoot = try crypto { () throws(CryptoError) in try environment.random.secret(32) }
    let keys = try GenerationKeys(generation: 1, root: root, deviceRoot: StoredKey(deviceRoot))
    var header = Header(vault: vault, created: environment.clock.now(), protector: kind, key: key.id)
    if environment.isCheap { header.markCheap() }
    var change = KeyChange(header: header, slots: [], keys: keys, random: environment.random)
    try change.setDeviceKey(key)
    try change.makeClasses()
    return change
  }

  /// Keeps the key, then writes the vault; when that fails the key is forgotten again.
  private static func make(
    _ path: String, _ change: KeyChange, _ key: borrowing DeviceKey, _ protector: any Protector,
    _ environment: VaultEnvironment
  ) throws(VaultError) -> VaultCore {
    try protector.refuseFolder(of: path, key: key.id, vault: change.header.vault)
    try protector.storeKey(key, of: change.header.vault)
    let session: Session
    do throws(VaultError) { session = try write(path, change, key, environment) } catch {
      // Once a vault has the key's id in its header, the key stays, whatever failed afterwards.
      if error.code == .vaultExists || !isAnything(at: path) {
        try? protector.deleteKey(key.id, of: change.header.vault)
      }
      throw error
    }
    let core = VaultCore(session, protector: protector)
    try core.writing { transaction throws(VaultError) in try transaction.log(.vaultCreated) }
    return core
  }

  /// Forgets a new key after an error, but for one that the vault names, or may name because it cannot be read now.
  static func forget(_ key: DeviceKeyID, of vault: VaultID, namedAt path: String, by protector: any Protector)
  {
    if isAnything(at: path) {
      guard let outline = try? outline(at: path), outline.deviceKey != key else { return }
    }
    try? protector.deleteKey(key, of: vault)
  }

  private static func isAnything(at path: String) -> Bool {
    var entry = stat()
    return unsafe lstat(path, &entry) == 0
  }

  private static func write(
    _ path: String, _ change: KeyChange, _ key: borrowing DeviceKey, _ environment: VaultEnvironment
  ) throws(VaultError) -> Session {
    let mac = change.keys.headerMAC.code(for: change.header.authenticatedBytes(with: change.slots))
    let row = HeaderRow(body: change.header.record.encoded, mac: mac)
    let ring = try KeyRing(header: row, slots: change.slots, deviceKey: key, random: environment.random)
    let (state, head) = try firstRows(change, environment)
    let store = try Store.create(at: path) { store throws(VaultError) in
      try stored { () throws(StorageError) in
        try store.replaceSlots(change.slots)
        try store.setHeader(row)
        try store.setState(state, row: 0)
        try store.setHead(head)
      }
    }
    return Session(store: store, keys: ring, environment: environment)
  }

  /// The vault's own state, and a head row that counts it.
  private static func firstRows(_ change: KeyChange, _ environment: VaultEnvironment) throws(VaultError)
    -> (state: StateRow, head: [UInt8])
  {
    let vault = change.header.vault
    let keys = change.keys
    var head = Head(auditRoot: change.auditRoot!.key)
    do throws(CryptoError) {
      let aad = AssociatedData.state(vault, item: ItemID.zero.stored, revision: 1)
      let state = try keys.state.seal(VaultState().bytes, aad: aad, random: environment.random)
      head.sum += Summand(key: keys).state(0, state)
      head.summedRows = 1
      head.seals = 2
      head.greatestWall = environment.clock.now()
      let body = try head.encoded.expose { span throws(CryptoError) in
        try keys.head.seal(span, aad: AssociatedData.head(vault), random: environment.random)
      }
      return (StateRow(revision: 1, body: state), body)
    } catch { throw VaultError(crypto: error) }
  }
}

/// A new vault and, once, its recovery code.
package struct CreatedVault: ~Copyable {
  package let core: VaultCore
  package let recoveryCode: RecoveryCode?
}
