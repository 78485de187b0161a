extension Store {
  /// Opens the vault at `path`, after its place, owner, mode and schema have been checked. Makes nothing.
  ///
  /// Where medium, file or folder cannot be written, the store is read-only whatever `access` asks for.
  /// `patience` is how long a statement waits for other processes before it throws ``StorageError/busy``.
  /// - Throws: ``StorageError/missing``, ``StorageError/refused(_:)``, ``StorageError/damaged(_:)``,
  ///   ``StorageError/newerFormat(version:)``, ``StorageError/busy``, ``StorageError/readOnly`` when a log lies
  ///   beside a file on a medium that cannot be written, so that it cannot be read either.
  package static func open(
    at path: String, access: Access, patience: Duration = .seconds(10)
  ) throws(StorageError) -> Store {
    let patience = patience.nanoseconds
    let place = try VaultPath.locate(path)
    try place.checkFolder()
    let before = try place.checkFile()
    let mode = try mode(of: place, access)
    let connection = try connect(to: place, mode, patience)
    // Restored or replaced while we opened it: what was checked is not what was opened.
    guard let after = try place.status(of: place.name), after.inode == before.inode else { throw .busy }
    return Store(
      path: place.full, isReadOnly: mode != .readWrite, name: OpenedName(place.full, after),
      connection: connection,
      queue: mode == .readWrite ? CommitQueue(in: place, patience: patience) : .none())
  }

  /// Opens the file, and believes it only when its schema is the right one.
  private static func connect(
    to place: borrowing VaultPath, _ mode: Connection.Mode, _ patience: Int64
  ) throws(StorageError) -> Connection {
    do throws(StorageError) {
      let connection = try Connection.open(place.full, mode, patience: patience)
      try Schema.check(connection)
      if mode == .readWrite { try connection.useLog() }
      return connection
    } catch {
      // A log is there, but what is needed to read it cannot be made.
      if case .cannotOpen = error, mode == .readOnlyMedium { throw .readOnly }
      throw error
    }
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
