import Glibc

/// Names in folders. A vault file itself is never opened here: closing it would end the locks of this process.
enum FilePlace {
  /// Whether there is anything of that name, a link too.
  static func exists(_ path: String) -> Bool {
    var entry = stat()
    return unsafe lstat(path, &entry) == 0
  }

  static func taken(_ path: String) -> CommandError {
    CommandError(
      .alreadyExists, "there is something already: \(printable(path))",
      hint: "name another file, or move that one away; nothing was written", code: "fileExists")
  }

  /// Puts `new` in the place of `old`, which is `aside` from then on. Both names change at once: nobody finds neither.
  static func exchange(_ old: String, for new: String, aside: String) throws(CommandError) {
    guard unsafe link(old, aside) == 0 else {
      if errno == EEXIST { throw taken(aside) }
      throw .io("moving the old vault aside", errno: errno)
    }
    guard unsafe rename(new, old) == 0 else {
      let problem = errno
      unsafe unlink(aside)
      throw .io("putting the restored vault into its place", errno: problem)
    }
    try synchronizeFolder(of: old)
  }

  /// Whether both are names of one file.
  static func isSame(_ first: String, _ second: String) -> Bool {
    var (one, other) = (stat(), stat())
    guard unsafe lstat(first, &one) == 0, unsafe lstat(second, &other) == 0 else { return false }
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino
  }

  /// Removes one of several names of a file.
  static func removeName(_ path: String) throws(CommandError) {
    guard unsafe unlink(path) == 0 else { throw .io("removing \(printable(path))", errno: errno) }
  }

  /// Removes a vault that is in no one's use, with what SQLite keeps beside it.
  static func remove(vault path: String) {
    // The file last: while it is there, what lies beside it is known for what it is.
    for suffix in companions + [""] { unsafe unlink(path + suffix) }
  }

  /// Whether a program has the vault open: the last one to close it removes these files.
  static func isInUse(vault path: String) -> Bool { companions.contains { exists(path + $0) } }

  private static let companions = ["-wal", "-shm"]

  /// What was made or renamed in the folder of `path` is there after a crash too.
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
