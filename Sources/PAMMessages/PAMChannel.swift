import Glibc
package import SecretMemory

/// One end of the connection: a SOCK_SEQPACKET socket, which keeps packets whole.
package struct PAMChannel: ~Copyable, Sendable {
  package let descriptor: Int32

  /// Owns `descriptor`.
  package init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  package enum Fault: Error {
    /// The other end is gone, or sends nothing more.
    case closed
    /// The other end is gone, and has not read everything that was sent to it.
    case unread
    /// A message is too long, or the socket is broken.
    case malformed
  }

  /// False when the other end is gone.
  package borrowing func send(_ message: [UInt8]) -> Bool {
    unsafe message.withUnsafeBytes { bytes in unsafe send(bytes) }
  }

  /// False when the other end is gone.
  package borrowing func send(answer: borrowing SecretBytes) -> Bool {
    let message = answer.expose { bytes in
      SecretBytes(capacity: bytes.byteCount + 1) { output in
        unsafe output.append(PAMMessages.answer, as: UInt8.self)
        output.append(copying: bytes)
      }
    }
    return message.expose { bytes in unsafe bytes.withUnsafeBytes { unsafe send($0) } }
  }

  /// The next message; nil when there is none yet and the socket does not block.
  package borrowing func receive() throws(Fault) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: PAMMessages.longest)
    let received = unsafe buffer.withUnsafeMutableBytes { bytes in unsafe receive(into: bytes) }
    guard let count = try received.get() else { return nil }
    return Array(buffer[..<count])
  }

  /// Waits for the answer to a question; nil when there will be none.
  package borrowing func receiveAnswer() -> SecretBytes? {
    var buffer = SecretBytes(zeroes: PAMMessages.longestAnswer + 1)
    let received = unsafe buffer.modify { bytes in unsafe receive(into: bytes) }
    guard case .success(let count?) = received else { return nil }
    return buffer.expose { bytes in
      guard unsafe bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == PAMMessages.answer else {
        return nil
      }
      return SecretBytes(copying: bytes.extracting(1..<count))
    }
  }

  /// Whether the other end is gone. Unread messages may still be there.
  package var isClosed: Bool {
    var wait = pollfd(fd: descriptor, events: 0, revents: 0)
    return unsafe poll(&wait, 1, 0) > 0
  }

  /// Ends the connection, also for copies of this end in other processes.
  package borrowing func finish() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}

extension PAMChannel {
  private borrowing func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
    while true {
      let sent = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      if sent == bytes.count { return true }
      guard sent < 0, errno == EINTR else { return false }
    }
  }

  /// The byte count of the message, 1 or more, because an empty packet looks like the end. Nil when there is no
  /// message yet.
  private borrowing func receive(into buffer: UnsafeMutableRawBufferPointer) -> Result<Int?, Fault> {
    while true {
      // With MSG_TRUNC, the count is that of the packet, even where it was cut.
      let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_TRUNC))
      if count > 0 { return count <= buffer.count ? .success(count) : .failure(.malformed) }
      if count == 0 { return .failure(.closed) }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .success(nil)
      case ECONNRESET: return .failure(.unread)
      default: return .failure(.malformed)
      }
    }
  }
}
