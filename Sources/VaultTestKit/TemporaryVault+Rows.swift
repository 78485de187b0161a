import Glibc
package import VaultKit

/// An older state of a vault that is put back into the same file.
extension TemporaryVault {
  private var kept: String { folder + "/kept.db" }

  /// Keeps the rows as they are now.
  package func keepRows() throws { try RawSQLite.run("VACUUM INTO '\(kept)'", on: path) }

  /// Opens a copy of the vault, which is another file with the same device key.
  package func openCopy(checkingRows: Bool = true) throws -> VaultCore {
    let copy = folder + "/data/copy.vault"
    try RawSQLite.run("VACUUM INTO '\(copy)'", on: path)
    guard unsafe chmod(copy, 0o600) == 0 else { throw VaultError(.io, "chmod failed") }
    return try VaultCore.open(
      at: copy, protector: protector, checkingRows: checkingRows, environment: environment)
  }

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
