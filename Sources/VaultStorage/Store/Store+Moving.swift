/// The writes of an epoch rotation: only the columns that a new generation of keys changes, so that the index of an
/// unchanged column is not written.
extension Store {
  /// Writes primary key, name, generation and `meta` of the row `item.row`.
  ///
  /// - Returns: False when there is no such row.
  /// - Throws: ``StorageError/duplicate(_:)`` naming the column that is taken; nothing is written then.
  @discardableResult
  package mutating func moveItem(_ item: ItemRow) throws(StorageError) -> Bool {
    recentItem = nil
    return try change(.moveItem) { row throws(StorageError) in
      try row.bind(item.row, at: 1)
      try row.bind(item.primaryKey, at: 2)
      try row.bind(item.name, at: 3)
      try row.bind(item.generation, at: 4)
      try row.bind(item.meta, at: 5)
    } > 0
  }

  /// Writes `keys` of a row of `material`. The secret stays.
  ///
  /// - Returns: False when there is no such row.
  @discardableResult
  package mutating func setKeys(_ keys: [UInt8], row number: Int64) throws(StorageError) -> Bool {
    try change(.setKeys) { row throws(StorageError) in
      try row.bind(number, at: 1)
      try row.bind(keys, at: 2)
    } > 0
  }

  /// Lets the log grow to about the size of the file before a commit moves it there, or restores the usual limit of
  /// 4 MB.
  ///
  /// Each commit of a rotation changes a part of nearly every index page. Moved after each commit, these pages
  /// would be written twice as often.
  package mutating func letLogGrow(_ may: Bool) throws(StorageError) {
    var pages: Int64 = 0
    if may {
      try connection.query("PRAGMA page_count") { row throws(StorageError) in pages = try row.integer(0) }
    }
    try connection.execute("PRAGMA wal_autocheckpoint=\(may ? max(pages, 4096) : 1000)")
  }
}
