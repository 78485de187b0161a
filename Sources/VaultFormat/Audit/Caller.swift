import Glibc

/// A process that asks for something.
///
/// Each entry of the audit log names the process that wrote it. A program that serves other processes gives the one it
/// serves, and the entry then names both: see `Vault.asked(by:)`. Nothing proves the name of a caller: it is as reliable
/// as the program that gives it.
///
/// Callers are equal when all parts are equal. The kernel gives numbers of processes out again, so a program that serves others tells
/// them apart by ``started``: ``init(peerOf:)`` fills in all parts. The log keeps ``user``, ``process`` and ``executable``.
public struct Caller: Sendable, Hashable, CustomStringConvertible {
  /// The user id of the process.
  public let user: UInt32
  /// The process id.
  public let process: UInt32
  /// The path of the executable; empty if it is unknown. The log keeps 255 bytes of it.
  public let executable: String
  /// The group id of the process; `nil` if it is unknown, as for a caller from the log.
  public let group: UInt32?
  /// When the process started, in clock ticks since the machine was booted; `nil` if it is unknown, as for a caller from the log.
  public let started: UInt64?
  /// The first bytes of the executable's path, as the log stores them.
  package let executableBytes: [UInt8]

  /// The maximum length of a text in the log.
  package static let textByteCount = 255

  /// A process that the program knows by other means than a socket: the sender of a message, for example. For the peer of a socket, use
  /// ``init(peerOf:)``.
  ///
  /// - Parameters:
  ///   - executable: The path of its program; empty if it is unknown.
  ///   - group: Its group id.
  ///   - started: When it started, in clock ticks since the machine was booted (`/proc/PID/stat`, field 22). Without it, a later process
  ///     of the same number is the same caller.
  public init(
    user: UInt32, process: UInt32, executable: String = "", group: UInt32? = nil, started: UInt64? = nil
  ) {
    self.init(
      user: user, process: process, executable: executable, executableBytes: Self.logged(executable),
      group: group, started: started)
  }

  private init(
    user: UInt32, process: UInt32, executable: String, executableBytes: [UInt8], group: UInt32? = nil,
    started: UInt64? = nil
  ) {
    self.user = user
    self.process = process
    self.executable = executable
    self.executableBytes = executableBytes
    self.group = group
    self.started = started
  }

  /// This process.
  public static var current: Caller {
    Caller(
      user: getuid(), process: UInt32(getpid()), executable: ownExecutable,
      executableBytes: ownExecutableBytes)
  }

  /// The path of this program, read when it is first needed: most commands write no entry.
  private static let ownExecutable: String = {
    var path = [UInt8](repeating: 0, count: 255)
    let length = unsafe path.withUnsafeMutableBytes {
      unsafe readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    return length > 0 ? String(decoding: path[..<length], as: UTF8.self) : "unknown"
  }()
  private static let ownExecutableBytes = logged(ownExecutable)

  /// The program, the process and the user.
  public var description: String {
    "\(executable.isEmpty ? "unknown" : executable) (process \(process), user \(user))"
  }

  /// As many whole characters of the text as the log stores.
  private static func logged(_ text: String) -> [UInt8] {
    let bytes = text.utf8
    guard var end = bytes.index(bytes.startIndex, offsetBy: textByteCount, limitedBy: bytes.endIndex) else {
      return Array(bytes)
    }
    while end.samePosition(in: text.unicodeScalars) == nil { end = bytes.index(before: end) }
    return Array(bytes[..<end])
  }
}
