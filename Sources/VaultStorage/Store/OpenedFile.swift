import Glibc

/// A vault file with a connection to it: opened as was asked, or as far as the medium allows.
struct OpenedFile: ~Copyable {
  let mode: Connection.Mode
  let connection: Connection

  /// - Parameters:
  ///   - name: The file that the name leads to now.
  ///   - hold: Is taken where nothing can be made beside the file, and made if it is nil. The caller releases it after its transaction.
  static func open(
    at place: borrowing VaultPath, _ access: Store.Access, patience: Int64, name: OpenedName,
    hold: inout DatabaseHold?
  ) throws(StorageError) -> OpenedFile {
    let start = Pause.now()
    var attempts: Int32 = 0
    while true {
      let mode = try mode(of: place, access)
      do throws(StorageError) {
        return OpenedFile(
          mode: mode, connection: try connect(to: place, mode: mode, patience: patience, name: name))
      } catch {
        guard mode == .readWrite || mode == .readOnly, error.isLackOfRoom else { throw error }
      }
      let lock: DatabaseHold
      if let hold { lock = hold } else { lock = try DatabaseHold(place) }
      hold = lock
      if try lock.take() {
        do throws(StorageError) { return try openHeld(place, patience: patience, name: name) } catch {
          lock.release()
          throw error
        }
      }
      // Another process has the vault open: the next try finds the files that it made beside it, unless it has no room either.
      guard Pause.take(since: start, attempts: attempts, patience: patience) else { throw .busy }
      attempts += 1
    }
  }

  /// Opens a file that no other process can open meanwhile.
  private static func openHeld(
    _ place: borrowing VaultPath, patience: Int64, name: OpenedName
  ) throws(StorageError) -> OpenedFile {
    let mode: Connection.Mode = try hasLog(place) ? .heldLog : .immutable
    return OpenedFile(
      mode: mode, connection: try connect(to: place, mode: mode, patience: patience, name: name))
  }

  /// Opens the file, and checks its schema.
  private static func connect(
    to place: borrowing VaultPath, mode: Connection.Mode, patience: Int64, name: OpenedName
  ) throws(StorageError) -> Connection {
    do throws(StorageError) {
      var connection = try Connection.open(place.full, mode: mode, patience: patience, name: name)
      try check(connection, mode: mode, place: place, name: name)
      if mode == .readWrite || mode == .readOnly { try connection.watchSideFiles(beside: place.full) }
      return connection
    } catch {
      // There is a log, but the files that reading it needs cannot be made.
      if case .cannotOpen = error, mode == .readOnlyMedium { throw .readOnly }
      throw error
    }
  }

  private static func check(
    _ connection: borrowing Connection, mode: Connection.Mode, place: borrowing VaultPath,
    name: OpenedName
  ) throws(StorageError) {
    var failure: StorageError?
    do throws(StorageError) {
      try Schema.check(connection)
      if mode == .readWrite { try connection.useLog() }
    } catch { failure = error }
    // Another process restored or replaced the vault meanwhile. What was checked is not what was opened, and the
    // log beside the name belongs to another file.
    guard let now = try place.status(of: place.name), now.inode == name.inode else {
      connection.leaveLog()
      throw .busy
    }
    if let failure { throw failure }
  }

  private static func mode(
    of place: borrowing VaultPath, _ access: Store.Access
  ) throws(StorageError) -> Connection.Mode {
    if place.isWritable("."), place.isWritable(place.name) {
      return access == .readWrite ? .readWrite : .readOnly
    }
    return try hasLog(place) ? .readOnlyMedium : .immutable
  }

  private static func hasLog(_ place: borrowing VaultPath) throws(StorageError) -> Bool {
    (try place.status(of: place.name + "-wal")?.byteCount ?? 0) > 0
  }
}

extension StorageError {
  /// Whether an opening failed because a file beside the vault could not be made or could not grow. Where it cannot be made, SQLite
  /// tries to open one, and keeps the `errno` of that: there is no such file.
  fileprivate var isLackOfRoom: Bool {
    switch self {
    case .full, .readOnly: true
    case .cannotOpen(let number): [ENOENT, ENOSPC, EDQUOT, EFBIG, EROFS].contains(number)
    default: false
    }
  }
}
