import CLinux
import Glibc
import SecretMemory

/// One end of the connection between a command and the agent. Any thread may send; one at a time receives.
package final class AgentSocket: Sendable {
  /// For `poll`.
  package let descriptor: Int32
  private let closing: AgentDescriptors.Close

  /// Owns `descriptor`.
  ///
  /// - Parameter closing: Closes the descriptors that come with messages and that nothing takes.
  package init(
    owning descriptor: Int32, closing: @escaping AgentDescriptors.Close = { _ = Glibc.close($0) }
  ) {
    self.descriptor = descriptor
    self.closing = closing
  }

  deinit { close(descriptor) }

  /// Two ends of a connection within this process, for tests.
  ///
  /// - Throws: ``AgentMessageError/failed(_:)``.
  package static func pair() throws(AgentMessageError) -> (AgentSocket, AgentSocket) {
    var ends: [Int32] = [-1, -1]
    guard unsafe clinux_packet_pair(&ends) == 0 else { throw .failed(errno) }
    return (AgentSocket(owning: ends[0]), AgentSocket(owning: ends[1]))
  }

  /// Who made the other end, as the kernel noted it then; nil where it does not say.
  package var peer: (process: Int32, user: UInt32, group: UInt32)? {
    var (process, user, group): (pid_t, uid_t, gid_t) = (0, 0, 0)
    return unsafe clinux_peer(descriptor, &process, &user, &group) == 0 ? (process, user, group) : nil
  }

  /// Sends a message and copies of its descriptors.
  ///
  /// - Parameter waits: Whether to wait while the other end does not read; else ``AgentMessageError/failed(_:)`` with
  ///   EAGAIN.
  /// - Throws: ``AgentMessageError/gone``, ``AgentMessageError/tooLong``, ``AgentMessageError/failed(_:)``.
  package func send(_ packet: AgentPacket, waits: Bool = true) throws(AgentMessageError) {
    let bytes = try packet.bytes()
    let problem = bytes.expose { bytes in
      packet.descriptors.lend { descriptors in
        unsafe bytes.withUnsafeBytes { bytes in
          unsafe clinux_send_packet(
            descriptor, bytes.baseAddress, bytes.count, descriptors, descriptors.count, waits)
        }
      }
    }
    switch problem {
    case 0: return
    case EPIPE, ECONNRESET, ENOTCONN: throw .gone
    default: throw .failed(problem)
    }
  }

  /// The next message. Its descriptors are close-on-exec.
  ///
  /// - Parameter waits: Whether to wait for one.
  /// - Returns: nil if there is none yet.
  /// - Throws: Why the connection is of no more use; no descriptor of the packet is left open then.
  package func receive(waits: Bool = true) throws(AgentMessageError) -> AgentPacket? {
    var count = clinux_next_packet(descriptor, waits)
    // The other end has ended with packets that it had not read: this is told once, before what it has sent.
    if count < 0, errno == ECONNRESET { count = clinux_next_packet(descriptor, waits) }
    guard count != 0 else { throw .gone }
    guard count > 0 else {
      if errno == EAGAIN { return nil }
      throw errno == ECONNRESET ? .gone : .failed(errno)
    }
    guard count <= AgentMessages.longest else { throw .tooLong }
    return try take(count)
  }

  private func take(_ count: Int) throws(AgentMessageError) -> AgentPacket {
    var buffer = SecretBytes(zeroes: count)
    var came = [Int32](repeating: -1, count: Int(clinux_most_descriptors))
    var cameCount = 0
    var received = -1
    var problem: Int32 = 0
    // The other end can end between the two looks at the packet: this is told once, before what it has sent.
    for _ in 0..<2 {
      received = unsafe buffer.modify { bytes in
        unsafe clinux_receive_packet(descriptor, bytes.baseAddress, bytes.count, &came, &cameCount)
      }
      problem = errno
      guard received < 0, problem == ECONNRESET else { break }
    }
    let descriptors = AgentDescriptors(owning: Array(came[..<cameCount]), closing: closing)
    guard received == count else { throw received >= 0 || problem == EMSGSIZE ? .tooLong : .failed(problem) }
    return try buffer.expose { (bytes) throws(AgentMessageError) in
      try AgentPacket(bytes, descriptors: descriptors)
    }
  }

  /// Whether the other end is still there. A process that was waited for has none.
  package var hasPeer: Bool {
    var state = pollfd(fd: descriptor, events: 0, revents: 0)
    return unsafe poll(&state, 1, 0) == 0
  }

  /// Ends the connection, whoever holds its ends.
  package func finish() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Ends the connection for both processes, with what has come and was not read. The descriptors in it end in the way of this socket,
  /// not with the socket: then the kernel would end them, on the thread that closes it.
  package func end() {
    discard(1000)
    finish()
    discard(1000)
  }

  private func discard(_ most: Int) {
    var byte: UInt8 = 0
    var came = [Int32](repeating: -1, count: Int(clinux_most_descriptors))
    for _ in 0..<most {
      var cameCount = 0
      errno = 0
      let count = unsafe clinux_receive_packet(descriptor, &byte, 1, &came, &cameCount)
      guard count > 0 || cameCount > 0 || errno == EMSGSIZE || errno == EMFILE else { return }
      for descriptor in came[..<cameCount] { closing(descriptor) }
    }
  }
}
