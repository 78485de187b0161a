import CLinux
import Glibc

/// The making of a vault: under a lock, beside its place, put there complete by one rename. A crash leaves at most
/// a file under another name, which the next making removes; an error leaves nothing.
struct NewVaultPlace: ~Copyable {
  let place: VaultPath
  private let madeFolders: [String]
  private let lock: Int32

  /// Makes the folders on the way (0700), checks the last one, locks, and refuses when something is there already.
  static func prepare(_ path: String) throws(StorageError) -> NewVaultPlace {
    let made = try makeFolders(VaultPath.split(path).folder)
    do throws(StorageError) {
      let place = try VaultPath.locate(path)
      try place.checkFolder()
      let lock = try FileLock.take(in: place)
      let prepared = NewVaultPlace(place: place, madeFolders: made, lock: lock)
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

  private init(place: consuming VaultPath, madeFolders: [String], lock: Int32) {
    self.place = place
    self.madeFolders = madeFolders
    self.lock = lock
  }

  /// Where the vault is made.
  var temporaryName: String { "." + place.name + ".new" }

  /// Gives the finished file its name, durably.
  ///
  /// - Throws: ``StorageError/unconfirmed(code:errno:)`` once the name may exist: such a failure undoes nothing.
  func publish() throws(StorageError) {
    guard unsafe clinux_rename_exclusively(place.folder, temporaryName, place.name) == 0 else {
      throw errno == EEXIST ? .alreadyExists : .unconfirmed(code: 0, errno: errno)
    }
    try sync(place.folderPath, isOptional: false)
    // Also for folders that existed: the process that made one may have died before its name was durable.
    var folder = place.folderPath
    while folder != "/" {
      folder = VaultPath.parent(of: folder)
      try sync(folder, isOptional: true)
    }
  }

  /// Lets others make vaults here again.
  func finish() { FileLock.release(lock, in: place) }

  /// Removes what was made, unless it has the vault's name: then another process may already use it.
  func abandon() {
    removeTemporary()
    FileLock.release(lock, in: place)
    // Folders that are not empty stay.
    for folder in madeFolders.reversed() { unsafe rmdir(folder) }
  }

  private func makeTemporary() throws(StorageError) {
    for suffix in [""] + VaultPath.companions {
      guard try place.status(of: place.name + suffix) == nil else { throw .alreadyExists }
    }
    removeTemporary()
    try place.makeEmptyFile(temporaryName)
  }

  private func removeTemporary() {
    for suffix in [""] + VaultPath.companions { place.remove(temporaryName + suffix) }
  }

  /// - Parameter isOptional: Skips a folder in which this user cannot create files, or which cannot be read.
  private func sync(_ folder: String, isOptional: Bool) throws(StorageError) {
    if isOptional, unsafe access(folder, W_OK) != 0 { return }
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if isOptional, errno == EACCES { return }
      throw .unconfirmed(code: 0, errno: errno)
    }
    defer { close(descriptor) }
    // EINVAL: the file system has nothing to do for a folder.
    guard fsync(descriptor) == 0 || errno == EINVAL || (isOptional && errno == EROFS) else {
      throw .unconfirmed(code: 0, errno: errno)
    }
  }

  /// - Returns: The folders that were missing, outermost first.
  private static func makeFolders(_ path: String) throws(StorageError) -> [String] {
    var missing: [String] = []
    var folder = path
    // One that cannot be looked at is made, too: it is there, or the reason is known then.
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
  /// The error of a call that makes a file or a folder.
  static func creating(_ number: Int32) -> StorageError {
    switch number {
    case ENOSPC, EDQUOT: .full
    case EROFS: .readOnly
    case EIO: .io(code: 0, errno: number)
    default: .cannotOpen(errno: number)
    }
  }
}

extension VaultPath {
  /// Makes an empty file, mode 0600, that SQLite will fill. It is new, so nobody has it open yet and closing the
  /// descriptor takes no lock away.
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
