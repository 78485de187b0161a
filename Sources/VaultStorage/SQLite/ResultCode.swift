import CSQLite
import Glibc

/// Turns a result code of SQLite into an error. No other code does.
func check(_ code: Int32, on database: OpaquePointer?) throws(StorageError) {
  guard code != SQLITE_OK else { return }
  throw unsafe storageError(code, on: database)
}

/// The error for a result code other than `SQLITE_OK`, `SQLITE_ROW` and `SQLITE_DONE`.
func storageError(_ code: Int32, on database: OpaquePointer?) -> StorageError {
  switch code & 0xff {
  case SQLITE_CONSTRAINT: unsafe constraintError(code, on: database)
  case SQLITE_FULL: .full
  case SQLITE_IOERR: unsafe ioError(code, on: database)
  case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
  case SQLITE_READONLY: .readOnly
  case SQLITE_NOTADB: .damaged(.notADatabase)
  // Only `errno`, set to zero before the call, distinguishes a disk that cannot read a page from an impossible
  // page.
  case SQLITE_CORRUPT where [EIO, ENXIO, ERANGE].contains(errno): .io(code: code, errno: errno)
  // Interrupted by `WorkBound`: the statement did more work than an undamaged file can cause.
  case SQLITE_CORRUPT, SQLITE_FORMAT, SQLITE_INTERRUPT: .damaged(.page)
  // The SQL is fixed: where it does not fit, or a value has another type, the file was changed.
  case SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_SCHEMA: .damaged(.schema)
  case SQLITE_TOOBIG: .tooLarge
  case SQLITE_CANTOPEN: unsafe openingError(code, on: database)
  default: .unexpected(code: code)
  }
}

/// Where SQLite cannot make a file beside the database, it tries to open one, and keeps the `errno` of that: there is no such file. A
/// full disk is the reason where nothing can be made.
private func openingError(_ code: Int32, on database: OpaquePointer?) -> StorageError {
  guard code != Int32(csqlite_cannot_open_symlink) else { return .refused(.symbolicLink) }
  let number = unsafe sqlite3_system_errno(database)
  let isFull = unsafe number == ENOENT && isOnFullDisk(database)
  return isFull ? .full : .cannotOpen(errno: number)
}

private func isOnFullDisk(_ database: OpaquePointer?) -> Bool {
  var about = statvfs()
  guard let path = unsafe sqlite3_db_filename(database, "main"), unsafe statvfs(path, &about) == 0 else {
    return false
  }
  // A file system that counts no files says that it has none.
  return about.f_bavail == 0 || about.f_files > 0 && about.f_favail == 0
}

/// A full disk appears as an I/O error where a quota or a process limit stops the write. SQLite does not keep the
/// `errno` of a failure within a COMMIT. There, `errno` itself, set to zero before the step, still has it.
private func ioError(_ code: Int32, on database: OpaquePointer?) -> StorageError {
  // Only the log is read by exact lengths: it is not the file that its index describes.
  if code == Int32(csqlite_io_error_short_read), let path = unsafe sqlite3_db_filename(database, "main") {
    return unsafe .sideFile(String(cString: path) + "-wal")
  }
  let last = errno
  let kept = unsafe sqlite3_system_errno(database)
  let number = kept == 0 ? last : kept
  return [ENOSPC, EDQUOT, EFBIG].contains(number) ? .full : .io(code: code, errno: number)
}

extension StorageError {
  /// The same error, thrown by a COMMIT that failed with the extended result code `code`.
  ///
  /// The mark of a commit is the last thing that is written to the log, before the log is synchronized and
  /// published to other processes. When no more bytes could be written, the mark is not there. After any other
  /// failure it may be there: what a failed `fdatasync` has left on the disk is unknown, and the process that
  /// recovers the log accepts every complete commit.
  func ofCommit(_ code: Int32) -> StorageError {
    switch self {
    case .full where code == SQLITE_FULL || code == Int32(csqlite_io_error_write): self
    case .full: .unconfirmed(code: code, errno: ENOSPC)
    case .io(let code, let number): .unconfirmed(code: code, errno: number)
    default: self
    }
  }
}

private func constraintError(_ code: Int32, on database: OpaquePointer?) -> StorageError {
  let kinds = [csqlite_constraint_unique, csqlite_constraint_primary_key, csqlite_constraint_row]
  guard kinds.contains(Int(code)), let text = unsafe sqlite3_errmsg(database) else {
    return .unexpected(code: code)
  }
  // "UNIQUE constraint failed: item.name"
  return switch unsafe String(cString: text).split(separator: " ").last {
  case "item.primary_key": .duplicate(.primaryKey)
  case "item.name": .duplicate(.name)
  case "item.id": .duplicate(.id)
  default: .duplicate(.row)
  }
}
