import CLinux
import DeviceKeys
import Glibc
import VaultFormat
import VaultStorage

/// Operations on the names of vault files. They never open a vault file, because closing it would end the locks of
/// this process.
package enum VaultNames {
  /// Whether anything has that name, including a link.
  ///
  /// - Throws: ``VaultError/Code/io`` if this cannot be determined: a file that cannot be examined is not absent.
  static func exists(_ path: String) throws(VaultError) -> Bool {
    var entry = stat()
    if unsafe lstat(path, &entry) == 0 { return true }
    guard errno == ENOENT || errno == ENOTDIR else { throw .failed("looking at \(path)") }
    return false
  }

  /// The directory of a path.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  static func taken(_ path: String) -> VaultError {
    VaultError(
      .fileExists, "there is something already: \(path)",
      hint: "move that one away; nothing was written")
  }

  /// The error for a name that belongs to another file, as ``SideFileName`` says; `nil` for a name of its own.
  ///
  /// - Parameter exists: Whether there is anything at a path.
  /// - Returns: ``VaultError/Code/sideFile``.
  package static func refusal<E: Error>(
    ofSideFile path: String, exists: (String) throws(E) -> Bool
  ) throws(E) -> VaultError? {
    let owner = try SideFileName.owner(of: path, exists: exists)
    return owner.map { VaultError(StorageError.nameOfSideFile(path, owner: $0)) }
  }

  /// Exchanges the names of a complete new vault and the old one, in one step. If this throws, nothing is changed, as
  /// far as the system reports.
  package static func exchange(_ old: String, with new: String) throws(VaultError) {
    // A restored vault is one file. A log beside it would keep its old name, so the vault would lose the last commit.
    for suffix in SideFileName.companions where try exists(new + suffix) {
      throw VaultError(
        .io, "the restored vault is in use or was not closed: there is \(new + suffix)",
        hint: "the vault was not changed; try again")
    }
    guard unsafe clinux_exchange(new, old) == 0 else {
      // EPERM too is what an old filter of system calls answers.
      if errno == EINVAL || errno == ENOSYS || errno == EPERM {
        throw VaultError(
          .unsupported,
          errno == EINVAL
            ? "the file system of \(old) cannot exchange two names in one step"
            : "the system denies the call 'renameat2', which exchanges two names in one step",
          hint: "the vault was not changed; to restore without its counters and attempts, move it away first"
        )
      }
      throw .failed("putting the restored vault into its place")
    }
  }

  /// Gives the old vault its final name, durably.
  static func keep(_ old: String, as aside: String) throws(VaultError) {
    guard unsafe clinux_rename_to_free(old, aside) == 0 else {
      throw .failed("naming the old vault \(aside)")
    }
    try synchronizeFolder(of: aside)
  }

  /// Gives a closed vault file a name that is free, durably.
  package static func move(_ path: String, to free: String) throws(VaultError) {
    guard unsafe clinux_rename_to_free(path, free) == 0 else { throw .failed("moving \(path) to \(free)") }
    try synchronizeFolder(of: free)
    try synchronizeFolder(of: path)
  }

  /// Makes the names in the folder of a path durable.
  package static func synchronizeFolder(of path: String) throws(VaultError) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .failed("opening the folder of \(path)") }
    defer { close(descriptor) }
    // EINVAL: the file system does not synchronize directories.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw .failed("writing the folder of \(path)") }
  }

  /// Makes a closed vault file and its name durable.
  static func synchronize(_ path: String) throws(VaultError) {
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { throw .failed("opening \(path)") }
    defer { close(file) }
    guard fsync(file) == 0 else { throw .failed("writing \(path)") }
    try synchronizeFolder(of: path)
  }

  /// Files beside a vault with the name of a vault or backup that is being made (`.NAME.new`), and whose making no process goes on with.
  package static func unfinished(beside path: String) throws(VaultError) -> [(file: String, name: String)] {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    return try FileProtector.names(in: folder.isEmpty ? "." : folder, beginningWith: ".").compactMap { name in
      guard name.hasSuffix(".new"), name.count > 5 else { return nil }
      let made = folder + name.dropFirst().dropLast(4)
      return (try? NewVaultPlace.isTaken(made)) == false ? (folder + name, made) : nil
    }
  }

  /// Removes a vault that no program uses, and the files that SQLite keeps beside it.
  static func remove(vault path: String) {
    // Remove the vault file last: while it exists, the files beside it can be recognized.
    for suffix in SideFileName.companions + [""] { unsafe unlink(path + suffix) }
  }

  /// Removes a file that was never a vault under its own name. If the removal fails, the file does no harm.
  static func removeDebris(_ path: String) { unsafe unlink(path) }

  /// Whether a program has the vault open. The last program that closes it removes the files beside it.
  static func isInUse(vault path: String) throws(VaultError) -> Bool {
    for suffix in SideFileName.companions where try exists(path + suffix) { return true }
    return false
  }

  /// Identifies the last write to a file. Another write leaves another stamp.
  struct Stamp: Equatable {
    fileprivate let inode: UInt
    fileprivate let byteCount, seconds, nanoseconds: Int
  }

  /// The stamp of a file, which is not opened. Waits until the clock of the file system has advanced after the last
  /// write; otherwise a later write could leave the same time.
  static func stamp(of path: String) throws(VaultError) -> Stamp {
    let stamp = try stampNow(of: path)
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    let age = (now.tv_sec - stamp.seconds) * 1_000_000_000 + now.tv_nsec - stamp.nanoseconds
    if abs(age) < 20_000_000 { usleep(20_000) }
    return stamp
  }

  static func stampNow(of path: String) throws(VaultError) -> Stamp {
    var entry = stat()
    guard unsafe lstat(path, &entry) == 0 else { throw .failed("looking at \(path)") }
    return Stamp(
      inode: entry.st_ino, byteCount: entry.st_size, seconds: entry.st_mtim.tv_sec,
      nanoseconds: entry.st_mtim.tv_nsec)
  }

  /// While this exists, no other program opens the vault at `path`. A program that tries waits, and stops trying once
  /// the name refers to another file.
  package struct Hold: ~Copyable {
    private let descriptor: Int32

    /// - Returns: `nil` if a program has the vault open, also if it is this one.
    package init?(vault path: String) throws(VaultError) {
      descriptor = unsafe clinux_hold_database(path)
      guard descriptor < 0 else { return }
      guard errno == EAGAIN || errno == EACCES else { throw .failed("locking \(path)") }
      return nil
    }

    /// Does nothing. A call marks the point until which the caller needs the hold.
    package func keep() {}

    /// Lends the descriptor of the file, which is complete: nobody has it open. It is open for reading and writing.
    package borrowing func lend<R: ~Copyable, E: Error>(
      _ body: (Int32) throws(E) -> R
    ) throws(E) -> R { try body(descriptor) }

    deinit { close(descriptor) }
  }
}

extension VaultError {
  /// A failed system call, named by what was being done.
  static func failed(_ doing: String) -> VaultError {
    let number = errno
    return VaultError(.io, unsafe "\(doing): \(String(cString: strerror(number)))", underlying: number)
  }
}
