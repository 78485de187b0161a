import Glibc

/// The name under which a vault was opened, and the file that it led to then.
///
/// SQLite writes to the open file, but finds the files beside it by name. When the name no longer leads to that file
/// (it was moved, replaced, removed, or opened by others under a second name), a write is lost or goes to another
/// vault.
struct OpenedName: Sendable {
  private let path: String
  let device: UInt64
  let inode: UInt64

  init(_ path: String, file: FileStatus) {
    self.path = path
    device = file.device
    inode = file.inode
  }

  /// The file, among those that are open in this process.
  var entry: OpenVaultFiles.Entry { OpenVaultFiles.Entry(path, device: device, inode: inode) }

  /// - Throws: ``StorageError/moved(_:)`` unless the name leads to the open file, and is its only name.
  func check() throws(StorageError) {
    guard isRight else { throw .moved(path) }
  }

  /// Whether the name leads to the open file, and is its only name.
  var isRight: Bool {
    var about = stat()
    return unsafe fstatat(AT_FDCWD, path, &about, AT_SYMLINK_NOFOLLOW) == 0 && UInt64(about.st_ino) == inode
      && UInt64(about.st_dev) == device && about.st_nlink == 1
  }
}
