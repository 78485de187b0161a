import VaultFormat

extension VaultCore {
  /// Logs facts that remain true if the log cannot be written.
  package func logWherePossible(_ notes: [AuditNote]) {
    try? log(notes)
  }

  /// Logs notes. Runs no transaction if there are none, and writes nothing to a read-only vault.
  func log(_ notes: [AuditNote]) throws(VaultError) {
    guard !notes.isEmpty, !isReadOnly else { return }
    var transaction = try beginWriting()
    try transaction.log(notes)
    try transaction.commit()
  }
}
