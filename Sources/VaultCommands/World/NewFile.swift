import CLinux
import CommandLineKit
import Glibc
import VaultKit
import VaultWords

/// A new file of mode 0600 that gets its name when it is whole, for what is not sealed. A process that ends before that, however it
/// ends, leaves nothing that can be read, and nothing that looks whole.
///
/// It has no name until then. A file system without such files gets a draft beside the final name, which an error and the signals of
/// ``Interruption`` remove; after SIGKILL the next file of the same name removes it. From the naming on, signals are held.
final class NewFile: UnfinishedFile {
  package let descriptor: Int32
  private let path: String
  /// Nil for a file without a name.
  private let draft: String?
  private let interruption: Interruption
  private var isDone = false

  /// - Throws: exit 8 if the path exists, 13 if the file cannot be made.
  init(_ path: String, interruption: Interruption) throws(CommandError) {
    try FilePlace.refuseSideFile(path)
    guard try !FilePlace.exists(path) else { throw FilePlace.taken(path) }
    self.interruption = interruption
    interruption.watch()
    self.path = path
    let unnamed = unsafe clinux_unnamed_file(FilePlace.folder(of: path))
    if unnamed >= 0 {
      (descriptor, draft) = (unnamed, nil)
    } else {
      guard [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) else {
        throw .io("making \(printable(path))", errno: errno)
      }
      let name = FilePlace.beside(path, prefix: ".", suffix: ".unfinished")
      descriptor = try Self.makeDraft(name, for: path)
      draft = name
    }
    // The umask can also remove permission bits of the owner.
    fchmod(descriptor, 0o600)
  }

  deinit {
    if !isDone, let draft { _ = unsafe unlink(draft) }
    close(descriptor)
  }

  /// The file and its name are on the disk when this returns. If it throws, there is no file.
  package func finish() throws(CommandError) {
    while fsync(descriptor) != 0 {
      guard errno == EINTR else { throw .io("writing \(printable(path))", errno: errno) }
    }
    do throws(VaultError) { try interruption.hold() } catch { throw CommandError(describing: error) }
    let isNamed =
      if let draft { unsafe clinux_rename_to_free(draft, path) == 0 } else {
        unsafe clinux_name_file(descriptor, path) == 0
      }
    guard isNamed else {
      throw errno == EEXIST ? FilePlace.taken(path) : .io("naming \(printable(path))", errno: errno)
    }
    isDone = true
    do throws(CommandError) { try FilePlace.synchronizeFolder(of: path) } catch {
      _ = unsafe unlink(path)
      throw error
    }
  }

  /// A draft that another process writes stays; one that was left is replaced.
  private static func makeDraft(_ draft: String, for path: String) throws(CommandError) -> Int32 {
    var problem = EEXIST
    for _ in 0..<2 {
      let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard file < 0 else {
        if flock(file, LOCK_EX | LOCK_NB) == 0 { return file }
        // Another process has just taken it for one that was left.
        close(file)
        break
      }
      problem = errno
      guard problem == EEXIST, isLeft(draft) else { break }
      _ = unsafe unlink(draft)
    }
    throw problem == EEXIST ? FilePlace.taken(draft) : .io("making \(printable(path))", errno: problem)
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
