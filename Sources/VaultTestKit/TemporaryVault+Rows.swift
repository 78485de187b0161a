/// An older state of a vault that is put back into the same file.
extension TemporaryVault {
  private var kept: String { folder + "/kept.db" }

  /// Keeps the rows as they are now.
  package func keepRows() throws { try RawSQLite.run("VACUUM INTO '\(kept)'", on: path) }

  /// Puts the rows back that were kept last, also under an open vault.
  package func putRowsBack(
    of tables: [String] = [
      "header", "slot", "head", "item", "material", "state", "blind", "audit", "segment",
    ]
  ) throws {
    let moves = tables.map { "DELETE FROM main.\($0); INSERT INTO main.\($0) SELECT * FROM old.\($0);" }
    try RawSQLite.run("ATTACH '\(kept)' AS old; BEGIN;" + moves.joined() + "COMMIT", on: path)
  }
}
