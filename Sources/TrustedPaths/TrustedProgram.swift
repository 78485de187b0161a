import Glibc

/// An open file of a program. What is checked is what is started, even if another file gets the same path.
package struct TrustedProgram: ~Copyable {
  package let descriptor: Int32
  package let path: String

  /// Why a program is not started.
  package enum Flaw: Error, Equatable, Sendable {
    /// There is no such file.
    case missing
    /// It cannot be opened; the raw value is an errno.
    case closed(Int32)
    case notAProgram
    case foreignOwner
    /// Its mode lets others change it.
    case changeableByOthers
    /// Others decide which file its path names.
    case replaceable(TrustedPath.Flaw)
  }

  /// The path of a program beside the running one; nil where the system does not say which that is.
  package static func path(beside name: String) -> String? {
    guard let own = TrustedPath.target(of: "/proc/self/exe"), own.hasPrefix("/"),
      let slash = own.lastIndex(of: "/")
    else { return nil }
    return own[...slash] + name
  }

  /// - Parameter path: Absolute.
  /// - Throws: Why another user could have put it there or could change it.
  package init(_ path: String) throws(Flaw) {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { throw errno == ENOENT || errno == ENOTDIR ? .missing : .closed(errno) }
    if let flaw = Self.flaw(of: file) ?? TrustedPath.flaw(of: path, leadingTo: file).map({ .replaceable($0) })
    {
      close(file)
      throw flaw
    }
    (descriptor, self.path) = (file, path)
  }

  deinit { close(descriptor) }

  private static func flaw(of file: Int32) -> Flaw? {
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return .notAProgram }
    guard status.st_uid == 0 || status.st_uid == geteuid() else { return .foreignOwner }
    return status.st_mode & (S_IWGRP | S_IWOTH) == 0 ? nil : .changeableByOthers
  }
}
