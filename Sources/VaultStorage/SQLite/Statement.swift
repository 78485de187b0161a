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

  /// Runs `body`, which binds and steps, then leaves the statement without values and without a lock.
  @unsafe
  mutating func use<R, E: StorageFailure>(
    on database: OpaquePointer, lending: UnsafeMutablePointer<Lending>,
    body: (borrowing Cursor) throws(E) -> R
  ) throws(E) -> R {
    if unsafe handle == nil {
      do throws(StorageError) { try unsafe prepare(on: database) } catch { throw E(error) }
    }
    let statement = unsafe handle!
    defer {
      unsafe sqlite3_reset(statement)
      unsafe sqlite3_clear_bindings(statement)
    }
    return try unsafe body(
      Cursor(statement: statement, database: database, table: query.table, lending: lending))
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
