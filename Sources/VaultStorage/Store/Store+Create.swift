import Glibc

extension Store {
  /// Makes a vault at `path` with the rows that `body` writes, and opens it.
  ///
  /// The vault appears under its name complete and durable, or not at all. When it is not certain that it is
  /// durable, it stays. Missing directories are made with mode 0700; the file has mode 0600. `body` runs inside the
  /// one write transaction that makes the schema. `publishing` runs when the file is complete, right before the
  /// rename that gives it its name; an error of `publishing` prevents the rename.
  ///
  /// - Throws: ``StorageError/alreadyExists`` when there is anything at the path, also a link or an old `-wal`;
  ///   ``StorageError/busy`` when another process is making a vault there; what `body` and `publishing` throw.
  ///   Nothing is left then. ``StorageError/unconfirmed(code:errno:)`` when the vault has its name and the disk
  ///   failed; what an opening throws.
  package static func create<E: StorageFailure>(
    at path: String, publishing: () throws(E) -> Void = {}, _ body: (inout Store) throws(E) -> Void
  ) throws(E) -> Store {
    let new = try E.from(NewVaultPlace.prepare(path), at: path)
    do throws(E) {
      let store = try create(in: new, publishing: publishing, body)
      new.finish()
      return store
    } catch {
      new.abandon()
      throw error
    }
  }

  /// The same in a place that the caller has prepared, and ends.
  package static func create<E: StorageFailure>(
    in new: borrowing NewVaultPlace, publishing: () throws(E) -> Void,
    _ body: (inout Store) throws(E) -> Void
  ) throws(E) -> Store {
    try fill(new.place.path(of: new.temporaryName), writing: body)
    try publishing()
    try E.from(new.publish(), at: new.path)
    do throws(StorageError) { return try open(at: new.path, access: .readWrite) } catch {
      throw E(error.afterNaming, at: new.path)
    }
  }

  /// Makes the schema and the first rows in one transaction, and leaves one file with an empty log.
  private static func fill<E: StorageFailure>(
    _ path: String, writing body: (inout Store) throws(E) -> Void
  ) throws(E) {
    var store = try E.from(empty(path))
    try store.write { store throws(E) in
      try E.from(store.connection.execute(Schema.creation))
      try body(&store)
    }
    guard try E.from(store.checkpoint(truncate: true)) else { throw E(.busy) }
  }

  private static func empty(_ path: String) throws(StorageError) -> Store {
    let connection = try Connection.open(path, mode: .readWrite, patience: 10_000_000_000)
    try connection.execute("PRAGMA page_size=\(Schema.pageSize); PRAGMA encoding='UTF-8'")
    try connection.useLog()
    return Store(
      opening: Opening(path: path, access: .readWrite, patience: 0, name: nil), mode: .readWrite,
      connection: connection, queue: .none())
  }
}

extension StorageError {
  /// The same error of the first opening of a file that has its name: it is complete, so "not stored" would be wrong.
  fileprivate var afterNaming: StorageError {
    switch self {
    case .full: .unconfirmed(code: 0, errno: ENOSPC)
    case .io(let code, let number): .unconfirmed(code: code, errno: number)
    case .cannotOpen(let number): .unconfirmed(code: 0, errno: number)
    default: self
    }
  }
}
