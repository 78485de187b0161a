import CLinux
import Glibc

/// Makes a vault: under a lock, beside its final place, moved there complete by one rename. A crash leaves at most
/// a file under a temporary name, which the next attempt removes. An error leaves nothing. A file of the user under that name stays, and
/// no vault is made.
///
/// While it exists, no other process makes a vault at the same path. Its owner ends it by ``finish()`` or
/// ``abandon()``.
package struct NewVaultPlace: ~Copyable {
  let place: VaultPath
  /// The path as given, for errors.
  let path: String
  private let madeFolders: [String]
  private let lock: Int32
  /// What a process noted that was killed before its file got its name; else empty. The temporary file shows that: the rename
  /// takes it away.
  package let left: String
  /// What has a temporary name, and no process left there that made a vault.
  private let foreign: [String]

  /// Makes the missing directories (0700), checks the last one, takes the lock, and refuses when something is there
  /// already.
  ///
  /// - Parameters:
  ///   - makingFolders: Whether missing directories are made; otherwise one that is missing is ``StorageError/missing``.
  ///   - isSideFile: Whether the vault belongs to another file, which it is to replace.
  /// - Throws: ``StorageError/nameOfSideFile(_:owner:)`` for a name that belongs to another file.
  package static func prepare(
    _ path: String, makingFolders: Bool = true, isSideFile: Bool = false
  ) throws(StorageError) -> NewVaultPlace {
    if !isSideFile { try SideFileName.refuse(path) }
    let made = makingFolders ? try makeFolders(VaultPath.split(path).folder) : []
    do throws(StorageError) {
      let place = try VaultPath.locate(path)
      try place.checkFolder()
      let lock = try FileLock.take(in: place)
      let found: (note: String, foreign: [String])
      do throws(StorageError) { found = try whatIsLeft(in: place, lock: lock) } catch {
        FileLock.release(lock, in: place)
        throw error
      }
      let prepared = NewVaultPlace(
        place: place, path: path, madeFolders: made, lock: lock, left: found.note, foreign: found.foreign)
      do throws(StorageError) { try prepared.refuseWhatIsThere() } catch {
        prepared.leave()
        throw error
      }
      do throws(StorageError) { try prepared.makeTemporary() } catch {
        prepared.abandon()
        throw error
      }
      return prepared
    } catch {
      for folder in made.reversed() { unsafe rmdir(folder) }
      throw error
    }
  }

  private init(
    place: consuming VaultPath, path: String, madeFolders: [String], lock: Int32, left: String,
    foreign: [String]
  ) {
    self.place = place
    self.path = path
    self.madeFolders = madeFolders
    self.lock = lock
    self.left = left
    self.foreign = foreign
  }

  /// What a killed process noted, and what has a temporary name and is the user's. Not in the initializer: Swift 6.3, which
  /// optimizes one that reads `self.place` before all properties are set, made a program that crashed.
  private static func whatIsLeft(
    in place: borrowing VaultPath, lock: Int32
  ) throws(StorageError) -> (note: String, foreign: [String]) {
    let name = temporaryName(of: place)
    let note = try FileLock.note(in: lock)
    let foreign = try place.foreignDrafts(of: name, noted: note)
    let isLeft = try place.status(of: name) != nil
    return (isLeft && !foreign.contains(name) ? note?.text ?? "" : "", foreign)
  }

  /// Notes the temporary file, and a device key for it, for the process that makes a vault here after this one was killed: durable when this
  /// returns.
  package func note(_ text: String) throws(StorageError) {
    try FileLock.note(text, about: temporaryName, in: place, file: lock)
  }

  /// Whether a process makes a vault at a path right now.
  package static func isTaken(_ path: String) throws(StorageError) -> Bool {
    FileLock.isHeld(in: try VaultPath.locate(path))
  }

  /// Whether a file in the directory of a path is the user's, with a name that the making of a vault at the path leaves.
  ///
  /// - Throws: If it cannot be looked at.
  package static func isForeign(_ name: String, beside path: String) throws(StorageError) -> Bool {
    try VaultPath.locate(path).isForeign(name)
  }

  /// The name under which the vault is made.
  var temporaryName: String { Self.temporaryName(of: place) }

  static func temporaryName(of place: borrowing VaultPath) -> String { "." + place.name + ".new" }

  /// Gives the finished file its name, durably.
  ///
  /// - Throws: ``StorageError/unconfirmed(code:errno:)`` once the name may exist. Such a failure undoes nothing.
  func publish() throws(StorageError) {
    guard unsafe clinux_rename_exclusively(place.folder, temporaryName, place.name) == 0 else {
      throw errno == EEXIST ? .alreadyExists : .unconfirmed(code: 0, errno: errno)
    }
    try sync(place.folderPath, isOptional: false)
    // Also for directories that existed: the process that made one may have ended before its name was durable.
    var folder = place.folderPath
    while folder != "/" {
      folder = VaultPath.parent(of: folder)
      try sync(folder, isOptional: true)
    }
  }

  /// Lets other processes make vaults here again.
  package func finish() { FileLock.release(lock, in: place) }

  /// Removes what was made, unless it has the name of the vault: then another process may already use it.
  package func abandon() {
    removeTemporary()
    FileLock.release(lock, in: place)
    // Directories that are not empty stay.
    for folder in madeFolders.reversed() { unsafe rmdir(folder) }
  }

  /// Changes nothing: a draft that a killed process left, and the note that names its key, stay for the next attempt.
  private func leave() {
    guard !left.isEmpty else { return abandon() }
    OpenVaultFiles.close(lock)
    for folder in madeFolders.reversed() { unsafe rmdir(folder) }
  }

  private func refuseWhatIsThere() throws(StorageError) {
    guard try place.status(of: place.name) == nil else { throw .alreadyExists }
    for suffix in SideFileName.companions where try place.status(of: place.name + suffix) != nil {
      throw .existsBeside(path + suffix)
    }
    if let name = foreign.first { throw .existsBeside(place.path(of: name)) }
  }

  private func makeTemporary() throws(StorageError) {
    // What was left stays until an empty file takes its name: without it, the note would no longer count.
    let removed = (left.isEmpty ? [""] : []) + SideFileName.companions
    for suffix in removed { place.remove(temporaryName + suffix) }
    for suffix in removed where try place.status(of: temporaryName + suffix) != nil {
      throw .existsBeside(place.path(of: temporaryName + suffix))
    }
    if left.isEmpty {
      // Beside a new temporary file, the note of a vault that got its name would say that it got none.
      if try FileLock.note(in: lock) != nil { try FileLock.removeNote(in: lock) }
      try place.makeEmptyFile(temporaryName)
    } else {
      let draft = temporaryName + SideFileName.companions[0]
      try place.makeEmptyFile(draft)
      guard unsafe renameat(place.folder, draft, place.folder, temporaryName) == 0 else {
        throw .existsBeside(place.path(of: temporaryName))
      }
    }
    try note(left)
  }

  private func removeTemporary() {
    for suffix in [""] + SideFileName.companions where !foreign.contains(temporaryName + suffix) {
      place.remove(temporaryName + suffix)
    }
  }

  /// - Parameter isOptional: Skips a directory in which this user cannot create files, or which cannot be read.
  private func sync(_ folder: String, isOptional: Bool) throws(StorageError) {
    if isOptional, unsafe access(folder, W_OK) != 0 { return }
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if isOptional, errno == EACCES { return }
      throw .unconfirmed(code: 0, errno: errno)
    }
    defer { close(descriptor) }
    // EINVAL: the file system does not need this for a directory.
    guard fsync(descriptor) == 0 || errno == EINVAL || (isOptional && errno == EROFS) else {
      throw .unconfirmed(code: 0, errno: errno)
    }
  }

  /// - Returns: The directories that were missing, outermost first.
  private static func makeFolders(_ path: String) throws(StorageError) -> [String] {
    var missing: [String] = []
    var folder = path
    // A directory that cannot be looked at is made too: either it exists, or the error says why not.
    while folder != "/", folder != ".", unsafe access(folder, F_OK) != 0 {
      missing.append(folder)
      folder = VaultPath.parent(of: folder)
    }
    var made: [String] = []
    for folder in missing.reversed() {
      if unsafe mkdir(folder, 0o700) == 0 {
        made.append(folder)
        continue
      }
      guard errno == EEXIST else {
        let number = errno
        for folder in made.reversed() { unsafe rmdir(folder) }
        throw .creating(number)
      }
    }
    return made
  }
}

extension StorageError {
  /// The error of a call that makes a file or a directory.
  static func creating(_ number: Int32) -> StorageError {
    switch number {
    case ENOSPC, EDQUOT, EFBIG: .full
    case EROFS: .readOnly
    case EIO: .io(code: 0, errno: number)
    default: .cannotOpen(errno: number)
    }
  }
}

extension VaultPath {
  /// Makes an empty file, mode 0600, for SQLite to fill. The file is new, so no other process has it open, and
  /// closing the descriptor releases no lock.
  func makeEmptyFile(_ name: String) throws(StorageError) {
    let flags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC
    let file = unsafe clinux_create(folder, name, flags, 0o600)
    guard file >= 0 else { throw errno == EEXIST ? .alreadyExists : .creating(errno) }
    close(file)
  }

  func remove(_ name: String) { unsafe unlinkat(folder, name, 0) }

  static func parent(of path: String) -> String {
    let trimmed = path.last == "/" ? String(path.dropLast()) : path
    guard let slash = trimmed.lastIndex(of: "/") else { return "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }
}
