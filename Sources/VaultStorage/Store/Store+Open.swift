extension Store {
  /// Opens the vault at `path`, after checking its place, owner, mode and schema. Makes nothing. Removes the lock that a killed
  /// process left at the path.
  ///
  /// Where the medium, the file or the directory cannot be written, the store is read-only whatever `access` asks
  /// for. `patience` is how long a statement waits for other processes before it throws ``StorageError/busy``.
  ///
  /// - Throws: ``StorageError/missing``, ``StorageError/refused(_:)``, ``StorageError/damaged(_:)``,
  ///   ``StorageError/newerFormat(version:)``, ``StorageError/busy``; ``StorageError/readOnly`` when there is a log
  ///   beside a file on a medium that cannot be written, because the log cannot be read there.
  package static func open(
    at path: String, access: Access, patience: Duration = usualPatience
  ) throws(StorageError) -> Store {
    let patience = patience.nanoseconds
    let place = try VaultPath.locate(path)
    try place.checkFolder()
    let before = try place.checkFile()
    try? FileLock.removeLeft(in: place)
    let mode = try mode(of: place, access)
    let name = OpenedName(place.full, file: before)
    let connection = try connect(to: place, mode: mode, patience: patience, name: name)
    return Store(
      path: place.full, isReadOnly: mode != .readWrite, name: name,
      connection: connection,
      queue: mode == .readWrite ? CommitQueue(in: place, patience: patience) : .none())
  }

  package static let usualPatience = Duration.seconds(10)

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
    of place: borrowing VaultPath, _ access: Access
  ) throws(StorageError) -> Connection.Mode {
    if place.isWritable("."), place.isWritable(place.name) {
      return access == .readWrite ? .readWrite : .readOnly
    }
    let log = try place.status(of: place.name + "-wal")
    return (log?.byteCount ?? 0) == 0 ? .immutable : .readOnlyMedium
  }
}

extension Duration {
  fileprivate var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}
