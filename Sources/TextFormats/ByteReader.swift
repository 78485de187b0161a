import Glibc
package import SecretMemory

/// The bytes of a text one by one: of a descriptor, through a buffer in secret memory, or of a secret.
///
/// A byte order mark at the beginning is dropped. UTF-16 is refused as such, once: what comes after its first bytes is read as other bytes
/// are, so that a caller can go on to the next line.
package final class ByteReader {
  private let descriptor: Int32?
  private var chunk: SecretBytes
  private var position = 0
  private var end = 0
  private var isAtStart = true
  /// How many bytes were passed.
  private var offset = 0
  /// The line of the next byte, from 1.
  package private(set) var line = 1

  package init(descriptor: Int32) {
    self.descriptor = descriptor
    chunk = SecretBytes(zeroes: 32 << 10)
  }

  /// Reads the first `count` bytes of a secret.
  ///
  /// - Parameter dropsMark: Whether a byte order mark may be there: false for text whose bytes are signed.
  package init(_ bytes: consuming SecretBytes, count: Int, dropsMark: Bool = true) {
    descriptor = nil
    isAtStart = dropsMark
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
    if isAtStart { try skipMark() }
    if position == end { try refill() }
    guard position < end else { return nil }
    let byte = byte(at: position)
    // UTF-16 has a zero beside each character of ASCII.
    if byte == 0, offset < 2 {
      pass(1)
      throw Self.utf16
    }
    return byte
  }

  package func next() throws(TextError) -> UInt8? {
    let byte = try peek()
    if byte != nil { pass(1) }
    if byte == UInt8(ascii: "\n") { line += 1 }
    return byte
  }

  /// Drops a byte order mark. Reads no more than its first byte of a text that does not begin with one.
  private func skipMark() throws(TextError) {
    isAtStart = false
    for (count, expected) in [UInt8(0xEF), 0xBB, 0xBF].enumerated() {
      if position + count == end { try refill(keeping: count) }
      guard position + count < end else { return }
      let byte = byte(at: position + count)
      if count == 0, byte >= 0xFE { throw Self.utf16 }
      guard byte == expected else { return }
    }
    pass(3)
  }

  private func pass(_ count: Int) {
    position += count
    offset += count
  }

  private func byte(at position: Int) -> UInt8 {
    chunk.expose { unsafe $0.unsafeLoad(fromByteOffset: position, as: UInt8.self) }
  }

  private static var utf16: TextError {
    .malformed("the text begins as UTF-16, with a zero byte or a mark: save it as UTF-8")
  }

  /// - Parameter kept: How many bytes of the beginning stay, and are not read again.
  private func refill(keeping kept: Int = 0) throws(TextError) {
    guard let descriptor else { return }
    while true {
      guard DescriptorWait.mayRead(descriptor) else { throw .unreadable(errno: ECANCELED) }
      let got = unsafe chunk.modify { chunk in
        unsafe read(descriptor, chunk.baseAddress! + kept, chunk.count - kept)
      }
      if got < 0, errno == EINTR { continue }
      if got < 0, errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&wait, 1, -1)
        continue
      }
      guard got >= 0 else { throw .unreadable(errno: errno) }
      (position, end) = (0, kept + got)
      return
    }
  }
}
