import VaultFormat

extension StandardDirectory {
  /// - Throws: ``VaultError/Code/deviceKeyUnavailable`` if the key is still in the directory of the former name.
  func refuseFormerKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) {
    try refuseFormer(name(of: key, vault), "the device key", code: .deviceKeyUnavailable)
  }

  /// The same of the witness of a key that is kept elsewhere: without it, nothing would tell that an older vault was put back.
  func refuseFormerWitness(of key: DeviceKeyID, in vault: VaultID) throws(VaultError) {
    try refuseFormer(
      name(of: key, vault) + ".seen", "what is remembered of the last commit", code: .deviceKeyUnavailable)
  }

  private func name(of key: DeviceKeyID, _ vault: VaultID) -> String {
    vault.hexadecimal + "/" + key.hexadecimal + ".key"
  }
}
