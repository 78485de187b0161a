public import VaultFormat

/// The witness lies beside the key file, as `<key file>.seen`.
extension FileProtector {
  /// Writes the key's id and the number, 24 bytes, beside the key file.
  public func noteSequence(_ sequence: UInt64, under key: DeviceKeyID, of vault: VaultID) {
    witnessFile.note(sequence, under: key, of: vault) { witness(key, vault) }
  }

  /// Reads it; `nil` where there is none, or one of another key.
  public func seenSequence(under key: DeviceKeyID, of vault: VaultID) -> UInt64? { witness(key, vault).seen }

  package func witness(_ key: DeviceKeyID, _ vault: VaultID) -> KeyWitness {
    KeyWitness(path: path(of: key, vault) + ".seen", key: key)
  }
}
