import CLinux
import Glibc

/// `<vault>.lock`: whoever makes a vault holds it, and removes it at the end.
enum FileLock {
  static func take(in place: borrowing VaultPath) throws(StorageError) -> Int32 {
    let name = place.name + ".lock"
    for _ in 0..<2_000 {
      let file = unsafe clinux_create(place.folder, name, O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw .creating(errno) }
      if flock(file, LOCK_EX | LOCK_NB) == 0, try isNamed(file, name: name, in: place) { return file }
      close(file)
      usleep(5_000)
    }
    throw .busy
  }

  static func release(_ file: Int32, in place: borrowing VaultPath) {
    unsafe unlinkat(place.folder, place.name + ".lock", 0)
    close(file)
  }

  /// False when the holder before us has removed the file meanwhile: a later one may have made it anew.
  private static func isNamed(
    _ file: Int32, name: String, in place: borrowing VaultPath
  ) throws(StorageError) -> Bool {
    var about = stat()
    guard unsafe fstat(file, &about) == 0, let named = try place.status(of: name) else { return false }
    return named.inode == UInt64(about.st_ino)
  }
}
