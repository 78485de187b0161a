import SealedStorage
import VaultFormat
import SecretMemory
import VaultCrypto
import VaultStorage

/// The progress of a long operation: a verification, a backup, a restore, a rotation.
public struct VerifyProgress: Sendable {
  /// Rows done; never more than ``total``.
  public let done: Int
  /// Rows in all.
  public let total: Int
}
