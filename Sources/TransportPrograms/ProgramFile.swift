import Glibc
import TrustedPaths
import VaultKit

/// An open program file. What is checked is what is started, even if another file gets the same path.
struct ProgramFile: ~Copyable {
  let descriptor: Int32
  let path: String

  /// - Throws: ``VaultError/Code/network`` for a file that cannot be started, or that another user could have changed or replaced.
  init(_ path: String) throws(VaultError) {
    if let flaw = TrustedPath.flaw(of: path) { throw Self.error(of: path, flaw) }
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else {
      let code = errno
      throw .transport(
        path, code == ENOENT || code == ENOTDIR ? "does not exist" : "cannot be opened",
        hint: "name a program that you may read and start", underlying: code
      ).final()
    }
    if let (flaw, hint) = Self.flaw(of: file) {
      close(file)
      throw .transport(path, flaw, hint: hint).final()
    }
    if let flaw = TrustedPath.flaw(of: path, leadingTo: file) {
      close(file)
      throw Self.error(of: path, flaw)
    }
    (descriptor, self.path) = (file, path)
  }

  deinit { close(descriptor) }

  private static func error(of path: String, _ flaw: TrustedPath.Flaw) -> VaultError {
    let part = VisibleText.escaped(flaw.part)
    switch flaw.reason {
    case .ofKernel:
      return .transport(
        path, "is in \(part), where one path is another file in each process",
        hint: "name the program by the path at which it is installed")
    case .foreignOwner:
      return .transport(
        path, "can be replaced: \(part) belongs to another user",
        hint: "move the program to a directory of root or of you")
    case .changeableByOthers:
      return .transport(
        path, "can be replaced: others can write to the directory \(part)",
        hint: "allow only its owner to write to that directory, or move the program")
    case .replaced:
      return .transport(path, "was replaced just now", hint: "look at who replaced it, and try again")
    }
  }

  private static func flaw(of file: Int32) -> (String, Hint)? {
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return ("is not a program", "name a program that you may read and start")
    }
    guard status.st_uid == 0 || status.st_uid == geteuid() else {
      return ("belongs to another user", "a transport belongs to root or to you")
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      return ("can be changed by others", "allow only its owner to write to it")
    }
    guard status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH) != 0 else {
      return ("is not executable", "make it executable, if it is the right file")
    }
    // The kernel would not end such a program together with this process.
    guard status.st_mode & (S_ISUID | S_ISGID) == 0 else {
      return ("runs as another user or group", "name a program without the set-user-ID and set-group-ID bits")
    }
    return nil
  }
}
