package import VaultFormat

/// The one owner of device keys: which exist, which a file names, and which may be deleted (format, section 14 rule 9).
///
/// This is the front page of DeviceKeys, the module that keeps a vault's device key outside the vault file. A
/// ``Protector`` stores keys: ``FileProtector`` in files, ``SecretServiceProtector`` in the desktop's Secret Service.
/// Only this type and ``PendingDeviceKey`` call `storeKey`, `deleteKey` or `promoteKey` of a ``Protector``. The rules:
///
/// 1. A new key is a ``PendingDeviceKey``. Before a commit or rename that names it is attempted, only the process that
///    made it may delete it.
/// 2. From the attempt on, the key is *named*, whatever the attempt returned: a commit or a rename that failed can
///    appear after a crash. No error path deletes a named key.
/// 3. A named key is deleted only when the vault's own header lists it as replaced (field 20), after the vault was
///    opened with its current key, and while no file of a restore beside the vault names it (``RestoreFiles``).
/// 4. The key of a new vault that an interrupted restore left is deleted with that vault, by that restore or the next one, while
///    nothing else names it.
/// 5. The key of a rotation or a recovery that was killed before its commit is noted beside the vault (`RotationLock`). It is deleted
///    after a later commit of the same file, which does not name it, and while no file of a restore beside the vault names it.
///
/// 6. The key of a vault that was moved away is deleted when its file is gone, and so is the key of one that was to be moved here and
///    did not come (`VaultMove`).
///
/// Every other key with this vault id may belong to a vault that this one does not know, such as a backup restored
/// elsewhere: it is listed and never deleted. Read `DeviceKey.swift` and `Protectors/Protector.swift` first, then this
/// file, `PendingDeviceKey.swift` and `Protectors/FileProtector.swift`.
package struct DeviceKeys: Sendable {
  package let protector: any Protector
  package let vault: VaultID

  package init(_ protector: any Protector, of vault: VaultID) {
    self.protector = protector
    self.vault = vault
  }

  /// The key that a header names.
  ///
  /// - Throws: As ``Protector/loadKey(_:of:)``, and `deviceKeyWrong` for a protector that returns another key.
  package func load(_ key: DeviceKeyID) throws(VaultError) -> DeviceKey {
    let found = try protector.loadKey(key, of: vault)
    guard found.id == key else {
      throw VaultError(
        .deviceKeyWrong, "the protector returned another device key than the one that the vault names",
        hint: .nameRightKey)
    }
    return found
  }

  /// Keeps other processes from changing the device keys of this vault.
  package func lock() throws(VaultError) -> ProtectorLock? { try protector.lock(vault) }

  // MARK: After the vault was opened with its new key

  /// Moves the current key of the vault that `proof` was opened from to the file of the replaced key, if the protector
  /// keeps all keys in one file.
  package func promote(over replaced: DeviceKeyID, in proof: OpenedVault) throws(VaultError) {
    try finishPromotion(in: proof, keepingAll: false)
    try protector.promoteKey(proof.header.deviceKey, replacing: replaced, of: vault)
  }

  /// The same after an interrupted rotation, when the named file still holds a key that this vault has replaced, and
  /// the current key waits beside that file. A file with other contents stays as it is.
  ///
  /// - Parameter keepingAll: Whether to move the replaced key to its own file, which always happens when a file of a
  ///   restore needs the key. Otherwise the commit that names the current key must be durable.
  package func finishPromotion(in proof: OpenedVault, keepingAll: Bool) throws(VaultError) {
    let (header, path) = (proof.header, proof.path)
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
  package func finishPromotionAtOnce(in proof: OpenedVault) throws(VaultError) {
    guard let files = protector as? FileProtector, files.isWaiting(proof.header.deviceKey),
      let lock = files.lockAtOnce()
    else { return }
    defer { lock.keep() }
    try finishPromotion(in: proof, keepingAll: true)
  }

  /// Moves the key of a restored vault to the file of `old`, the replaced vault's key, and `old` to
  /// ``FileProtector/pathBeforeRestore``. Both keys stay where they are if the file of `old` holds anything else.
  package func promoteRestored(_ key: DeviceKeyID, over old: DeviceKeyID) throws(VaultError) {
    try (protector as? FileProtector)?.promoteRestoredKey(key, over: old, of: vault)
  }

  /// Deletes a key that was replaced by the vault from which `proof` was opened.
  ///
  /// - Throws: `policy` when the vault does not list the key as replaced, or a file beside it needs the key.
  package func delete(_ key: DeviceKeyID, replacedIn proof: OpenedVault) throws(VaultError) {
    let (header, path) = (proof.header, proof.path)
    guard header.vault == vault, header.deviceKey != key, header.replacedKeys.contains(key) else {
      throw VaultError(.policy, "the vault does not know that it replaced the device key \(key)")
    }
    if let keeper = try RestoreFiles(path: path).keeper(of: key, vault) {
      throw VaultError(.policy, "\(keeper.file) needs the device key \(key)")
    }
    try protector.deleteKey(key, of: vault)
  }

  /// Deletes a key that was noted beside the vault from which `proof` was opened, and that no commit has named.
  ///
  /// - Throws: `policy` when the vault names the key, or a file beside it needs the key.
  package func deleteLeft(_ key: DeviceKeyID, in proof: OpenedVault) throws(VaultError) {
    guard proof.header.vault == vault, proof.header.deviceKey != key else {
      throw VaultError(.policy, "the vault needs the device key \(key)")
    }
    if let keeper = try RestoreFiles(path: proof.path).keeper(of: key, vault) {
      throw VaultError(.policy, "\(keeper.file) needs the device key \(key)")
    }
    try protector.deleteKey(key, of: vault)
  }

  /// Deletes the key of a new vault that an interrupted restore left and that was never in its place. If the deletion fails, the
  /// key stays, and opens nothing.
  ///
  /// - Parameters:
  ///   - file: The new vault, which is about to be removed.
  ///   - path: The vault that it was to replace. The key stays if that vault, or another file beside it, names the key or cannot be
  ///     read.
  package func deleteUnused(_ key: DeviceKeyID, of file: String, beside path: String) {
    guard let present = try? VaultOutline(at: path), present.vault == vault, present.deviceKey != key
    else { return }
    deleteUnnamed(key, beside: path, except: file)
  }

  /// Deletes a key that no file names, or none any more. The key stays if a file of a restore beside the path needs it.
  package func deleteUnnamed(_ key: DeviceKeyID, beside path: String, except file: String? = nil) {
    do throws(VaultError) {
      guard try RestoreFiles(path: path).keeper(of: key, vault, except: file) == nil else { return }
      try protector.deleteKey(key, of: vault)
    } catch {}
  }

  // MARK: A vault that is moved

  /// Stores the key of a vault that is moved here, before its file gets its name. If it gets none, ``deleteUnnamed(_:beside:except:)``
  /// deletes the key.
  package func store(_ key: borrowing DeviceKey, for path: String) throws(VaultError) {
    try protector.refuseFolder(of: path, key: key.id, vault: vault)
    try protector.storeKey(key, of: vault)
  }

  // MARK: Listing

  /// The keys of this vault that exist.
  package func ids() throws(VaultError) -> [DeviceKeyID] { try protector.keys(of: vault) }

  /// Where a key is, for people.
  package func place(of key: DeviceKeyID) -> String {
    if let files = protector as? FileProtector { return files.presentPath(of: key, vault) }
    return protector.kind == .secretService ? "the Secret Service" : "its protector"
  }
}
