/// How the rows of a statement are read: `values` are bound from position 1, and `read` makes a value from each row.
extension Store {
  /// The first row; nil when there is none.
  mutating func first<each Value: Bindable, Row>(
    _ query: Query, _ values: repeat each Value, as read: (borrowing Cursor) throws(StorageError) -> Row
  ) throws(StorageError) -> Row? {
    try run(query, repeat each values) { row throws(StorageError) in try row.next(as: read) }
  }

  /// The row of a table that has one. A file without it is damaged.
  mutating func only<Row>(
    _ query: Query, as read: (borrowing Cursor) throws(StorageError) -> Row
  ) throws(StorageError) -> Row {
    try run(query) { row throws(StorageError) in
      guard let only = try row.next(as: read) else { throw row.damage }
      return only
    }
  }

  /// All rows. Their keys ascend; otherwise the file is damaged.
  mutating func rows<each Value: Bindable, Row, Key: Comparable>(
    _ query: Query, _ values: repeat each Value,
    as read: (borrowing Cursor) throws(StorageError) -> Row, by key: (Row) -> Key
  ) throws(StorageError) -> [Row] {
    var rows: [Row] = []
    try walk(query, repeat each values, as: read, by: key) { row throws(StorageError) in
      rows.append(row)
      return true
    }
    return rows
  }

  /// Lends the rows to `body` until it returns false. Their keys ascend, the first above `last`; otherwise the file
  /// is damaged.
  mutating func walk<each Value: Bindable, Row, Key: Comparable, E: StorageFailure>(
    _ query: Query, _ values: repeat each Value,
    as read: (borrowing Cursor) throws(StorageError) -> Row, by key: (Row) -> Key, after last: Key? = nil,
    _ body: (Row) throws(E) -> Bool
  ) throws(E) {
    try run(query, repeat each values) { rows throws(E) in
      try rows.walk(as: read, by: key, after: last, body)
    }
  }
}

/// The error of a caller's body, kept while a walk ends. Such a walk throws storage errors alone, so the compiler makes it for
/// its rows; a walk that throws the caller's type would look up the types of its rows and keys at every row.
struct BodyFailure<E: Error> {
  private var error: E?

  /// Runs `body`; false after its error.
  mutating func isAbsent(after body: () throws(E) -> Void) -> Bool {
    do throws(E) {
      try body()
      return true
    } catch {
      self.error = error
      return false
    }
  }

  func rethrow() throws(E) {
    if let error { throw error }
  }
}
