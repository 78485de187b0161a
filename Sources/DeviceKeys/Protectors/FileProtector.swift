public import VaultFormat
import Glibc
import SecretMemory
import VaultStorage

/// Device keys in files of mode 0600: `<state directory>/<vault id>/<key id>.key`, or one file that the caller names.
///
/// Never in the vault's directory: a copy of that directory must not include the key.
public struct FileProtector: Protector {
  package enum Place: Sendable {
    case folder(String)
    case file(String)
  }
  package let place: Place
  /// The standard directory, where that has the keys.
  let standard: StandardDirectory?
  let witnessFile = WitnessFile()
  /// Whether it keeps many keys below a directory.
  package var isFolder: Bool { if case .folder = place { true } else { false } }

  /// Files.
  public var kind: ProtectorKind { .file }

  /// The standard place: `$XDG_STATE_HOME/vaultctl`, else `$HOME/.local/state/vaultctl`.
  ///
  /// - Throws: ``VaultError/Code/deviceKeyUnavailable`` where neither is an absolute path.
  public static func standard() throws(VaultError) -> FileProtector {
    FileProtector(in: try standardDirectory())
  }

  package static func standardDirectory() throws(VaultError) -> StandardDirectory {
    let value = { (name: String) in unsafe getenv(name).map { unsafe String(cString: $0) } }
    guard let directory = StandardDirectory(below: "XDG_STATE_HOME", else: ".local/state", value) else {
      throw VaultError(
        .deviceKeyUnavailable, "there is no folder for the device key: HOME is not set", hint: .setKeyFolder)
    }
    return directory
  }

  /// Key files below a directory.
  public init(folder: String) { (place, standard) = (.folder(folder), nil) }

  /// Just this key file.
  public init(file: String) { (place, standard) = (.file(file), nil) }

  /// Key files below the standard directory of this user, or of the keeper.
  package init(in directory: StandardDirectory) { (place, standard) = (.folder(directory.path), directory) }

  /// Whether the place of this vault's keys exists.
  public func probe(_ vault: VaultID) throws(VaultError) -> ProtectorState {
    let path =
      switch place {
      case .folder(let folder): folder + "/" + vault.hexadecimal
      case .file(let file): file
      }
    return try exists(path) ? .present : .absent
  }

