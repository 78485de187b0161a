package import VaultCrypto
package import VaultFormat

/// A new device key on its way into a vault's header.
///
/// It is made, stored, and then named by a commit or a rename. An error path calls ``abandon()``, which deletes the key
/// unless a commit or rename that names the key was attempted.
package struct PendingDeviceKey: ~Copyable, Sendable {
  private enum State {
    case made
    case stored
    /// A commit or rename that names the key was attempted, whatever it returned.
    case named
  }

  package let key: DeviceKey
  private let keys: DeviceKeys
  private var state = State.made

  /// - Parameter path: The vault file that will name the key; the key must not be kept in that file's directory.
  package init(for path: String, _ keys: DeviceKeys, random: any RandomSource) throws(VaultError) {
    let key = try DeviceKey.fresh(random: random)
    try keys.protector.refuseFolder(of: path, key: key.id, vault: keys.vault)
    self.key = key
    self.keys = keys
  }

  package var id: DeviceKeyID { key.id }

  /// The vault and the key, to be noted where the file that will name the key is made.
  package var name: String { keys.vault.hexadecimal + " " + id.hexadecimal }

  /// Deletes the key of a process that was killed before its file got its name.
  ///
  /// - Parameters:
  ///   - name: What that process noted; empty for nothing.
  ///   - path: Where the file would be. The key stays if a file of a restore beside it needs the key.
  package func deleteLeft(by name: String, beside path: String) {
    Self.deleteLeft(by: name, keptBy: keys.protector, beside: path)
  }

  /// The same before there is a new key: the key that was left can be in the place of the new one.
  package static func deleteLeft(by name: String, keptBy protector: any Protector, beside path: String) {
    guard let noted = parts(of: name) else { return }
    DeviceKeys(protector, of: noted.vault).deleteUnnamed(noted.key, beside: path)
    (protector as? FileProtector)?.removeEmptyFile()
  }

  /// The key that a process noted by ``name``; `nil` for nothing, or for another vault.
  package static func key(in name: String, of vault: VaultID) -> DeviceKeyID? {
    guard let noted = parts(of: name), noted.vault == vault else { return nil }
    return noted.key
  }

  private static func parts(of name: String) -> (vault: VaultID, key: DeviceKeyID)? {
    let words = name.split(separator: " ").map(String.init)
    guard words.count == 2, let vault = VaultID(hexadecimal: words[0]),
      let key = DeviceKeyID(hexadecimal: words[1])
    else { return nil }
    return (vault, key)
  }

  /// Stores the key: durable when this returns. After a failure, removes what was written.
  package mutating func store() throws(VaultError) {
    precondition(state == .made, "PendingDeviceKey.store: stored already")
    state = .stored
    do throws(VaultError) { try keys.protector.storeKey(key, of: keys.vault) } catch {
      abandon()
      throw error
    }
  }

  /// Call this directly before attempting a commit or a rename that names the key.
  package mutating func willBeNamed() {
    precondition(state != .made, "PendingDeviceKey.willBeNamed: a key that is not stored")
    state = .named
  }

  /// Deletes the key unless something may name it. A key that cannot be deleted opens nothing.
  ///
  /// - Returns: Whether the key exists nowhere.
  @discardableResult
  package mutating func abandon() -> Bool {
    guard state == .stored else { return state == .made }
    do throws(VaultError) { try keys.protector.deleteKey(key.id, of: keys.vault) } catch { return false }
    state = .made
    return true
  }
}
