import CLinux
package import CommandLineKit
import Glibc
import VaultWords

/// The socket on which the agent listens: its own, or that which the service manager has made.
///
/// An own socket is made under the lock of a file beside it, which the agent holds until it ends. So of two agents one finds out,
/// and a socket that is left from an agent that was killed is replaced by one process alone.
package final class ListeningSocket: Sendable {
  package let descriptor: Int32
  /// nil for one of the service manager, which keeps it.
  private let path: String?
  private let lock: Int32

  /// Makes the socket in the directory, which is ours alone.
  ///
  /// - Parameter path: Absolute.
  /// - Throws: ``AgentStartError``.
  package convenience init(making path: String) throws(AgentStartError) {
    let lock = try Self.lock(beside: path)
    do throws(AgentStartError) { self.init(try Self.listen(at: path), at: path, lock: lock) } catch {
      close(lock)
      throw error
    }
  }

  private init(_ descriptor: Int32, at path: String?, lock: Int32) {
    (self.descriptor, self.path, self.lock) = (descriptor, path, lock)
  }

  /// Takes the socket of the service manager: one descriptor, the first one, for this process (sd_listen_fds(3)).
  ///
  /// - Returns: nil where the service manager gave none.
  /// - Throws: ``AgentStartError`` for other descriptors than one listening socket of packets.
  package convenience init?(inherited environment: Environment, by process: Int32, first: Int32 = 3)
    throws(AgentStartError)
  {
    guard let holder = environment["LISTEN_PID"], Int32(holder) == process,
      let count = environment["LISTEN_FDS"], count != "0"
    else { return nil }
    guard count == "1", clinux_is_listening_packets(first) == 1 else { throw .wrongSocket }
    _ = fcntl(first, F_SETFD, FD_CLOEXEC)
    _ = fcntl(first, F_SETFL, fcntl(first, F_GETFL) | O_NONBLOCK)
    self.init(first, at: nil, lock: -1)
  }

  /// No process finds it any more. Those that have connected can still be accepted.
  package func hide() { if let path { _ = unsafe unlink(path) } }

  /// Nobody can connect any more, and another agent can begin.
  deinit {
    if let path { _ = unsafe unlink(path) }
    close(descriptor)
    if lock >= 0 { close(lock) }
  }

  private static func lock(beside path: String) throws(AgentStartError) -> Int32 {
    let file = unsafe open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw .system("opening \(printable(path)).lock", errno) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let problem = errno
      close(file)
      throw problem == EWOULDBLOCK ? .isRunning : .system("locking \(printable(path)).lock", problem)
    }
    return file
  }

  private static func listen(at path: String) throws(AgentStartError) -> Int32 {
    try removeLeftOver(path)
    let descriptor = unsafe clinux_listen_packets(path)
    guard descriptor >= 0 else { throw .system("listening at \(printable(path))", errno) }
    return descriptor
  }

  /// Removes the socket of an agent that was killed. A socket that answers belongs to another program.
  private static func removeLeftOver(_ path: String) throws(AgentStartError) {
    var found = stat()
    guard unsafe lstat(path, &found) == 0 else { return }
    guard found.st_mode & S_IFMT == S_IFSOCK, found.st_uid == geteuid() else { throw .occupied(path) }
    let connection = unsafe clinux_connect_packets(path, 0)
    let problem = errno
    if connection >= 0 { close(connection) }
    // EAGAIN: too many wait to be accepted.
    guard connection < 0, problem != EAGAIN else { throw .isRunning }
    guard problem == ECONNREFUSED else { throw .occupied(path) }
    _ = unsafe unlink(path)
  }
}
