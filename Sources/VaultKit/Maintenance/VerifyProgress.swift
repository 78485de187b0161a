import SealedStorage
import VaultFormat
import SecretMemory
import VaultCrypto
import VaultStorage

/// How far a verification is.
public struct VerifyProgress: Sendable {
  /// Rows done.
  public let done: Int
  /// Rows in all.
  public let total: Int
}