  /// Reads the key file; owner, mode and id are checked, links are not followed. A key that waits beside a named file
  /// is found regardless of that file's contents, even if the file does not exist.
  public func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    if case .file = place, let directory = try? Self.standardDirectory() {
      try directory.refuseFormerWitness(of: key, in: vault)
    }
    do throws(VaultError) { return try readInPlace(key, of: vault) } catch {
      guard let next = nextPath(of: key) else {
        try standard?.refuseFormerKey(key, of: vault)
        throw error
      }
      // Between the two checks, the key may have moved into its place.
      guard try mayExist(next) else { return try readInPlace(key, of: vault) }
    }
    return try readWaiting(key, of: vault)
  }

  private func mayExist(_ path: String) throws(VaultError) -> Bool {
    do throws(VaultError) { return try exists(path) } catch {
      // A key that may wait there must not be reported as lost.
      throw VaultError(
        .deviceKeyUnavailable, "the device key cannot be looked for: \(error.message)", hint: error.advice,
        underlying: error.underlying)
    }
  }

  private func readWaiting(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    do throws(VaultError) {
      let waiting = try read(presentPath(of: key, vault))
      if waiting.id == key { return waiting }
    } catch {
      // A file that cannot be read now still exists: its key must not be reported as absent.
      guard error.code == .deviceKeyAbsent else { throw error }
    }
    return try readInPlace(key, of: vault)
  }

  private func readInPlace(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    let found = try read(path(of: key, vault))
    guard found.id == key else {
      throw VaultError(
        .deviceKeyWrong, "the device key in \(path(of: key, vault)) is not the one of this vault",
        hint: .nameRightKey)
    }
    return found
  }

  /// Writes a new key file, synchronizes the file and its directory, and reads the key back.
  public func storeKey(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError) {
    try refuseGiven()
    let path = try placeForNew(key.id, of: vault)
    try Self.makeFolders(above: path)
    try write(key, to: path)
    let back = try read(path)
    guard back.id == key.id else {
      throw VaultError(.io, "the device key was not written as it is", hint: "check the disk at \(path)")
    }
  }

  /// Removes the key file, and the directory of the vault with its last key.
  public func deleteKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) {
    let path = path(of: key, vault)
    if let next = nextPath(of: key) {
      if try exists(next) {
        guard unsafe unlink(next) == 0 || errno == ENOENT else { throw Self.failure("remove", path: next) }
        try Self.synchronizeFolder(of: next)
      }
      // One named file holds each key in turn, so it is removed only if it really holds this key. A file that cannot be
      // read now may hold the vault's present key: it stays.
      guard holds(path, key: key) else { return }
    }
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw Self.failure("remove", path: path) }
    if case .folder = place { witness(of: key, in: vault).remove() }
    try Self.synchronizeFolder(of: path)
    // With the last key of a vault, its directory goes; one that is not empty stays.
    if case .folder = place { unsafe rmdir(Self.parent(of: path)) }
  }

  /// Removes an empty file in the place of a named key: a process was killed before it wrote the key. Only a file of this user that no
  /// other user may read, with one name.
  func removeEmptyFile() {
    guard case .file(let path) = place, isLeftEmpty(path) else { return }
    unsafe unlink(path)
  }

  private func isLeftEmpty(_ path: String) -> Bool {
    var entry = stat()
    return unsafe lstat(path, &entry) == 0 && entry.st_mode == S_IFREG | 0o600
      && entry.st_uid == geteuid() && entry.st_size == 0 && entry.st_nlink == 1
  }

  /// Replaces a key file that the caller named, in one step. Until then the new key waits beside that file.
  ///
  /// The new key stays there if the named file holds anything other than `old`: another vault's key, or the key of a
  /// rotation that another process has finished since.
  public func promoteKey(_ key: DeviceKeyID, replacing old: DeviceKeyID, of vault: VaultID) throws(VaultError)
  {
    guard let next = nextPath(of: key), try exists(next) else { return }
    let path = path(of: key, vault)
    if try exists(path) { guard holds(path, key: old) else { return } }
    guard unsafe rename(next, path) == 0 else { throw Self.failure("replace", path: path) }
    try Self.synchronizeFolder(of: path)
  }

  /// Where a restore puts the old vault's key, next to a named file; `nil` for a directory of keys, where that key
  /// keeps its own name.
  public var pathBeforeRestore: String? {
    guard case .file(let file) = place else { return nil }
    return file + SideFileName.beforeRestore
  }

  /// After a restore, moves the new key to the named file if that file holds the replaced vault's key. The replaced key
  /// stays beside the file, for the old vault. A file that holds anything else stays, because it may hold another
  /// vault's key; then the new key still waits beside the file.
  package func promoteRestoredKey(_ key: DeviceKeyID, over old: DeviceKeyID, of vault: VaultID)
    throws(VaultError)
  {
    guard let next = nextPath(of: key), let aside = pathBeforeRestore, try exists(next) else { return }
    let path = path(of: key, vault)
    if try exists(path) {
      guard holds(path, key: old) else { return }
      try link(path, as: aside, purpose: "keep the old device key as")
    }
    guard unsafe rename(next, path) == 0 else { throw Self.failure("replace", path: path) }
    try Self.synchronizeFolder(of: path)
  }

  /// Before another key replaces the key in a named file, gives that key its own file beside the named one, where it is
  /// found by its id. Does nothing in a directory of keys, or if the named file holds something else.
  package func setAside(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) {
    let path = path(of: key, vault)
    guard let own = nextPath(of: key), holds(path, key: key) else { return }
    if !holds(own, key: key) { try link(path, as: own, purpose: "keep the old device key as") }
    try Self.synchronizeFolder(of: own)
  }

  /// Gives a file a second name; no error if an interrupted attempt already did.
  private func link(_ path: String, as other: String, purpose: String) throws(VaultError) {
    if unsafe Glibc.link(path, other) == 0 { return }
    let problem = errno
    var (one, two) = (stat(), stat())
    if problem == EEXIST, unsafe lstat(path, &one) == 0, unsafe lstat(other, &two) == 0,
      one.st_dev == two.st_dev, one.st_ino == two.st_ino
    {
      return
    }
    errno = problem
    throw Self.failure(purpose, path: other)
  }

  /// The place of a new key, which is never the place of another key. It is beside a named file that holds a key, or beside which a key
  /// of this vault waits already.
  ///
  /// - Throws: ``VaultError/Code/vaultExists`` if the named file is of another kind, ``VaultError/Code/sideFile`` if its name belongs to
  ///   another file.
  private func placeForNew(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> String {
    let path = path(of: key, vault)
    guard let next = nextPath(of: key) else { return path }
    let isThere = try exists(path)
    if isThere {
      let (hasKey, isBeside) = (try hasKey(path), try !keys(of: vault).isEmpty)
      if hasKey || isBeside { return next }
    }
    if let owner = try SideFileName.owner(of: path, exists: exists) {
      throw VaultError(StorageError.nameOfSideFile(path, owner: owner))
    }
    guard isThere else { return path }
    if isLeftEmpty(path) { return next }
    throw taken ?? Self.failure("use", path: path)
  }

  /// Whether a file that is there has a key. One that cannot be read is an error.
  private func hasKey(_ path: String) throws(VaultError) -> Bool {
    do throws(VaultError) { _ = try read(path) } catch {
      guard error.underlying == nil else { throw error }
      return false
    }
    return true
  }

  private func nextPath(of key: DeviceKeyID) -> String? {
    guard case .file(let file) = place else { return nil }
    return file + "." + key.hexadecimal + ".new"
  }

  /// Whether a key waits beside the named file that it is to replace.
  package func isWaiting(_ key: DeviceKeyID) -> Bool {
    guard let next = nextPath(of: key) else { return false }
    return holds(next, key: key)
  }

  /// Whether anything has that name, including a link. If the name cannot be checked, that is an error, never absence.
  private func exists(_ path: String) throws(VaultError) -> Bool {
    var entry = stat()
    if unsafe lstat(path, &entry) == 0 { return true }
    guard errno == ENOENT || errno == ENOTDIR else { throw Self.failure("look at", path: path) }
    return false
  }

  /// The final place of a key. Before that, a key may wait beside a named file, as `<file>.<key id>.new`.
  public func path(of key: DeviceKeyID, _ vault: VaultID) -> String {
    switch place {
    case .folder(let folder): folder + "/" + vault.hexadecimal + "/" + key.hexadecimal + ".key"
    case .file(let file): file
    }
  }

  /// The file that the key is in now: its own, or the one beside a named file where it waits.
  package func presentPath(of key: DeviceKeyID, _ vault: VaultID) -> String {
    if let next = nextPath(of: key), (try? exists(next)) ?? false { return next }
    return path(of: key, vault)
  }

  package func read(_ path: String) throws(VaultError) -> DeviceKey {
    if let number = SecretInput.descriptor(named: path) { return try DescriptorKeys.key(number, path: path) }
    let file: Int32
    do throws(SecretInput.FileFault) { file = try SecretInput.open(path, followsLinks: !isFolder) } catch {
      throw Self.unreadable(path, error)
    }
    defer { close(file) }
    return try DeviceKey(try readAll(file, byteCount: 33, path: path), in: path)
  }

  private static func unreadable(_ path: String, _ fault: SecretInput.FileFault) -> VaultError {
    switch fault {
    case .failed(ENOENT), .failed(ENOTDIR):
      return VaultError(
        .deviceKeyAbsent, "the device key is absent: there is no \(path)", hint: .putKeyBack,
        underlying: ENOENT)
    case .failed(ELOOP): return VaultError(.deviceKeyDamaged, "the device key is a symbolic link: \(path)")
    case .failed(let number), .unexaminable(let number):
      return VaultError(
        .deviceKeyUnavailable,
        unsafe "the device key cannot be read: \(path): \(String(cString: strerror(number)))",
        hint: "check owner and mode of the file", underlying: number)
    case .notRegular: return VaultError(.deviceKeyDamaged, "the device key is not a file: \(path)")
    case .foreign:
      return VaultError(
        .deviceKeyUnavailable, "the device key belongs to another user: \(path)", hint: .nameKey)
    case .replaceable(let part):
      return VaultError(
        .deviceKeyUnavailable, "the device key can be replaced by others, who decide about \(part): \(path)",
        hint: "name a file whose directories and links only you or root can change")
    case .exposed:
      var entry = stat()
      let count = unsafe stat(path, &entry) == 0 ? Int(entry.st_size) : 0
      return VaultError(
        .deviceKeyUnavailable, "the device key is open to others: \(path)",
        hint: adviceForOpenFile(path, byteCount: count))
    }
  }

  /// Refuses to replace a key that something else provides: a credential, a secret of a container, a descriptor.
  private func refuseGiven() throws(VaultError) {
    guard case .file(let path) = place else { return }
    var (entry, medium) = (stat(), statvfs())
    let isThere = unsafe lstat(path, &entry) == 0
    let isReadOnly = unsafe statvfs(path, &medium) == 0 && medium.f_flag & UInt(ST_RDONLY) != 0
    let isForeign = entry.st_mode & S_IFMT == S_IFLNK || entry.st_uid != geteuid()
    guard SecretInput.descriptor(named: path) != nil || isThere && (isForeign || isReadOnly) else { return }
    throw VaultError(
      .policy, "the device key \(path) is provided from outside, so it cannot be replaced there",
      hint: "replace it where it is made: with its file as the device key, and then provide the new one")
  }

  /// The advice for a file that other users may read. The path can be wrong, and the file can belong to another
  /// program.
  private static func adviceForOpenFile(_ path: String, byteCount: Int) -> Hint {
    guard byteCount == 32 else {
      return .nameKeyOfRightSize
    }
    return OwnFile.isOurs(path) ? .closeKeyFile(path) : .moveKeyHome
  }

  private func readAll(_ file: Int32, byteCount: Int, path: String) throws(VaultError) -> SecretBytes {
    var failed: Int32 = 0
    let bytes = SecretBytes(capacity: byteCount) { output in
      unsafe output.withUnsafeMutableBytes { buffer, count in
        while count < buffer.count {
          let got = unsafe Glibc.read(file, buffer.baseAddress! + count, buffer.count - count)
          if got > 0 {
            count += got
          } else if got < 0, errno == EINTR {
            continue
          } else {
            if got < 0 { failed = errno }
            break
          }
        }
      }
    }
    guard failed == 0 else {
      throw VaultError(.deviceKeyUnavailable, "the device key cannot be read: \(path)", underlying: failed)
    }
    return bytes
  }

  /// Writes a new file only, durable before this returns. After a failure, removes what was written.
  private func write(_ key: borrowing DeviceKey, to path: String) throws(VaultError) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      if errno == EEXIST {
        throw VaultError(.vaultExists, "there is a device key already: \(path)", hint: .nameOtherKeyPlace)
      }
      throw Self.failure("create", path: path)
    }
    let isWritten = key.expose { span in
      errno = ENOSPC  // a short write means this, and sets no error of its own
      return unsafe span.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) == $0.count }
    }
    let isSynchronized = isWritten && fsync(file) == 0
    let problem = errno
    close(file)
    guard isSynchronized else {
      unsafe unlink(path)
      errno = problem
      throw Self.failure("write", path: path)
    }
    try Self.synchronizeFolder(of: path)
  }

  package static func makeFolders(above path: String) throws(VaultError) {
    let parts = path.split(separator: "/").dropLast()
    var folder = path.hasPrefix("/") ? "" : "."
    for part in parts {
      folder += "/" + part
      let isNew = unsafe mkdir(folder, 0o700) == 0
      guard isNew || errno == EEXIST else { throw Self.failure("create", path: folder) }
      // If a power cut removed the directory, the key would be lost.
      if isNew { try synchronizeFolder(of: folder) } else { try synchronizeOlderFolder(of: folder) }
    }
  }

  /// The process that made an existing directory may have died before the directory's name was durable. Skips
  /// directories that we could not have made, and those that cannot be synchronized.
  private static func synchronizeOlderFolder(of path: String) throws(VaultError) {
    guard unsafe access(parent(of: path), W_OK) == 0 else { return }
    do throws(VaultError) { try synchronizeFolder(of: path) } catch {
      if error.underlying == EIO { throw error }
    }
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func synchronizeFolder(of path: String) throws(VaultError) {
    let folder = parent(of: path)
    let directory = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw Self.failure("open", path: folder) }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw Self.failure("synchronize", path: folder) }
  }

  package static func failure(_ verb: String, path: String) -> VaultError {
    VaultError(
      .io, "cannot \(verb) \(path): \(reason())", hint: "check permissions and free space", underlying: errno)
  }

  private static func reason() -> String { unsafe String(cString: strerror(errno)) }
}
