import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// What happens to the recovery code when a first passcode is set.
public enum RecoveryChoice: ~Copyable, Sendable {
  /// The code stays valid. The person must give it.
  case keep(RecoveryCode)
  /// The code no longer works.
  case drop
}
