import CLinux
import Glibc
import VaultKit

/// A terminal of this user, on which the agent can ask.
package struct PersonsTerminal: Sendable, Equatable {
  /// Absolute.
  package let path: String
  /// The session that it controls, and when its leader started; nil for a terminal that a person has named.
  private let session: Session?

  private struct Session: Sendable, Equatable {
    let leader: Int32
    let started: UInt64
  }

  /// The terminal of a path. It can be there later: ``isThere`` looks.
  package init(path: String) { (self.path, session) = (path, nil) }

  /// The terminal that controls a process, as the kernel names it. The process does not say it itself.
  ///
  /// - Parameter started: When the process started: another one can have got its number.
  /// - Returns: nil for a process without one, or with one that is not this user's.
  package init?(controlling process: Int32, started: UInt64?) {
    guard let status = ProcessStatus(of: process), started == nil || started == status.started,
      let (major, minor) = status.terminal, let leader = ProcessStatus(of: status.session),
      let path = Self.names(major, minor).first(where: {
        Self.device(at: $0).map { $0 == (major, minor) } ?? false
      })
    else { return nil }
    self.path = path
    session = Session(leader: status.session, started: leader.started)
  }

  /// Whether it is a terminal of this user, and still that of its session. A pseudo-terminal that was closed can have given its number
  /// to another one.
  package var isThere: Bool {
    guard let (major, minor) = Self.device(at: path), Self.isTerminal(path) else { return false }
    guard let session else { return true }
    guard let leader = ProcessStatus(of: session.leader), leader.started == session.started,
      let terminal = leader.terminal
    else { return false }
    return terminal == (major, minor)
  }

  /// The paths under which a system has a terminal of that number.
  private static func names(_ major: UInt32, _ minor: UInt32) -> [String] {
    [major == 136 ? "/dev/pts/\(minor)" : "/dev/tty\(minor)", "/dev/char/\(major):\(minor)", "/dev/console"]
  }

  /// The device number of a character device of this user; nil for anything else.
  private static func device(at path: String) -> (UInt32, UInt32)? {
    var about = stat()
    guard unsafe stat(path, &about) == 0, about.st_mode & S_IFMT == S_IFCHR, about.st_uid == geteuid() else {
      return nil
    }
    let number = UInt64(about.st_rdev)
    return (clinux_device_major(number), clinux_device_minor(number))
  }

  private static func isTerminal(_ path: String) -> Bool {
    let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return isatty(descriptor) == 1
  }
}

extension PersonsTerminal {
  /// The terminal that controls the process of a command.
  init?(controlling command: Caller) {
    self.init(controlling: Int32(bitPattern: command.process), started: command.started)
  }
}
