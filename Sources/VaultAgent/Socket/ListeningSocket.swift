import CLinux
package import CommandLineKit
import Glibc
import VaultWords

/// The socket on which the agent listens: its own, or that which the service manager has made.
///
/// An own socket is made under the lock of a file beside it, which the agent holds until it ends. So of two agents one finds out,
/// and a socket that is left from an agent that was killed is replaced by one process alone. A person can remove or rename the directory
/// all the same, so that another agent starts there: an agent removes its own socket alone, and looks whether commands still find it.
package final class ListeningSocket: Sendable {
  package let descriptor: Int32
  /// nil for one of the service manager, which keeps it.
  private let path: String?
  /// Which file the socket of this agent is; nil for one of the service manager, and where its path already names nothing.
  private let file: FileIdentity?
  private let lock: Int32

  /// Makes the socket in the directory, which is ours alone.
  ///
  /// - Parameters:
  ///   - path: Absolute.
  ///   - patience: How many tenths of a second it waits for an agent that has the lock and no socket: it is starting, or ending.
  /// - Throws: ``AgentStartError``.
  package convenience init(making path: String, patience: Int = 30) throws(AgentStartError) {
    let lock = try Self.lock(beside: path, patience: patience)
    do throws(AgentStartError) { self.init(try Self.listen(at: path), at: path, lock: lock) } catch {
      close(lock)
      throw error
    }
  }

  private init(_ descriptor: Int32, at path: String?, lock: Int32) {
    (self.descriptor, self.path, self.lock) = (descriptor, path, lock)
    file = path.flatMap(Self.found)
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

  /// Whether this agent has made it.
  package var isOwn: Bool { path != nil }

  /// Whether a command finds it: its path names this socket. That of the service manager is always taken as found.
  ///
  /// An error other than that the path names nothing can pass, so it says nothing.
  package var isFound: Bool {
    guard let path else { return true }
    if let found = Self.found(at: path) { return found == file }
    return errno != ENOENT && errno != ENOTDIR
  }

  /// No process finds it any more. Those that have connected can still be accepted. The socket of another agent stays.
  package func hide() {
    guard let path, let file, Self.found(at: path) == file else { return }
    _ = unsafe unlink(path)
  }

  /// The file that the path itself names, without following a link; nil with errno set if there is none.
  private static func found(at path: String) -> FileIdentity? {
    var about = stat()
    guard unsafe lstat(path, &about) == 0 else { return nil }
    return FileIdentity(device: UInt64(about.st_dev), inode: UInt64(about.st_ino))
  }

  /// Nobody can connect any more, and another agent can begin.
  deinit {
    hide()
    close(descriptor)
    if lock >= 0 { close(lock) }
  }

  /// Takes the lock of the path.
  ///
  /// - Throws: ``AgentStartError/isRunning``; ``AgentStartError/isLost`` if the agent that has the lock still has no socket in the end.
  private static func lock(beside path: String, patience: Int) throws(AgentStartError) -> Int32 {
    for _ in 0...patience {
      if let lock = try lockNow(beside: path) { return lock }
      guard found(at: path) == nil else { throw .isRunning }
      usleep(100_000)
    }
    throw .isLost(path)
  }

  /// - Returns: nil if another process has the lock, or the file that was locked no longer has the name.
  private static func lockNow(beside path: String) throws(AgentStartError) -> Int32? {
    let name = path + ".lock"
    let file = unsafe open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw .system("opening \(printable(name))", errno) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let problem = errno
      close(file)
      guard problem == EWOULDBLOCK else { throw .system("locking \(printable(name))", problem) }
      return nil
    }
    // The file can have been removed, or renamed with its directory, before it was locked.
    guard let locked = FileIdentity(of: file), locked == found(at: name) else {
      close(file)
      return nil
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
