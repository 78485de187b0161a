import CSQLite
import Glibc

/// A running statement. Values are bound by position from 1; columns are read by position from 0.
///
/// Anyone may have written what is read: a value of another type or length than expected is damage, never a trap.
@safe
struct Cursor: ~Copyable {
  private let statement: OpaquePointer
  private let database: OpaquePointer
  private let table: StorageError.Table
  private let lending: UnsafeMutablePointer<Lending>
  /// The columns, while a function of the statement lends them.
  private let columns: Lending.Columns?

  @unsafe
  init(
    statement: OpaquePointer, database: OpaquePointer, table: StorageError.Table,
    lending: UnsafeMutablePointer<Lending>, columns: Lending.Columns? = nil
  ) {
    unsafe self.statement = statement
    unsafe self.database = database
    self.table = table
    unsafe self.lending = unsafe lending
    unsafe self.columns = unsafe columns
  }

  /// True when there is a row to read, false after the last one.
  func step() throws(StorageError) -> Bool {
    errno = 0
    let code = unsafe sqlite3_step(statement)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw unsafe storageError(code, on: database)
  }

  /// Steps through a statement that calls `lend`: `body` reads the arguments of each row, until it returns false.
  func forEachLentRow(_ body: (borrowing Cursor) throws(StorageError) -> Bool) throws(StorageError) {
    let (statement, database, lending) = unsafe (statement, database, lending)
    let table = table
    try withoutActuallyEscaping(body) { body throws(StorageError) in
      unsafe lending.pointee.body = { (columns) throws(StorageError) in
        try unsafe body(
          Cursor(statement: statement, database: database, table: table, lending: lending, columns: columns))
      }
      defer { unsafe lending.pointee = Lending() }
      while try step(), unsafe lending.pointee.goesOn {}
      if let failure = unsafe lending.pointee.failure { throw failure }
    }
  }

  /// Runs a statement without a result.
  func run() throws(StorageError) { while try step() {} }

  /// The next row; nil after the last one.
  func next<Row>(as read: (borrowing Cursor) throws(StorageError) -> Row) throws(StorageError) -> Row? {
    try step() ? try read(self) : nil
  }

  /// Lends the rows to `body` until it returns false. Their keys ascend, the first above `last`; otherwise the file
  /// is damaged.
  func walk<Row, Key: Comparable, E: StorageFailure>(
    as read: (borrowing Cursor) throws(StorageError) -> Row, by key: (Row) -> Key, after last: Key?,
    _ body: (Row) throws(E) -> Bool
  ) throws(E) {
    var order = Ascending(after: last)
    while let row = try E.from(next(as: read)) {
      try E.from(order.next(key(row)))
      guard try body(row) else { return }
    }
  }

  /// The error for an impossible value.
  var damage: StorageError { .damaged(.row(table)) }

  // MARK: - Values

  /// Binds `values` from position 1.
  func bind<each Value: Bindable>(values: repeat each Value) throws(StorageError) {
    var index: Int32 = 1
    for value in repeat each values {
      try value.bind(to: self, at: index)
      index += 1
    }
  }

  /// The bytes are copied.
  func bind(_ bytes: [UInt8], at index: Int32) throws(StorageError) {
    let code = unsafe bytes.withUnsafeBytes {
      unsafe csqlite_bind_bytes(statement, index, $0.baseAddress, $0.count)
    }
    try unsafe check(code, on: database)
  }

  func bind(_ bytes: Bytes16, at index: Int32) throws(StorageError) {
    let code = unsafe withUnsafeBytes(of: (bytes.high.bigEndian, bytes.low.bigEndian)) {
      unsafe csqlite_bind_bytes(statement, index, $0.baseAddress, $0.count)
    }
    try unsafe check(code, on: database)
  }

  func bind(_ text: String, at index: Int32) throws(StorageError) {
    let code = unsafe text.withCString { unsafe csqlite_bind_text(statement, index, $0) }
    try unsafe check(code, on: database)
  }

  func bind(_ value: some FixedWidthInteger, at index: Int32) throws(StorageError) {
    guard let signed = Int64(exactly: value) else { throw .tooLarge }
    try unsafe check(sqlite3_bind_int64(statement, index, signed), on: database)
  }

