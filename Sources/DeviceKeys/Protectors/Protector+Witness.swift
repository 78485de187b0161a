package import VaultFormat

extension Protector {
  /// The file in which the last commit of the vault is remembered, or is to be; `nil` where no file can be made for it.
  package func pathOfWitness(of key: DeviceKeyID, in vault: VaultID) -> String? {
    if let files = self as? FileProtector { return files.placeOfWitness(of: key, in: vault) }
    return (self as? SecretServiceProtector)?.placeOfWitness(of: key, in: vault)
  }
}
