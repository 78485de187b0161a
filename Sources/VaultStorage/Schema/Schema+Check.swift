extension Schema {
  /// Compares the schema in the file with the format, before any content is trusted.
  static func check(_ connection: borrowing Connection) throws(StorageError) {
    let application = try pragma("application_id", of: connection)
    guard application == applicationID else { throw .damaged(.notAVault) }
    let version = try pragma("user_version", of: connection)
    guard version <= userVersion else { throw .newerFormat(version: version) }
    guard version == userVersion else { throw .damaged(.schema) }
    try checkEntries(connection)
  }

  private static func pragma(_ name: String, of connection: borrowing Connection) throws(StorageError)
    -> Int32
  {
    guard let number: Int32 = try connection.number(ofPragma: name) else { throw .damaged(.schema) }
    return number
  }

  /// Checks that the file has each entry of the format once, at most one table of former secrets, and no other entry. There are few entries, and their order
  /// is not part of the format.
  private static func checkEntries(_ connection: borrowing Connection) throws(StorageError) {
    var missing = entries + [Entry(type: "table", name: former.name, table: former.name, sql: former.sql)]
    var isStrange = false
    var isLater = false
    try connection.query("SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT 100") { row in
      let sql = row.text(3)
      guard let type = row.text(0), let name = row.text(1), let table = row.text(2),
        sql != nil || row.isNull(3),
        let index = missing.firstIndex(of: Entry(type: type, name: name, table: table, sql: sql))
      else {
        isStrange = true
        isLater = isLater || row.text(0) == "table" && row.text(1) == former.name
        return
      }
      missing.remove(at: index)
    }
    missing.removeAll { $0.name == former.name }
    guard !isLater else { throw .newerFormat(version: userVersion) }
    guard missing.isEmpty, !isStrange else { throw .damaged(.schema) }
  }
}
