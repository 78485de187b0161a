extension Schema {
  /// Compares what the file says of itself with the format, before anything in it is believed.
  static func check(_ connection: borrowing Connection) throws(StorageError) {
    let application: Int32 = try pragma("application_id", connection)
    guard application == applicationID else { throw .damaged(.notAVault) }
    let version: Int32 = try pragma("user_version", connection)
    guard version <= userVersion else { throw .newerFormat(version: version) }
    guard version == userVersion, try entriesFound(connection) == entries else { throw .damaged(.schema) }
  }

  private static func pragma(_ name: String, _ connection: borrowing Connection) throws(StorageError) -> Int32
  {
    var value: Int32?
    try connection.query("PRAGMA \(name)") { row throws(StorageError) in value = try row.integer(0) }
    guard let value else { throw .damaged(.schema) }
    return value
  }

  /// Nil where something cannot belong to a vault.
  private static func entriesFound(_ connection: borrowing Connection) throws(StorageError) -> Set<Entry>? {
    var found: Set<Entry> = []
    var count = 0
    try connection.query("SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT 100") {
      row throws(StorageError) in
      count += 1
      guard let type = row.text(0), let name = row.text(1), let table = row.text(2) else { return }
      let sql = row.text(3)
      guard sql != nil || row.isNull(3) else { return }
      found.insert(Entry(type: type, name: name, table: table, sql: sql))
    }
    return count == entries.count ? found : nil
  }
}
