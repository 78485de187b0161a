import Glibc
package import SecretMemory

/// The bytes of a descriptor one by one, through a buffer in secret memory; or those of a secret.
package final class ByteReader {
  private let descriptor: Int32?
  private var chunk: SecretBytes
  private var position = 0
  private var end = 0
  /// The line of the next byte, from 1.
  package private(set) var line = 1

  package init(descriptor: Int32) {
    self.descriptor = descriptor
    chunk = SecretBytes(zeroes: 32 << 10)
  }

  /// Reads the first `count` bytes of a secret.
  package init(_ bytes: consuming SecretBytes, count: Int) {
    descriptor = nil
    chunk = bytes
    end = count
  }

  /// Reads a secret.
  package convenience init(_ bytes: consuming SecretBytes) {
    let count = bytes.byteCount
    self.init(bytes, count: count)
  }

  /// The next byte, left in place; `nil` at the end.
  package func peek() throws(TextError) -> UInt8? {
    if position == end { try refill() }
    guard position < end else { return nil }
    let position = position
    return chunk.expose { unsafe $0.unsafeLoad(fromByteOffset: position, as: UInt8.self) }
  }

  package func next() throws(TextError) -> UInt8? {
    let byte = try peek()
    if byte != nil { position += 1 }
    if byte == UInt8(ascii: "\n") { line += 1 }
    return byte
  }

  private func refill() throws(TextError) {
    guard let descriptor else { return }
    while true {
      guard DescriptorWait.mayRead(descriptor) else { throw .unreadable(errno: ECANCELED) }
      let got = unsafe chunk.modify { unsafe read(descriptor, $0.baseAddress, $0.count) }
      if got < 0, errno == EINTR { continue }
      if got < 0, errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&wait, 1, -1)
        continue
      }
      guard got >= 0 else { throw .unreadable(errno: errno) }
      (position, end) = (0, got)
      return
    }
  }
}
