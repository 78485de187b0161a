import SealedStorage
import VaultFormat
package import SecretMemory
import VaultCrypto
import VaultStorage

/// An opened secret, with the audit notes that must be written before it is shown.
package struct OpenedSecret: ~Copyable {
  package let secret: SecretBytes
  package let notes: [AuditNote]

  /// The secret, for a caller that has no notes to write.
  package consuming func intoSecret() -> SecretBytes { secret }
}

/// The content of an entry that was opened, with the audit notes that must be written before it is shown.
package struct OpenedEntry: Sendable {
  package let content: EntryContent
  package let notes: [AuditNote]
}
