import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// A recovered vault and the items that were lost with the old device key.
package struct RecoveredVault: Sendable {
  package let core: VaultCore
  package let lost: DestroyedItems
}
