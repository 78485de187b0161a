package import VaultCrypto

extension VaultError {
  /// A failure of the cryptographic layer for which no caller has a more precise error.
  package init(crypto error: CryptoError) {
    self =
      switch error {
      case .commitmentMismatch, .tagMismatch, .malformed, .invalidKey, .weakKey, .signatureMismatch:
        VaultError(
          .damaged, "the vault was altered or is damaged",
          hint: .verifyAndRestore)
      case .unsupported:
        VaultError(.newerFormat, "the vault uses a seal of a newer version", hint: "update this program")
      case .tooLarge: VaultError(.malformed, "a secret is at most 1 MiB")
      case .randomUnavailable: VaultError(.io, "the random generator failed; nothing was written")
      case .writeLimitReached:
        VaultError(.policy, "this generation of keys has sealed all it may", hint: .rotateEpoch)
      case .outOfMemory:
        VaultError(.io, "not enough memory")
      case .library(let code):
        VaultError(.io, "the cryptographic library failed", underlying: Int32(truncatingIfNeeded: code))
      }
  }
}
