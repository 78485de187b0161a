import SealedStorage
import VaultFormat
import SecretMemory
import VaultCrypto
import VaultStorage

/// The progress of a verification.
public struct VerifyProgress: Sendable {
  /// Rows done.
  public let done: Int
  /// Rows in all.
  public let total: Int
}
