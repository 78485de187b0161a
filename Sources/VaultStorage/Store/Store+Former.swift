/// The table `former`, which a vault has from the first secret on that was replaced.
extension Store {
  /// Whether the file has the table.
  package mutating func hasFormer() throws(StorageError) -> Bool {
    try run(.hasFormer) { row throws(StorageError) in try row.step() }
  }

  /// Makes the table.
  package mutating func createFormer() throws(StorageError) {
    try connection.execute(Schema.former.sql)
  }

  /// The former secrets of an item, the oldest first. A value that is not a blob reads as empty.
  ///
  /// - Precondition: The file has the table.
  package mutating func former(row number: Int64) throws(StorageError) -> [FormerRow] {
    try rows(.former, number, as: FormerRow.init, by: \.version)
  }

  /// - Precondition: The file has the table.
  package mutating func insertFormer(_ former: FormerRow, row number: Int64) throws(StorageError) {
    try change(.insertFormer, number, former.version, former.meta, former.keys, former.secret)
  }

  /// - Returns: False when there was none.
  /// - Precondition: The file has the table.
  @discardableResult
  package mutating func deleteFormer(version: UInt64, row number: Int64) throws(StorageError) -> Bool {
    try change(.deleteFormer, number, version) > 0
  }

  /// Deletes all of them, and returns their number.
  ///
  /// - Precondition: The file has the table.
  @discardableResult
  package mutating func deleteAllFormer() throws(StorageError) -> Int { try change(.deleteAllFormer) }
}
