public import VaultFormat

/// The witness is beside the key file, as `<key file>.seen`.
extension FileProtector {
  /// Writes the key's id and the number, 24 bytes, beside the key file.
  public func noteSequence(_ sequence: UInt64, under key: DeviceKeyID, of vault: VaultID) {
    witnessFile.note(sequence, under: key, of: vault) { witness(of: key, in: vault) }
  }

  /// Reads the witness; `nil` if there is none, or if it is for another key.
  public func seenSequence(under key: DeviceKeyID, of vault: VaultID) -> UInt64? {
    witnessFile.seen(under: key, of: vault) { witness(of: key, in: vault) }
  }

  package func witness(of key: DeviceKeyID, in vault: VaultID) -> KeyWitness {
    KeyWitness(path: path(of: key, vault) + ".seen", key: key)
  }
}
