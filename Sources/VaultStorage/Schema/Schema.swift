/// The schema of the format, `docs/format/vault-file.md` section 2, byte for byte.
package enum Schema {
  /// `VLT1`.
  package static let applicationID: Int32 = 0x564C_5431
  package static let userVersion: Int32 = 1
  package static let pageSize = 4096

  /// The table of former secrets, which the first of them makes. A later version may have another table of this name.
  package static let former = (
    name: "former",
    sql: "CREATE TABLE former(row INTEGER NOT NULL, version INTEGER NOT NULL, meta BLOB NOT NULL, "
      + "keys BLOB NOT NULL, secret BLOB NOT NULL, PRIMARY KEY(row, version)) STRICT, WITHOUT ROWID"
  )

  /// Name and text of each table, in the order in which they are made.
  package static let tables: [(name: String, sql: String)] = [
    (
      "header",
      "CREATE TABLE header(id INTEGER PRIMARY KEY CHECK(id = 1), body BLOB NOT NULL, mac BLOB NOT NULL) STRICT"
    ),
    (
      "slot",
      "CREATE TABLE slot(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, subject INTEGER NOT NULL, "
        + "generation INTEGER NOT NULL, opener INTEGER NOT NULL, opener_id BLOB NOT NULL, body BLOB NOT NULL) "
        + "STRICT"
    ),
    ("head", "CREATE TABLE head(id INTEGER PRIMARY KEY CHECK(id = 1), body BLOB NOT NULL) STRICT"),
    (
      "item",
      "CREATE TABLE item(row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL, "
        + "primary_key BLOB NOT NULL UNIQUE, name BLOB UNIQUE, flags INTEGER NOT NULL, "
        + "class INTEGER NOT NULL, generation INTEGER NOT NULL, version INTEGER NOT NULL, "
        + "material INTEGER NOT NULL, expires INTEGER, meta BLOB NOT NULL) STRICT"
    ),
    (
      "material",
      "CREATE TABLE material(row INTEGER PRIMARY KEY, keys BLOB NOT NULL, secret BLOB NOT NULL) STRICT"
    ),
    (
      "state",
      "CREATE TABLE state(row INTEGER PRIMARY KEY, revision INTEGER NOT NULL, body BLOB NOT NULL) STRICT"
    ),
    (
      "blind",
      "CREATE TABLE blind(value BLOB NOT NULL, row INTEGER NOT NULL, PRIMARY KEY(value, row)) STRICT, "
        + "WITHOUT ROWID"
    ),
    (
      "segment",
      "CREATE TABLE segment(number INTEGER PRIMARY KEY, first INTEGER NOT NULL, previous BLOB NOT NULL, "
        + "start BLOB NOT NULL) STRICT"
    ),
    (
      "audit",
      "CREATE TABLE audit(sequence INTEGER PRIMARY KEY, body BLOB NOT NULL, mac BLOB NOT NULL) STRICT"
    ),
  ]

  /// The statements that make an empty vault.
  static var creation: String {
    tables.map { $0.sql + ";" }.joined()
      + "PRAGMA application_id=\(applicationID);PRAGMA user_version=\(userVersion);"
  }

  /// One row of `sqlite_schema`.
  struct Entry: Equatable {
    var type: String
    var name: String
    var table: String
    var sql: String?
  }

  /// All rows that `sqlite_schema` of a vault has: the tables, and the indexes that SQLite makes for the UNIQUE
  /// columns of `item`, which have no text.
  static let entries: [Entry] =
    tables.map { Entry(type: "table", name: $0.name, table: $0.name, sql: $0.sql) }
    + (1...3).map { Entry(type: "index", name: "sqlite_autoindex_item_\($0)", table: "item", sql: nil) }
}
