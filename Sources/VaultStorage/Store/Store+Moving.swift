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
    return try change(.moveItem, item.row, item.primaryKey, item.name, item.generation, item.meta) > 0
  }

  /// Writes `keys` of a row of `material`. The secret stays.
  ///
  /// - Returns: False when there is no such row.
  @discardableResult
  package mutating func setKeys(_ keys: [UInt8], row number: Int64) throws(StorageError) -> Bool {
    try change(.setKeys, number, keys) > 0
  }

  /// Lets the log grow to about twice the size of the file before a commit moves it there, or restores the usual limit of
  /// 4 MB.
  ///
  /// Each commit of a rotation changes a part of nearly every index page. Moved after each commit, these pages
  /// would be written twice as often.
  package mutating func letLogGrow(_ may: Bool) throws(StorageError) {
    let pages: Int64 = may ? try connection.number(ofPragma: "page_count") ?? 0 : 0
    try connection.execute("PRAGMA wal_autocheckpoint=\(may ? max(2 * pages, 4096) : 1000)")
  }
}
