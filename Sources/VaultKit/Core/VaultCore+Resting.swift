extension VaultCore {
  /// Whether another process has removed the passcode while the vault was open here: then it has to be opened again.
  package var isShut: Bool { withStore { $0.keys.isShut } }

  /// Moves what the file's log has into the file, and empties the log, where no other process prevents it for longer than some
  /// milliseconds. For a vault that stays open while nothing uses it.
  ///
  /// - Returns: Whether the log is empty.
  package func emptyLog() -> Bool {
    withStore { store in (try? store.rows.checkpoint(truncate: true, isPatient: false)) ?? false }
  }
}
