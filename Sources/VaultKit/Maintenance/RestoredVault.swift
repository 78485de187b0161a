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
  /// The path of the new file: the requested path, or one beside it.
  package let path: String
}
