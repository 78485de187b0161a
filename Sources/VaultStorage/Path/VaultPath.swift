import CLinux
import Glibc

/// The place of a vault: its directory, held open so that it cannot be replaced, and its name in that directory.
///
/// This type never opens the vault file. POSIX locks vanish when a process closes any descriptor of a locked file,
/// and a commit that SQLite had confirmed was once lost that way. So the file is only looked at, and SQLite alone
/// opens it.
struct VaultPath: ~Copyable {
  /// A descriptor opened with `O_PATH`.
  let folder: Int32
  /// The path of the directory, absolute and without symbolic links.
  let folderPath: String
  let name: String

  /// - Throws: ``StorageError/missing`` when the directory does not exist.
  static func locate(_ path: String) throws(StorageError) -> VaultPath {
    let (folder, name) = try split(path)
    let resolved = try resolve(folder)
    let descriptor = unsafe clinux_hold_folder(resolved)
    guard descriptor >= 0 else { throw .cannotOpen(errno: errno) }
    return VaultPath(folder: descriptor, folderPath: resolved, name: name)
  }

  private init(folder: Int32, folderPath: String, name: String) {
    self.folder = folder
    self.folderPath = folderPath
    self.name = name
  }

  deinit { close(folder) }

  /// The path that SQLite opens.
  var full: String { path(of: name) }

  func path(of name: String) -> String { folderPath == "/" ? "/" + name : folderPath + "/" + name }

  /// Why no file can be made or filled in a directory, as an `errno`; nil where one can, or where this cannot be tried without a name.
  static func whyNothingCanBeMade(in folder: String) -> Int32? {
    let file = unsafe clinux_unnamed_file(folder)
    guard file >= 0 else { return [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) ? nil : errno }
    defer { close(file) }
    var page: UInt8 = 1
    return unsafe pwrite(file, &page, 1, 0) == 1 ? nil : errno
  }

  /// The status of what `name` names, without following links; nil when there is nothing.
  func status(of name: String) throws(StorageError) -> FileStatus? {
    var about = stat()
    if unsafe fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(about) }
    guard errno == ENOENT else { throw .cannotOpen(errno: errno) }
    return nil
  }

  /// The same, not as the kernel remembers it.
  func freshStatus(of name: String) throws(StorageError) -> FileStatus? {
    if let found = FileStatus.fresh(name, in: folder) { return found }
    guard errno == ENOENT else { throw .cannotOpen(errno: errno) }
    return nil
  }

  /// Whether this process may write what `name` names; `.` is the directory.
  func isWritable(_ name: String) -> Bool { unsafe clinux_may_write(folder, name) == 1 }

  /// The directory and the last component of a path.
  static func split(_ path: String) throws(StorageError) -> (folder: String, name: String) {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let name = String(slash.map { path[path.utf8.index(after: $0)...] } ?? path[...])
    guard !["", ".", ".."].contains(name), !path.utf8.contains(0) else { throw .refused(.notAFileName) }
    guard let slash else { return (".", name) }
    return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
  }

  private static func resolve(_ folder: String) throws(StorageError) -> String {
    guard let resolved = unsafe realpath(folder, nil) else {
      throw errno == ENOENT ? .missing : .cannotOpen(errno: errno)
    }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}
