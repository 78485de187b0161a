import Glibc

/// Stores in files that are open already: backups, which are read and written wherever people keep them.
extension Store {
  /// Opens a copy of a file, which the store keeps open.
  ///
  /// - Parameter name: What the store calls its path.
  /// - Throws: ``StorageError/damaged(_:)``, ``StorageError/newerFormat(version:)``.
  package static func open(_ copy: CopiedFile, named name: String) throws(StorageError) -> Store {
    try open(copy.descriptor, named: name, keeping: copy)
  }

  /// Makes the schema and the first rows in an empty file that is open for reading and writing, and opens it to be read. The caller makes the
  /// file durable, and keeps the descriptor open.
  package static func create<E: StorageFailure>(
    in file: Int32, named name: String, _ body: (inout Store) throws(E) -> Void
  ) throws(E) -> Store {
    try fill(file, named: name, writing: body)
    try E.from(markAsVault(file))
    return try E.from(open(file, named: name, keeping: nil))
  }

  private static func open(
    _ file: Int32, named name: String, keeping owner: CopiedFile?
  ) throws(StorageError) -> Store {
    let connection = try Connection.open(
      DescriptorFileSystem.path(of: file), mode: .openFile, patience: 0)
    try Schema.check(connection)
    return Store(
      opening: Opening(path: name, access: .readOnly, patience: 0, name: nil, owner: owner), mode: .openFile,
      connection: connection, queue: .none())
  }

  private static func fill<E: StorageFailure>(
    _ file: Int32, named name: String, writing body: (inout Store) throws(E) -> Void
  ) throws(E) {
    let path = DescriptorFileSystem.path(of: file)
    let connection = try E.from(Connection.open(path, mode: .newFile, patience: 0))
    try E.from(connection.execute("PRAGMA page_size=\(Schema.pageSize); PRAGMA encoding='UTF-8'"))
    var store = Store(
      opening: Opening(path: name, access: .readWrite, patience: 0, name: nil), mode: .newFile,
      connection: connection, queue: .none())
    try store.write { store throws(E) in
      try E.from(store.connection.execute(Schema.creation))
      try body(&store)
    }
  }

  /// The format says that a file keeps a log, and this one was filled without: bytes 18 and 19 say so.
  private static func markAsVault(_ file: Int32) throws(StorageError) {
    let versions: [UInt8] = [2, 2]
    guard unsafe pwrite(file, versions, versions.count, 18) == versions.count else {
      throw .creating(errno)
    }
  }
}
