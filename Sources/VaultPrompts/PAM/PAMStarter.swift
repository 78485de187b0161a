import CLinux
import Glibc
import PAMMessages
import VaultKit

/// The process of root that starts `vault-pam` for a keeper, as the keeper sees it: one end of a socket (docs/decisions/0052).
///
/// PAM's modules verify a login only with the rights of root, which a keeper does not have. `vault-keeper` leaves that process behind. It
/// starts a helper for one person alone, whom it knows from root, and passes it the connection that it gets here.
package struct PAMStarter: Sendable {
  private let socket: Int32

  /// - Parameter socket: It stays open for as long as the process runs.
  package init(on socket: Int32) { self.socket = socket }

  /// - Parameter number: What root has put into the environment of the keeper: the number of a descriptor.
  /// - Returns: nil for what is no socket of root's.
  package init?(number: String?) {
    var (process, user, group) = (pid_t(), uid_t(), gid_t())
    guard let socket = number.flatMap({ Int32($0) }),
      unsafe clinux_peer(socket, &process, &user, &group) == 0,
      user == 0
    else { return nil }
    // For no program that this one starts.
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    self.init(on: socket)
  }

  /// - Throws: If the process has ended.
  func requireProcess() throws(VaultError) {
    var wait = pollfd(fd: socket, events: 0, revents: 0)
    if unsafe poll(&wait, 1, 0) > 0 { throw .noPAMStarter(ECONNRESET) }
  }

  /// Asks root which program a process of the person runs: the kernel does not say it to another user, as a keeper is.
  ///
  /// - Returns: nil where root does not know it, or does not answer at once.
  package func executable(of process: Int32) -> String? {
    var ends: [Int32] = [-1, -1]
    guard unsafe clinux_packet_pair(&ends) == 0 else { return nil }
    defer { for end in ends where end >= 0 { close(end) } }
    let number = UInt32(bitPattern: process)
    var question = [PAMMessages.program] + (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    guard unsafe clinux_send_packet(socket, &question, question.count, [ends[1]], 1, false) == 0 else {
      return nil
    }
    close(ends[1])
    ends[1] = -1
    var wait = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&wait, 1, Self.patience) > 0 else { return nil }
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe path.withUnsafeMutableBytes {
      unsafe recv(ends[0], $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
    }
    return count > 0 ? String(decoding: path[..<count], as: UTF8.self) : nil
  }

  /// Milliseconds.
  private static let patience: Int32 = 2_000

  /// Has root start a helper.
  ///
  /// - Returns: This end of the connection to it.
  func start() throws(VaultError) -> PAMChannel {
    var ends: [Int32] = [-1, -1]
    guard unsafe clinux_packet_pair(&ends) == 0 else {
      throw VaultError(.io, "no socket for vault-pam", underlying: errno)
    }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    let channel = PAMChannel(owning: ends[0])
    defer { close(ends[1]) }
    var start = PAMMessages.start
    let problem = unsafe clinux_send_packet(socket, &start, 1, [ends[1]], 1, false)
    guard problem != EAGAIN else { throw .pamBusy }
    guard problem == 0 else { throw .noPAMStarter(problem) }
    return channel
  }
}

extension VaultError {
  /// Another program of the person may have used up what there is.
  static var pamBusy: VaultError {
    VaultError(
      .busy, "too many login passwords are being verified at the same time",
      hint: "try again in a few seconds")
  }

  /// - Parameter code: The error number of the socket; nil where root has left no such process.
  static func noPAMStarter(_ code: Int32? = nil) -> VaultError {
    VaultError(
      .verificationUnavailable,
      code == nil
        ? "root has left no process here that verifies login passwords"
        : "the process of root that verifies login passwords has ended",
      hint: "as root: start the keeper again", underlying: code)
  }
}
