import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// A restored vault and what the restore did.
package struct RestoredVault: Sendable {
  package let core: VaultCore
  package let report: BackupReport
  /// Where it is: at the path, or beside it.
  package let path: String
}
