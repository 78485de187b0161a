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
    if unsafe lstat(path, &about) == 0, isFile(FileStatus(about)) { return true }
    return FileStatus.fresh(path).map(isFile) ?? false
  }

  private func isFile(_ found: FileStatus) -> Bool {
    found.inode == inode && found.device == device && found.linkCount == 1
  }
}
