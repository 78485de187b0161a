import CLinux
import Glibc

/// The lock that excludes all connections to a vault file, for one transaction of a store that cannot make the files beside it.
///
/// Such a store reads the file without the locks of SQLite. While it holds this lock, no process has the vault open, so nothing
/// changes what it reads.
final class DatabaseHold {
  private let file: Int32
  private(set) var isTaken = false

  /// Opens the file, and takes no lock yet.
  init(_ place: borrowing VaultPath) throws(StorageError) {
    file = unsafe clinux_create(place.folder, place.name, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0)
    guard file >= 0 else { throw .cannotOpen(errno: errno) }
  }

  deinit {
    release()
    if file >= 0 { OpenVaultFiles.close(file) }
  }

  /// - Returns: False while a process, this one included, has the vault open or holds this lock.
  /// - Throws: If the file system has no such locks.
  func take() throws(StorageError) -> Bool {
    if clinux_lock_database(file) == 0 {
      isTaken = true
      return true
    }
    guard errno == EAGAIN || errno == EACCES || errno == EINTR else { throw .io(code: 0, errno: errno) }
    return false
  }

  func release() {
    guard isTaken else { return }
    _ = clinux_unlock_database(file)
    isTaken = false
  }
}