  // MARK: - Columns

  func isNull(_ column: Int32) -> Bool { unsafe sqlite3_value_type(value(column)) == SQLITE_NULL }

  func isInteger(_ column: Int32) -> Bool { unsafe sqlite3_value_type(value(column)) == SQLITE_INTEGER }

  func isBlob(_ column: Int32) -> Bool { unsafe sqlite3_value_type(value(column)) == SQLITE_BLOB }

  func integer<I: FixedWidthInteger>(_ column: Int32, as type: I.Type = I.self) throws(StorageError) -> I {
    let value = unsafe value(column)
    guard unsafe sqlite3_value_type(value) == SQLITE_INTEGER,
      let integer = I(exactly: unsafe sqlite3_value_int64(value))
    else { throw damage }
    return integer
  }

  /// The bytes of a blob of any length.
  func bytes(_ column: Int32) throws(StorageError) -> [UInt8] {
    unsafe [UInt8](try blob(column))
  }

  /// The bytes of a blob of exactly `count` bytes.
  func bytes(_ column: Int32, count: Int) throws(StorageError) -> [UInt8] {
    unsafe [UInt8](try blob(column, count: count))
  }

  /// A blob of exactly 16 bytes.
  func bytes16(_ column: Int32) throws(StorageError) -> Bytes16 {
    unsafe Bytes16(loading: try blob(column, count: 16))
  }

  /// The bytes of a blob; none where the value has another type.
  func blobBytes(_ column: Int32) throws(StorageError) -> [UInt8] { isBlob(column) ? try bytes(column) : [] }

  /// Lends the bytes of a blob.
  func withBlob<R>(_ column: Int32, body: (RawSpan) -> R) throws(StorageError) -> R {
    guard isBlob(column) else { return body(RawSpan()) }
    return try unsafe body(blob(column).bytes)
  }

  /// Appends the last `count` bytes of a blob that has at least as many.
  func appendLast(_ count: Int, of column: Int32, to bytes: inout [UInt8]) throws(StorageError) {
    let blob = try unsafe self.blob(column)
    guard blob.count >= count else { throw damage }
    unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: blob.suffix(count)))
  }

  /// A text; nil when the column is NULL, of another type, or not valid UTF-8.
  func text(_ column: Int32) -> String? {
    let value = unsafe value(column)
    guard unsafe sqlite3_value_type(value) == SQLITE_TEXT, let start = unsafe sqlite3_value_text(value)
    else { return nil }
    // SQLite ends each text with a zero byte. One in the middle is no part of any text of ours.
    let text = unsafe String(validatingCString: UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self))
    return text?.utf8.count == Int(unsafe sqlite3_value_bytes(value)) ? text : nil
  }

  @unsafe
  private func blob(_ column: Int32, count: Int) throws(StorageError) -> UnsafeRawBufferPointer {
    let blob = try unsafe blob(column)
    guard blob.count == count else { throw damage }
    return unsafe blob
  }

  /// Valid until the next step.
  @unsafe
  private func blob(_ column: Int32) throws(StorageError) -> UnsafeRawBufferPointer {
    let value = unsafe value(column)
    guard unsafe sqlite3_value_type(value) == SQLITE_BLOB else { throw damage }
    let start = unsafe sqlite3_value_blob(value)
    let count = Int(unsafe sqlite3_value_bytes(value))
    guard unsafe start != nil || count == 0 else { throw .unexpected(code: SQLITE_NOMEM) }
    return unsafe UnsafeRawBufferPointer(start: start, count: count)
  }

  /// The value of a column, fetched once, because each `sqlite3_column_…` call looks the column up again. Only the
  /// caller of this connection uses the value, because the connection has no mutex.
  @unsafe
  private func value(_ column: Int32) -> OpaquePointer? {
    if let columns = unsafe columns { return unsafe columns[Int(column)] }
    return unsafe sqlite3_column_value(statement, column)
  }
}

extension FixedWidthInteger {
  /// Column 0.
  init(firstColumn row: borrowing Cursor) throws(StorageError) { self = try row.integer(0) }
}

extension [UInt8] {
  /// Column 0, a blob of any length.
  init(firstColumn row: borrowing Cursor) throws(StorageError) { self = try row.bytes(0) }
}
