import CLinux
import Glibc

/// Where a vault lies: its folder, held open so that it cannot be exchanged, and its name therein.
///
/// Nothing here opens the vault file. POSIX locks vanish when a process closes any descriptor of a locked file, and
/// a commit that SQLite had acknowledged was lost that way: so the file is only looked at, and SQLite alone opens it.
struct VaultPath: ~Copyable {
  /// A descriptor opened with `O_PATH`.
  let folder: Int32
  /// The folder's path, absolute and without symbolic links.
  let folderPath: String
  let name: String

  /// - Throws: ``StorageError/missing`` when the folder does not exist.
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

  /// The path to hand to SQLite.
  var full: String { path(of: name) }

  func path(of name: String) -> String { folderPath == "/" ? "/" + name : folderPath + "/" + name }

  /// What SQLite keeps beside a database file.
  static let companions = ["-wal", "-shm", "-journal"]

  /// What lies under `name`, links not followed; nil when nothing does.
  func status(of name: String) throws(StorageError) -> FileStatus? {
    var about = stat()
    if unsafe fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(about) }
    guard errno == ENOENT else { throw .cannotOpen(errno: errno) }
    return nil
  }

  /// Whether this process may write what lies under `name`, `.` being the folder.
  func isWritable(_ name: String) -> Bool { unsafe faccessat(folder, name, W_OK, AT_EACCESS) == 0 }

  /// The folder's part and the last component of a path.
  static func split(_ path: String) throws(StorageError) -> (folder: String, name: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard let name = parts.last, !["", ".", ".."].contains(name), !path.utf8.contains(0) else {
      throw .refused(.notAFileName)
    }
    let folder = parts.dropLast().joined(separator: "/")
    return (folder.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : folder, String(name))
  }

  private static func resolve(_ folder: String) throws(StorageError) -> String {
    guard let resolved = unsafe realpath(folder, nil) else {
      throw errno == ENOENT ? .missing : .cannotOpen(errno: errno)
    }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}
