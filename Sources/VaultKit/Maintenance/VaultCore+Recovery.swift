import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// Opens a vault whose device key is lost, and makes a new device key. The old key no longer opens the vault.
  ///
  /// Destroys and returns the this-device-only items, because they depended on the lost key.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for another vault's code, ``VaultError/Code/policy`` if the
  ///   vault has no recovery code.
  package static func recover(
    at path: String, with code: borrowing RecoveryCode, protector: any Protector,
    environment: VaultEnvironment = .system
  ) throws(VaultError) -> RecoveredCore {
    var rows = try VaultRows.open(at: path, access: .readWrite, patience: environment.patience)
    let row = try rows.header()
    let slots = try rows.slots()
    let ring = try KeyRing(header: row, slots: slots, recovery: code, environment: environment)
    var store = SealedStore(rows: rows, keys: ring, environment: environment)
    try store.checkFile()
    let vault = store.vault
    let keys = DeviceKeys(protector, of: vault)
    var pending = try PendingDeviceKey(for: path, keys, random: environment.random)
    let lock = try keys.lock()
    defer { lock?.keep() }
    let recovering = VaultCore(store, protector: protector)
    let notes = code.shown?.notes(.recoveryCode) ?? []
    var rehearsal = try recovering.beginWriting()
    _ = try rehearsal.recover(with: pending.key, kind: protector.kind, notes: notes)
    try rehearsal.rehearse()
    let lost = try recovering.naming(&pending, keptBy: [protector]) { pending throws(VaultError) in
      var transaction = try recovering.beginWriting()
      let lost = try transaction.recover(with: pending.key, kind: protector.kind, notes: notes)
      pending.willBeNamed()
      try transaction.commit()
      return lost
    }
    let core = try VaultCore.open(at: path, protector: protector, environment: environment)
    core.noteState()
    return RecoveredCore(
      core: core,
      lost: DestroyedItems(items: lost))
  }
}

extension SealedStore {
  /// Keys with a new this-device root. Old this-device slots are removed, and those that need no passcode are made
  /// again. During a rotation the previous generation loses its root, and with it every item of this device.
  func thisDeviceChange() throws(VaultError) -> KeyChange {
    let current = keys.current
    let deviceRoot = try environment.random.newSecret(32)
    let fresh = try GenerationKeys(
      generation: current.generation, root: current.root.copy(), deviceRoot: SharedSecret(deviceRoot))
    var previous: GenerationKeys?
    if let before = keys.previous {
      previous = try GenerationKeys(generation: before.generation, root: before.root.copy(), deviceRoot: nil)
    }
    var change = KeyChange(
      header: keys.header, slots: keys.slots, keys: fresh, previous: previous, environment: environment)
    change.slots.removeAll {
      $0.kind == SlotKind.deviceRoot.rawValue || SlotAddress($0)?.isThisDeviceOnly ?? false
    }
    try change.putBase(.classKey, subject: 0x82, key: try change.freshKey())
    if !change.header.hasPasscode { try change.putBase(.classKey, subject: 0x81, key: try change.freshKey()) }
    return change
  }
}

extension WriteTransaction {
  /// Makes new roots for a new device key, and deletes the items of the lost key with those behind their PINs.
  fileprivate mutating func recover(
    with key: borrowing DeviceKey, kind: ProtectorKind, notes: [AuditNote]
  ) throws(VaultError) -> [(id: ItemID, name: String?)] {
    try removeImpossible()
    try log(notes)
    let named = try deleteLost(try store.lostItems { $0.access.thisDeviceOnly })
    var change = try store.thisDeviceChange()
    try change.replaceDeviceKey(with: key, isShared: head.isCopy)
    head.isCopy = false
    change.header.protector = kind
    try set(change)
    try log(.recoveryUsed, detail: "new device key")
    return named
  }
}
