import CSQLite
import Glibc

/// One prepared statement, compiled at its first use and kept.
@safe
struct Statement: ~Copyable {
  private let query: Query
  private var handle: OpaquePointer?

  init(_ query: Query) {
    self.query = query
    unsafe handle = nil
  }

  deinit { unsafe sqlite3_finalize(handle) }

  /// Binds `values` and runs `body`, which steps. Afterwards the statement has no values and no lock.
  @unsafe
  mutating func use<each Value: Bindable, R, E: StorageFailure>(
    on database: OpaquePointer, lending: UnsafeMutablePointer<Lending>,
    values: repeat each Value, body: (borrowing Cursor) throws(E) -> R
  ) throws(E) -> R {
    if unsafe handle == nil { try E.from(unsafe prepare(on: database)) }
    let statement = unsafe handle!
    defer {
      unsafe sqlite3_reset(statement)
      unsafe sqlite3_clear_bindings(statement)
    }
    let cursor = unsafe Cursor(
      statement: statement, database: database, table: query.table, lending: lending)
    try E.from(cursor.bind(values: repeat each values))
    return try body(cursor)
  }

  private mutating func prepare(on database: OpaquePointer) throws(StorageError) {
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    errno = 0
    let code = unsafe query.sql.withCString {
      unsafe sqlite3_prepare_v3(database, $0, -1, flags, &handle, nil)
    }
    try unsafe check(code, on: database)
  }
}
