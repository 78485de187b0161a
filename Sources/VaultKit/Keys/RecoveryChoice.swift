import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// What happens to the recovery code when a first passcode is set.
public enum RecoveryChoice: ~Copyable, Sendable {
  /// It stays valid: the person gives the code.
  case keep(RecoveryCode)
  /// It no longer works.
  case drop
}
