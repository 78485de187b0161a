import CLinux
package import CommandLineKit
import Glibc
import VaultWords

/// Names in folders. A vault file itself is never opened here: closing it would end the locks of this process.
package enum FilePlace {
  /// Whether there is anything of that name, a link too.
  ///
  /// - Throws: exit 13 where that cannot be told: what cannot be looked at is not absent.
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

  /// Exchanges the names of a complete new vault and the old one, in one step. When it throws, nothing is changed, as
  /// far as the system reported.
  package static func exchange(_ old: String, with new: String) throws(CommandError) {
    // A restored vault is one file. A log beside it would stay behind, and its last commit with it.
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

  /// Gives the old vault the name under which it is kept, durably.
  static func setAside(_ old: String, as aside: String) throws(CommandError) {
    guard unsafe clinux_rename_to_free(old, aside) == 0 else {
      throw .io("naming the old vault \(printable(aside))", errno: errno)
    }
    try synchronizeFolder(of: aside)
  }

  /// Removes a vault that is in no one's use, with what SQLite keeps beside it.
  static func remove(vault path: String) {
    // The file last: while it is there, what lies beside it is known for what it is.
    for suffix in companions + [""] { unsafe unlink(path + suffix) }
  }

  /// Removes a file that was never a vault under its own name. It does no harm if it stays.
  static func removeDebris(_ path: String) { unsafe unlink(path) }

  /// Whether a program has the vault open: the last one to close it removes these files.
  static func isInUse(vault path: String) throws(CommandError) -> Bool {
    for suffix in companions where try exists(path + suffix) { return true }
    return false
  }

  /// What the last write to a file left: another write leaves another stamp.
  struct Stamp: Equatable {
    fileprivate let inode: UInt
    fileprivate let byteCount, seconds, nanoseconds: Int
  }

  /// The stamp of a file that is not opened for it. Waits until the clock of the file system has moved on since the last write,
  /// or a later one could leave the same time.
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

  /// While this lives, nobody else opens the vault at `path`: a program that tries waits, and gives up once the name leads to
  /// another file.
  struct Hold: ~Copyable {
    private let descriptor: Int32

    /// - Throws: `nil` when somebody has the vault open.
    init?(vault path: String) throws(CommandError) {
      descriptor = unsafe clinux_hold_database(path)
      guard descriptor < 0 else { return }
      guard errno == EAGAIN || errno == EACCES else { throw .io("locking \(printable(path))", errno: errno) }
      return nil
    }

    /// Does nothing; called at the end of what it is held for.
    func keep() {}

    deinit { close(descriptor) }
  }

  private static let companions = ["-wal", "-shm", "-journal"]

  /// Makes new files and names in the folder of `path` durable.
  static func synchronizeFolder(of path: String) throws(CommandError) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .io("opening the folder of \(printable(path))", errno: errno) }
    defer { close(descriptor) }
    // EINVAL: the file system has nothing to do for a folder.
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw .io("writing the folder of \(printable(path))", errno: errno)
    }
  }
}
