public import VaultFormat

/// The witness is beside the key file, as `<key file>.seen`.
extension FileProtector {
  /// Writes the key's id and the commit, 80 bytes, beside the key file.
  public func noteCommit(_ commit: SeenCommit, under key: DeviceKeyID, of vault: VaultID) {
    witnessFile.note(commit, under: key, of: vault, over: { isReplaced($0, by: key) }) {
      witness(of: key, in: vault)
    }
  }

  /// Reads the witness; `nil` if there is none, or if it is for another key.
  public func seenCommit(under key: DeviceKeyID, of vault: VaultID) -> SeenCommit? {
    witnessFile.seen(under: key, of: vault) { witness(of: key, in: vault) }
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
}
