import Glibc

/// SQLite without any of the vault's protection, to tamper with a vault. This type finds SQLite in the process at run
/// time, because only VaultStorage imports it.
package struct RawSQLite {
  private typealias Open =
    @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>) -> Int32
  private typealias Close = @convention(c) (OpaquePointer?) -> Int32
  private typealias Execute =
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>, OpaquePointer?, OpaquePointer?, OpaquePointer?
    ) -> Int32

  package struct Failure: Error {
    let code: Int32
    let sql: String
  }

  /// Opens the file at `path`, runs `sql` and closes the file. Closing it removes the log, unless another connection
  /// has the file open.
  package static func run(_ sql: String, on path: String) throws {
    var database: OpaquePointer?
    let open = unsafe unsafeBitCast(symbol("sqlite3_open"), to: Open.self)
    let execute = unsafe unsafeBitCast(symbol("sqlite3_exec"), to: Execute.self)
    let close = unsafe unsafeBitCast(symbol("sqlite3_close"), to: Close.self)
    var code = unsafe open(path, &database)
    if code == 0 { code = unsafe execute(database, sql, nil, nil, nil) }
    _ = unsafe close(database)
    guard code == 0 else { throw Failure(code: code, sql: sql) }
  }

  /// Keeps a file open in SQLite, so that another program that closes it leaves the log.
  @safe
  package final class Held {
    private var database: OpaquePointer?

    package init(_ path: String) throws {
      let open = unsafe unsafeBitCast(symbol("sqlite3_open"), to: Open.self)
      let execute = unsafe unsafeBitCast(symbol("sqlite3_exec"), to: Execute.self)
      let sql = "SELECT count(*) FROM head"
      var code = unsafe open(path, &database)
      if code == 0 { code = unsafe execute(database, sql, nil, nil, nil) }
      guard code == 0 else { throw Failure(code: code, sql: sql) }
    }

    package func close() {
      let close = unsafe unsafeBitCast(symbol("sqlite3_close"), to: Close.self)
      _ = unsafe close(database)
      unsafe database = nil
    }

    deinit { close() }
  }

  private static func symbol(_ name: String) -> UnsafeMutableRawPointer { unsafe dlsym(nil, name)! }
}
