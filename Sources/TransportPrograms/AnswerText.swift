import Glibc
import SecretMemory
import TextFormats

/// What a program has written, in secret memory.
struct AnswerText: ~Copyable {
  private var bytes = SecretBytes(zeroes: 8 << 10)
  private var byteCount = 0
  private let limit: Int
  /// Whether every writer has closed the pipe.
  private(set) var isAtEnd = false

  init(limit: Int) { self.limit = limit }

  /// Reads what is there. It does not wait.
  ///
  /// - Returns: Whether it is more than the limit.
  mutating func read(from descriptor: Int32) -> Bool {
    while !isAtEnd {
      // One byte more than the limit, which tells that there is more.
      if byteCount == bytes.byteCount { bytes = bytes.enlarged(to: min(2 * byteCount, limit + 1)) }
      let start = byteCount
      let got = unsafe bytes.modify { all in
        unsafe Glibc.read(descriptor, all.baseAddress! + start, all.count - start)
      }
      if got < 0, errno == EINTR { continue }
      if got < 0, errno == EAGAIN { break }
      isAtEnd = got <= 0
      byteCount += max(got, 0)
      if byteCount > limit { return true }
    }
    return false
  }

  /// What was read until now.
  func copy() -> SecretBytes { bytes.expose { SecretBytes(copying: $0.extracting(0..<byteCount)) } }
}
