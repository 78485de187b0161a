import CLinux
import Glibc

/// Where the socket of the agent is: `agent` in a directory `vaultctl` of the directory for what ends with the session.
///
/// Both ends use the socket only if nobody but this user could have put it there: the directory is ours, has the mode 0700 and is
/// no link, the socket is ours, and the kernel says that the other end is a process of ours.
package struct AgentPlace: Sendable, Equatable {
  /// The directory of the socket.
  package let directory: String
  /// The path of the socket.
  package var socket: String { directory + "/agent" }

  package init(directory: String) { self.directory = directory }

  /// The directory for what ends with the session of this user, where no variable names it.
  package static var standardRuntimeDirectory: String { "/run/user/\(geteuid())" }

  /// - Parameters:
  ///   - runtime: `$XDG_RUNTIME_DIR`.
  ///   - standard: The directory that is used without it; nil for none.
  /// - Returns: nil where there is neither.
  package init?(runtime: String?, standard: String?) {
    // Ignore relative values, as the XDG Base Directory Specification requires.
    if let runtime, runtime.hasPrefix("/") {
      directory = runtime + "/vaultctl"
      return
    }
    guard let standard, let about = Self.status(standard), about.st_mode & S_IFMT == S_IFDIR,
      Self.isOurs(about),
      about.st_mode & 0o7777 == 0o700
    else { return nil }
    directory = standard + "/vaultctl"
  }

  /// Why nothing uses the socket.
  package enum Flaw: Error, Equatable, Sendable {
    /// What is named is a link.
    case isLink(String)
    /// It is no directory, or no socket.
    case isOther(String)
    /// It belongs to another user, or a process of another user listens there.
    case isForeign(String)
    /// Other users can reach what is in the directory.
    case isExposed(String)
    /// Nothing listens at the socket: an agent ended without removing it.
    case isDead(String)
    /// The system call failed with this error number.
    case failed(String, Int32)
  }

  /// How many seconds a command waits while many others connect at the same time.
  private static let patience: Int32 = 5

  /// A connection to the agent.
  ///
  /// - Returns: nil if there is no socket.
  package func connect() throws(Flaw) -> AgentSocket? {
    guard try hasDirectory(), let about = try Self.look(at: socket) else { return nil }
    guard about.st_mode & S_IFMT == S_IFSOCK else { throw .isOther(socket) }
    guard Self.isOurs(about) else { throw .isForeign(socket) }
    let descriptor = unsafe clinux_connect_packets(socket, Self.patience)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT: return nil
      case ECONNREFUSED: throw .isDead(socket)
      case let code: throw .failed(socket, code)
      }
    }
    let connection = AgentSocket(owning: descriptor)
    guard let peer = connection.peer, peer.user == geteuid() else { throw .isForeign(socket) }
    return connection
  }

  /// Whether the directory is there.
  ///
  /// - Throws: Why it is not used.
  package func hasDirectory() throws(Flaw) -> Bool {
    guard let about = try Self.look(at: directory) else { return false }
    guard about.st_mode & S_IFMT == S_IFDIR else { throw .isOther(directory) }
    guard Self.isOurs(about) else { throw .isForeign(directory) }
    guard about.st_mode & 0o7777 == 0o700 else { throw .isExposed(directory) }
    return true
  }

  /// Makes the directory unless it is there.
  ///
  /// - Throws: Why it is not used.
  package func makeDirectory() throws(Flaw) {
    if unsafe mkdir(directory, 0o700) != 0, errno != EEXIST { throw .failed(directory, errno) }
    guard try hasDirectory() else { throw .failed(directory, ENOENT) }
  }

  /// - Returns: nil if there is nothing of that name.
  /// - Throws: If it is a link, or cannot be examined.
  private static func look(at path: String) throws(Flaw) -> stat? {
    guard let about = status(path) else {
      guard errno == ENOENT || errno == ENOTDIR else { throw .failed(path, errno) }
      return nil
    }
    guard about.st_mode & S_IFMT != S_IFLNK else { throw .isLink(path) }
    return about
  }

  private static func status(_ path: String) -> stat? {
    var about = stat()
    return unsafe lstat(path, &about) == 0 ? about : nil
  }

  private static func isOurs(_ about: stat) -> Bool { about.st_uid == geteuid() }
}
