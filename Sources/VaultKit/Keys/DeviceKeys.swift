/// The one owner of device keys: which exist, which a file names, and which may be deleted (format, section 14 rule 9).
///
/// Nothing else calls `storeKey`, `deleteKey` or `promoteKey` of a ``Protector``. The rules:
///
/// 1. A new key is a ``PendingDeviceKey``. Before something that names it is attempted, the process that made it may
///    delete it, and no other.
/// 2. From the attempt on the key is *named*, whatever the attempt returned: a commit or a rename that failed can be
///    there after a crash. No error path deletes a named key.
/// 3. A named key is deleted only when the vault's own header lists it as replaced (field 20), after the vault was opened
///    with its present key, and while no file of a restore beside the vault names it (``RestoreFiles``).
///
/// Every other key that is found belongs to a vault that this one does not know, such as a backup restored elsewhere,
/// which has the same vault id: it is listed and never deleted.
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

  /// The present key takes the file that a replaced one was in, where the protector keeps one file for all.
  ///
  /// - Parameter isKept: The replaced key is needed still: it goes to a file of its own.
  func promote(_ key: DeviceKeyID, over replaced: DeviceKeyID, keepingIt isKept: Bool) throws(VaultError) {
    if isKept { try (protector as? FileProtector)?.setAside(replaced, of: vault) }
    try protector.promoteKey(key, replacing: replaced, of: vault)
  }

  /// The key of a restored vault takes the file that the key of the vault before it was in; that one goes to
  /// ``FileProtector/pathBeforeRestore``.
  package func promoteRestored(_ key: DeviceKeyID) throws(VaultError) {
    try (protector as? FileProtector)?.promoteRestoredKey(key, of: vault)
  }

  /// Deletes a key that the vault which `proof` was opened from has replaced.
  ///
  /// - Throws: `policy` where the vault does not say so, or where a file beside it needs the key.
  func delete(_ key: DeviceKeyID, replacedIn proof: VaultCore) throws(VaultError) {
    let (header, path) = proof.headerAndPath
    guard header.vault == vault, header.deviceKey != key, header.replacedKeys.contains(key) else {
      throw VaultError(.policy, "the vault does not know that it replaced the device key \(key)")
    }
    if let other = RestoreFiles(path: path).keeper(of: key, vault) {
      throw VaultError(.policy, "\(other) needs the device key \(key)")
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
/// It is made, stored, and then named by a commit or a rename. ``abandon()`` is what an error path calls: it deletes the
/// key as long as nothing that names it was attempted, and does nothing afterwards.
struct PendingDeviceKey: ~Copyable, Sendable {
  private enum State {
    case made
    case stored
    /// Something that names the key was attempted. What that returned is no matter.
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

  /// Keeps the key: durable when this returns. What was begun and failed is removed.
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
