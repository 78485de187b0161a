extension Schema {
  /// Compares what the file says of itself with the format, before anything in it is believed.
  static func check(_ connection: borrowing Connection) throws(StorageError) {
    let application: Int32 = try pragma("application_id", of: connection)
    guard application == applicationID else { throw .damaged(.notAVault) }
    let version: Int32 = try pragma("user_version", of: connection)
    guard version <= userVersion else { throw .newerFormat(version: version) }
    guard version == userVersion, try hasAllEntries(connection) else { throw .damaged(.schema) }
  }

  private static func pragma(_ name: String, of connection: borrowing Connection) throws(StorageError)
    -> Int32
  {
    var value: Int32?
    try connection.query("PRAGMA \(name)") { row throws(StorageError) in value = try row.integer(0) }
    guard let value else { throw .damaged(.schema) }
    return value
  }

  /// Whether the file has each entry of the format once, and nothing else. They are few, and the order in which
  /// the file lists them is not part of the format.
  private static func hasAllEntries(_ connection: borrowing Connection) throws(StorageError) -> Bool {
    var missing = entries
    var isStrange = false
    try connection.query("SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT 100") {
      row throws(StorageError) in
      let sql = row.text(3)
      guard let type = row.text(0), let name = row.text(1), let table = row.text(2),
        sql != nil || row.isNull(3),
        let index = missing.firstIndex(of: Entry(type: type, name: name, table: table, sql: sql))
      else {
        isStrange = true
        return
      }
      missing.remove(at: index)
    }
    return missing.isEmpty && !isStrange
  }
}
