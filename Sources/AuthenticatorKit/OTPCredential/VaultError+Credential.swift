import VaultKit

extension VaultError {
  static var noCredential: VaultError {
    VaultError(
      .itemNotFound, "there is no one-time-password credential with that name", hint: .listCredentials)
  }
}
