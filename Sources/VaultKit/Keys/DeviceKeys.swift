/// The one owner of device keys: which exist, which a file names, and which may be deleted (format, section 14 rule 9).
///
/// Nothing else calls `storeKey`, `deleteKey` or `promoteKey` of a ``Protector``. The rules:
///
/// 1. A new key is a ``PendingDeviceKey``. Before a commit or rename that names it is attempted, only the process that
///    made it may delete it.
/// 2. From the attempt on the key is *named*, whatever the attempt returned: a commit or a rename that failed can
///    appear after a crash. No error path deletes a named key.
/// 3. A named key is deleted only when the vault's own header lists it as replaced (field 20), after the vault was opened
///    with its present key, and while no file of a restore beside the vault names it (``RestoreFiles``).
///
/// Every other key with this vault id may belong to a vault that this one does not know, such as a backup restored
/// elsewhere: it is listed and never deleted.
package struct DeviceKeys: Sendable {
  let protector: any Protector
  let vault: VaultID

  package init(_ protector: any Protector, of vault: VaultID) {
    self.protector = protector
    self.vault = vault
  }

  /// The key that a header names.
  ///
  /// - Throws: As ``Protector/loadKey(_:of:)``.
  func load(_ key: DeviceKeyID) throws(VaultError) -> DeviceKey { try protector.loadKey(key, of: vault) }

  /// Keeps other processes from changing the device keys of this vault.
  package func lock() throws(VaultError) -> ProtectorLock? { try protector.lock(vault) }

  // MARK: After the vault was opened with its new key

  /// Moves the present key of the vault that `proof` was opened from to the file of a replaced key, when the protector
  /// keeps all keys in one file.
  func promote(over replaced: DeviceKeyID, in proof: VaultCore) throws(VaultError) {
    try finishPromotion(in: proof, keepingAll: false)
    try protector.promoteKey(proof.headerAndPath.header.deviceKey, replacing: replaced, of: vault)
  }

  /// The same after an interrupted rotation: the named file still holds any key that this vault has replaced, and the
  /// present key waits beside it. A file with other contents stays.
  ///
  /// - Parameter keepingAll: Moves the replaced key to its own file, as always when a file of a restore needs it.
  ///   Otherwise the commit that names the present key must be durable.
  func finishPromotion(in proof: VaultCore, keepingAll: Bool) throws(VaultError) {
    let (header, path) = proof.headerAndPath
    guard header.vault == vault, let files = protector as? FileProtector, let held = files.namedKey,
      held != header.deviceKey, header.replacedKeys.contains(held),
      files.isWaiting(header.deviceKey)
    else { return }
    var isKept = keepingAll
    if !isKept { isKept = try RestoreFiles(path: path).keeper(of: held, vault) != nil }
    if isKept { try files.setAside(held, of: vault) }
    try protector.promoteKey(header.deviceKey, replacing: held, of: vault)
  }

  /// The same at an opening. Deletes nothing, and does nothing while another process holds the lock.
  func finishPromotionAtOnce(in proof: VaultCore) throws(VaultError) {
    guard let files = protector as? FileProtector, files.isWaiting(proof.headerAndPath.header.deviceKey),
      let lock = files.lockAtOnce()
    else { return }
    defer { lock.keep() }
    try finishPromotion(in: proof, keepingAll: true)
  }

  /// Moves the key of a restored vault to the file of `old`, the replaced vault's key, and `old` to
  /// ``FileProtector/pathBeforeRestore``. Both stay where they are if that file holds anything else.
  package func promoteRestored(_ key: DeviceKeyID, over old: DeviceKeyID) throws(VaultError) {
    try (protector as? FileProtector)?.promoteRestoredKey(key, over: old, of: vault)
  }

  /// Deletes a key that the vault which `proof` was opened from has replaced.
  ///
  /// - Throws: `policy` when the vault does not list the key as replaced, or a file beside it needs the key.
  func delete(_ key: DeviceKeyID, replacedIn proof: VaultCore) throws(VaultError) {
    let (header, path) = proof.headerAndPath
    guard header.vault == vault, header.deviceKey != key, header.replacedKeys.contains(key) else {
      throw VaultError(.policy, "the vault does not know that it replaced the device key \(key)")
    }
    if let keeper = try RestoreFiles(path: path).keeper(of: key, vault) {
      throw VaultError(.policy, "\(keeper.file) needs the device key \(key)")
    }
    try protector.deleteKey(key, of: vault)
  }

  // MARK: Listing

  /// The keys of this vault that are there.
  func ids() throws(VaultError) -> [DeviceKeyID] { try protector.keys(of: vault) }

  /// Where a key is, for people.
  func place(of key: DeviceKeyID) -> String {
    (protector as? FileProtector)?.presentPath(of: key, vault) ?? "the Secret Service"
  }
}

/// A new device key on its way into a vault's header.
///
/// It is made, stored, and then named by a commit or a rename. An error path calls ``abandon()``: it deletes the key as
/// long as no commit or rename that names it was attempted, and does nothing afterwards.
struct PendingDeviceKey: ~Copyable, Sendable {
  private enum State {
    case made
    case stored
    /// A commit or rename that names the key was attempted, whatever it returned.
    case named
  }

  let key: DeviceKey
  private let keys: DeviceKeys
  private var state = State.made

  /// - Parameter path: The vault file that will name the key; the key must not be kept in its folder.
  init(for path: String, _ keys: DeviceKeys, _ environment: VaultEnvironment) throws(VaultError) {
    let key = try DeviceKey.fresh(random: environment.random)
    try keys.protector.refuseFolder(of: path, key: key.id, vault: keys.vault)
    self.key = key
    self.keys = keys
  }

  var id: DeviceKeyID { key.id }

  /// Stores the key: durable when this returns. After a failure, removes what was written.
  mutating func store() throws(VaultError) {
    precondition(state == .made, "PendingDeviceKey.store: stored already")
    state = .stored
    do throws(VaultError) { try keys.protector.storeKey(key, of: keys.vault) } catch {
      abandon()
      throw error
    }
  }

  /// To be called right before a commit or a rename that names the key is attempted.
  mutating func willBeNamed() {
    precondition(state != .made, "PendingDeviceKey.willBeNamed: a key that is not stored")
    state = .named
  }

  /// Deletes the key unless something may name it. A key that cannot be deleted opens nothing.
  func abandon() {
    guard state == .stored else { return }
    try? keys.protector.deleteKey(key.id, of: keys.vault)
  }
}
