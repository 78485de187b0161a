import SealedStorage
import VaultFormat
package import SecretMemory
import VaultCrypto
import VaultStorage

/// An opened secret with what must be logged before it is shown.
package struct OpenedSecret: ~Copyable {
  package let secret: SecretBytes
  package let notes: [AuditNote]
}
