import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// What a restore does with the recovery code; the raw value is the word used in JSON.
@nonexhaustive
public enum RestoredRecoveryCode: String, Sendable {
  /// Nothing was at the path: the backup's code is valid again.
  case valid
  /// The replaced vault had the same code as the backup: it stays valid.
  case kept
  /// No recovery code works: backup and vault had different codes, or only one of them had a code.
  case revoked

  static func of(
    _ restored: Header, from backup: Header, over newer: RestorePoint?
  ) -> RestoredRecoveryCode? {
    if restored.recoveryHalf != nil { return newer == nil ? .valid : .kept }
    return backup.recoveryHalf == nil && newer?.recoveryHalf == nil ? nil : .revoked
  }
}
