public import VaultFormat
import Glibc
import SecretMemory

/// The witness is beside the key file, as `<key file>.seen`. Where none can be made there, because something else provides the key, it
/// is in the standard place (docs/decisions/0070).
extension FileProtector {
  /// Writes the key's id and the commit, 80 bytes.
  public func noteCommit(_ commit: SeenCommit, under key: DeviceKeyID, of vault: VaultID) {
    witnessFile.note(commit, under: key, of: vault, over: { isReplaced($0, by: key) }) {
      guard let path = placeOfWitness(of: key, in: vault) else { return nil }
      if path == standardWitness(of: key, in: vault) { try? Self.makeFolders(above: path) }
      return KeyWitness(path: path, key: key)
    }
  }

  /// Reads the witness; `nil` if there is none, or if it is for another key. Of two, what is newer counts: a key that was provided can
  /// be moved into a file, and the other way.
  public func seenCommit(under key: DeviceKeyID, of vault: VaultID) -> SeenCommit? {
    let beside = witness(of: key, in: vault)
    let open = witnessFile.seen(under: key, of: vault) { beside }
    guard case .file = place, let standard = standardWitness(of: key, in: vault) else { return open }
    let all = [open, beside.seen, KeyWitness(path: standard, key: key).seen]
    return all.compactMap(\.self).reduce(nil) { SeenCommit.newer($0, $1) }
  }

  /// The path of the witness that is to be written; `nil` where no file can be made for it.
  package func placeOfWitness(of key: DeviceKeyID, in vault: VaultID) -> String? {
    let beside = witness(of: key, in: vault).path
    if !isDescriptor, KeyWitness.isThere(beside) || KeyWitness.canBeMade(beside) { return beside }
    guard case .file = place, let standard = standardWitness(of: key, in: vault) else { return nil }
    return KeyWitness.isThere(standard) || KeyWitness.canBeMade(standard) ? standard : nil
  }

  /// Beside a named file, all keys in turn have one witness. A process that still had the earlier key may tell its commit after
  /// the first one under the next key.
  private func isReplaced(_ other: DeviceKeyID, by key: DeviceKeyID) -> Bool {
    guard case .file(let file) = place else { return true }
    return isWaiting(key) || !isWaiting(other) && holds(file, key: key)
  }

  package func witness(of key: DeviceKeyID, in vault: VaultID) -> KeyWitness {
    KeyWitness(path: path(of: key, vault) + ".seen", key: key)
  }

  /// The folder of a descriptor is the kernel's, whatever its mode says.
  private var isDescriptor: Bool {
    guard case .file(let path) = place else { return false }
    return SecretInput.descriptor(named: path) != nil
  }

  private func standardWitness(of key: DeviceKeyID, in vault: VaultID) -> String? {
    guard let standard = try? Self.standard() else { return nil }
    return standard.witness(of: key, in: vault).path
  }
}
