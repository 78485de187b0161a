import CLinux
package import CommandLineKit
import Glibc
import VaultWords

/// Operations on names in directories. They never open a vault file, because closing it would end the locks of this
/// process.
package enum FilePlace {
  /// Whether anything has that name, including a link.
  ///
  /// - Throws: exit 13 if this cannot be determined: a file that cannot be examined is not absent.
  static func exists(_ path: String) throws(CommandError) -> Bool {
    var entry = stat()
    if unsafe lstat(path, &entry) == 0 { return true }
    guard errno == ENOENT || errno == ENOTDIR else {
      throw .io("looking at \(printable(path))", errno: errno)
    }
    return false
  }

  static func taken(_ path: String) -> CommandError {
    CommandError(
      .alreadyExists, "there is something already: \(printable(path))",
      hint: "name another file, or move that one away; nothing was written", code: "fileExists")
  }

  /// Exchanges the names of a complete new vault and the old one, in one step. If this throws, nothing is changed, as
  /// far as the system reports.
  package static func exchange(_ old: String, with new: String) throws(CommandError) {
    // A restored vault is one file. A log beside it would keep its old name, so the vault would lose the last commit.
    for suffix in companions where try exists(new + suffix) {
      throw CommandError(
        .io, "the restored vault is in use or was not closed: there is \(printable(new + suffix))",
        hint: "the vault was not changed; try again")
    }
    guard unsafe clinux_exchange(new, old) == 0 else {
      if errno == EINVAL || errno == ENOSYS {
        throw CommandError(
          .unsupported, "the file system of \(printable(old)) cannot exchange two names in one step",
          hint: "the vault was not changed; to restore without its counters and attempts, move it away first"
        )
      }
      throw .io("putting the restored vault into its place", errno: errno)
    }
  }

  /// Gives the old vault its final name, durably.
  static func setAside(_ old: String, as aside: String) throws(CommandError) {
    guard unsafe clinux_rename_to_free(old, aside) == 0 else {
      throw .io("naming the old vault \(printable(aside))", errno: errno)
    }
    try synchronizeFolder(of: aside)
  }

  /// Removes a vault that no program uses, and the files that SQLite keeps beside it.
  static func remove(vault path: String) {
    // Remove the vault file last: while it exists, the files beside it can be recognized.
    for suffix in companions + [""] { unsafe unlink(path + suffix) }
  }

  /// Removes a file that was never a vault under its own name. If the removal fails, the file does no harm.
  static func removeDebris(_ path: String) { unsafe unlink(path) }

  /// Whether a program has the vault open. The last program that closes it removes the files beside it.
  static func isInUse(vault path: String) throws(CommandError) -> Bool {
    for suffix in companions where try exists(path + suffix) { return true }
    return false
  }

  /// Identifies the last write to a file. Another write leaves another stamp.
  struct Stamp: Equatable {
    fileprivate let inode: UInt
    fileprivate let byteCount, seconds, nanoseconds: Int
  }

  /// The stamp of a file, which is not opened. Waits until the clock of the file system has advanced after the last
  /// write; otherwise a later write could leave the same time.
  static func stamp(of path: String) throws(CommandError) -> Stamp {
    let stamp = try stampNow(of: path)
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    let age = (now.tv_sec - stamp.seconds) * 1_000_000_000 + now.tv_nsec - stamp.nanoseconds
    if abs(age) < 20_000_000 { usleep(20_000) }
    return stamp
  }

  static func stampNow(of path: String) throws(CommandError) -> Stamp {
    var entry = stat()
    guard unsafe lstat(path, &entry) == 0 else { throw .io("looking at \(printable(path))", errno: errno) }
    return Stamp(
      inode: entry.st_ino, byteCount: entry.st_size, seconds: entry.st_mtim.tv_sec,
      nanoseconds: entry.st_mtim.tv_nsec)
  }

  /// While this exists, no other program opens the vault at `path`. A program that tries waits, and stops trying once
  /// the name refers to another file.
  struct Hold: ~Copyable {
    private let descriptor: Int32

    /// - Returns: `nil` if a program has the vault open.
    init?(vault path: String) throws(CommandError) {
      descriptor = unsafe clinux_hold_database(path)
      guard descriptor < 0 else { return }
      guard errno == EAGAIN || errno == EACCES else { throw .io("locking \(printable(path))", errno: errno) }
      return nil
    }

    /// Does nothing. A call marks the point until which the caller needs the hold.
    func keep() {}

    deinit { close(descriptor) }
  }

  private static let companions = ["-wal", "-shm", "-journal"]

  /// Makes new files and names in the directory of `path` durable.
  static func synchronizeFolder(of path: String) throws(CommandError) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .io("opening the folder of \(printable(path))", errno: errno) }
    defer { close(descriptor) }
    // EINVAL: the file system does not synchronize directories.
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw .io("writing the folder of \(printable(path))", errno: errno)
    }
  }
}
