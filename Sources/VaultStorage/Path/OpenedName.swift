import Glibc

/// The name under which a vault was opened, and the file that it led to then.
///
/// SQLite writes to the open file, but finds the files beside it by the name. Once the name leads elsewhere (the file
/// was moved, replaced, removed, or given a second name under which others open it), a write is lost or ends in another
/// vault.
struct OpenedName: Sendable {
  private let path: String
  private let device: UInt64
  let inode: UInt64

  init(_ path: String, file: FileStatus) {
    self.path = path
    device = file.device
    inode = file.inode
  }

  /// - Throws: ``StorageError/moved(_:)`` unless the name leads to the file, and is its only one.
  func check() throws(StorageError) {
    guard isRight else { throw .moved(path) }
  }

  /// Whether the name leads to the file, and is its only one.
  var isRight: Bool {
    var about = stat()
    return unsafe fstatat(AT_FDCWD, path, &about, AT_SYMLINK_NOFOLLOW) == 0 && UInt64(about.st_ino) == inode
      && UInt64(about.st_dev) == device && about.st_nlink == 1
  }
}
