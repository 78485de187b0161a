extension Store {
  /// Opens the vault at `path`, after checking its place, owner, mode and schema. Makes nothing. Removes the lock that a killed
  /// process left at the path.
  ///
  /// Where the medium, the file or the directory cannot be written, the store is read-only whatever `access` asks
  /// for. Where the disk is full, so that the files beside the vault cannot be made, it reads; each transaction looks again for room.
  /// `patience` is how long a statement waits for other processes before it throws ``StorageError/busy``.
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
    let name = OpenedName(place.full, file: before)
    var hold: DatabaseHold?
    let opened = try OpenedFile.open(at: place, access, patience: patience, name: name, hold: &hold)
    // There is room, as it turned out while it waited for the lock.
    if let taken = hold, !taken.isTaken { hold = nil }
    hold?.release()
    let mode = opened.mode
    return Store(
      opening: Opening(path: place.full, access: access, patience: patience, name: name), mode: mode,
      connection: opened.connection, hold: hold,
      queue: mode == .readWrite ? CommitQueue(in: place, patience: patience) : .none())
  }

  package static let usualPatience = Duration.seconds(10)

  /// How a store was opened, for a store that opens its file again.
  struct Opening {
    let path: String
    let access: Access
    let patience: Int64
    /// What each commit compares; nil for a file that is being made and has no final name yet.
    let name: OpenedName?
    /// Keeps the descriptor open that the store reads.
    var owner: CopiedFile?
  }

  /// Opens the file as it is now, where the last opening found no room for the files beside it. There may be room by now. If not, the
  /// lock is held when this returns, and no other process changes the file.
  mutating func openAgain() throws(StorageError) {
    guard lacksRoom, let hold, !hold.isTaken, let name = opening.name else { return }
    guard connection.isOfThisProcess else { throw .usedAfterFork }
    let place = try VaultPath.locate(path)
    let now = try place.checkFile()
    guard now.inode == name.inode, now.device == name.device else { throw .moved(path) }
    var held: DatabaseHold? = hold
    let opened = try OpenedFile.open(
      at: place, opening.access, patience: opening.patience, name: name, hold: &held)
    let mode = opened.mode
    connection = opened.connection
    openings &+= 1
    guard hold.isTaken else {
      return foundRoom(mode, queue: CommitQueue(in: place, patience: opening.patience))
    }
    self.mode = mode
  }

  /// Why nothing can be written beside the file.
  var whyNoRoom: StorageError {
    guard let number = VaultPath.whyNothingCanBeMade(in: VaultPath.parent(of: path)) else { return .full }
    return .creating(number)
  }
}

extension Duration {
  fileprivate var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}
