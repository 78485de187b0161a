package import VaultFormat

/// The whole log as it is in the file.
package struct AuditLog: Sendable {
  /// The entries that open, oldest first.
  package var entries: [AuditEntry] = []
  /// The entries that do not open.
  package var unreadable: [(sequence: UInt64, error: VaultError)] = []
  /// What is missing, in a few words. This does not detect entries that were altered or added, because that needs the
  /// passcode.
  package var gap: String?
}
