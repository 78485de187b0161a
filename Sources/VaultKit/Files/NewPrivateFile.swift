import CLinux
import Glibc
import VaultFormat
import VaultStorage

/// A new file of mode 0600, where modes exist, that gets its name when it is whole. Works on any file system.
///
/// It has no name until then. A file system without such files gets a draft beside the final name, `.NAME.unfinished`, which an error
/// removes; after SIGKILL the next file of the same name removes it, where modes say that it is this user's. No directory is made.
package final class NewPrivateFile {
  /// Open for reading and writing.
  package let descriptor: Int32
  private let path: String
  /// Nil for a file without a name.
  private let draft: String?
  private var isDone = false

  /// A failed system call.
  package struct Failure: Error {
    package enum Step: Sendable { case making, writing, naming, openingFolder, writingFolder }
    package let step: Step
    /// What the step is about: the file, or what has the name of its draft.
    package let path: String
    /// The `errno`: `EEXIST` where there is something already.
    package let number: Int32
  }

  package init(_ path: String) throws(Failure) {
    let unnamed = unsafe clinux_unnamed_file(VaultNames.folder(of: path))
    if unnamed >= 0 {
      (descriptor, draft) = (unnamed, nil)
    } else {
      guard [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) else {
        throw Failure(step: .making, path: path, number: errno)
      }
      let name = Self.draft(of: path)
      descriptor = try Self.makeDraft(name, for: path)
      draft = name
    }
    self.path = path
    // The umask can also remove permission bits of the owner.
    fchmod(descriptor, 0o600)
  }

  deinit {
    if !isDone, let draft { _ = unsafe unlink(draft) }
    close(descriptor)
  }

  /// Whether others may read it: the file system has no modes, or does not keep them.
  package var isOpenToOthers: Bool {
    var about = stat()
    return unsafe fstat(descriptor, &about) == 0 && about.st_mode & 0o077 != 0
  }

  /// The file and its name are on the disk when this returns. If it throws, there is no file.
  ///
  /// - Parameter publishing: Called directly before the file gets its name.
  package func finish<E: Error>(
    publishing: () throws(E) -> Void, failing: (Failure) -> E
  ) throws(E) {
    while fsync(descriptor) != 0 {
      if errno == EINTR { continue }
      // Some file systems of FUSE do not synchronize.
      guard errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP else {
        throw failing(Failure(step: .writing, path: path, number: errno))
      }
      break
    }
    try publishing()
    let isNamed =
      if let draft { unsafe clinux_rename_to_free(draft, path) == 0 } else {
        unsafe clinux_name_file(descriptor, path) == 0
      }
    guard isNamed else { throw failing(Failure(step: .naming, path: path, number: errno)) }
    isDone = true
    do throws(Failure) { try synchronizeFolder() } catch {
      _ = unsafe unlink(path)
      throw failing(error)
    }
  }

  /// Makes the name durable.
  private func synchronizeFolder() throws(Failure) {
    let folder = unsafe open(VaultNames.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw Failure(step: .openingFolder, path: path, number: errno) }
    defer { close(folder) }
    // The file system does not synchronize directories.
    guard fsync(folder) == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP else {
      throw Failure(step: .writingFolder, path: path, number: errno)
    }
  }

  private static func draft(of path: String) -> String {
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    return folder + "." + path.dropFirst(folder.count) + ".unfinished"
  }

  /// A draft that another process writes stays; one that was left is replaced.
  private static func makeDraft(_ draft: String, for path: String) throws(Failure) -> Int32 {
    var problem = EEXIST
    for _ in 0..<2 {
      let file = unsafe open(draft, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard file < 0 else {
        if isFree(file) { return file }
        // Another process has just taken it for one that was left.
        close(file)
        break
      }
      problem = errno
      guard problem == EEXIST, isLeft(draft) else { break }
      _ = unsafe unlink(draft)
    }
    throw Failure(step: .making, path: problem == EEXIST ? draft : path, number: problem)
  }

  /// Whether no other process has the lock on a draft. Where there are no locks, none has.
  private static func isFree(_ file: Int32) -> Bool {
    flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
  }

  /// Whether it is a draft of this user alone, with one name, that no process writes.
  private static func isLeft(_ draft: String) -> Bool {
    let file = unsafe open(draft, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var status = stat()
    return unsafe fstat(file, &status) == 0 && status.st_mode == S_IFREG | 0o600 && status.st_nlink == 1
      && status.st_uid == geteuid() && flock(file, LOCK_EX | LOCK_NB) == 0
  }
}

extension VaultError {
  /// A failure to make a backup.
  init(_ failure: NewPrivateFile.Failure) {
    let (path, number) = (failure.path, failure.number)
    switch number {
    case EEXIST:
      self.init(
        .vaultExists, "there is something at \(path) already",
        hint: "choose another path, or move it away; nothing was written")
    case ENOSPC, EDQUOT, EFBIG: self.init(.full)
    default:
      self.init(
        .io, unsafe "the backup \(path) cannot be made: \(String(cString: strerror(number)))",
        hint: number == ENOENT
          ? "its directory does not exist, and none is made: mount the disk, or make the directory"
          : "check the path and its permissions; nothing was written", underlying: number)
    }
  }
}
