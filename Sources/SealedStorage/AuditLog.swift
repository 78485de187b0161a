package import VaultFormat

/// The whole log as it is in the file.
package struct AuditLog: Sendable {
  /// The entries that open, oldest first.
  package var entries: [AuditEntry] = []
  /// Those that do not.
  package var unreadable: [(sequence: UInt64, error: VaultError)] = []
  /// What is missing, in a few words. Entries that were altered or added are not found here: that needs the passcode.
  package var gap: String?
}
