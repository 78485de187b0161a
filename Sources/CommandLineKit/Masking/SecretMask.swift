import Glibc
package import SecretMemory

/// The secrets that are not to be seen in the output of a program, each with what finds it in a stream of bytes.
///
/// This stops accidents only: a program that writes a secret in another form, such as base64, is not stopped.
package final class SecretMask: Sendable {
  /// A shorter secret is in too much that is none.
  package static let shortest = 6
  /// What is written in the place of a secret.
  package static let text = "<concealed by vaultctl>"

  let patterns: [SecretPattern]

  /// - Parameter secrets: Line ends at the end of a secret are left out: programs drop them when they read a file.
  /// - Returns: `nil` if none of the secrets is long enough.
  package init?(_ secrets: [SharedSecret]) {
    patterns = secrets.compactMap(SecretPattern.init)
    guard !patterns.isEmpty else { return nil }
  }
}

/// One secret, with the lengths that the algorithm of Knuth, Morris and Pratt needs to look at each byte once.
final class SecretPattern: Sendable {
  private let secret: SharedSecret
  let byteCount: Int
  /// For each number of bytes from 1, how many bytes at their beginning are also those at their end, as `UInt32`. They tell where the
  /// secret repeats itself, so they are where it is.
  private let borders: SecretBytes

  init?(_ secret: SharedSecret) {
    byteCount = secret.expose(Self.lengthWithoutLineEnd)
    guard byteCount >= SecretMask.shortest else { return nil }
    self.secret = secret
    borders = secret.expose { [byteCount] in Self.borders(of: $0.extracting(0..<byteCount)) }
  }

  func expose<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R { try secret.expose(body) }

  /// Looks at a part of a stream.
  ///
  /// - Parameters:
  ///   - progress: How many bytes before the part are the beginning of the secret; afterwards, how many at the end of the part.
  ///   - found: Called with the offset behind each place where the secret is, in their order.
  func scan(_ part: RawSpan, progress: inout Int, found: (Int) -> Void) {
    secret.expose { secret in
      borders.expose { borders in
        unsafe part.withUnsafeBytes { part in
          unsafe secret.withUnsafeBytes { secret in
            unsafe borders.withUnsafeBytes { borders in
              unsafe Self.scan(
                part, for: UnsafeRawBufferPointer(rebasing: secret[..<byteCount]),
                borders.assumingMemoryBound(to: UInt32.self), &progress, found)
            }
          }
        }
      }
    }
  }

  private static func scan(
    _ part: UnsafeRawBufferPointer, for secret: UnsafeRawBufferPointer,
    _ borders: UnsafeBufferPointer<UInt32>, _ progress: inout Int, _ found: (Int) -> Void
  ) {
    guard let start = part.baseAddress else { return }
    var (index, state) = (0, progress)
    while index < part.count {
      if state == 0 {
        // Most of an output is none of the secret.
        guard let first = unsafe memchr(start + index, Int32(secret[0]), part.count - index) else { break }
        unsafe index = UnsafeRawPointer(first) - start
      }
      let byte = unsafe part[index]
      while state > 0, unsafe secret[state] != byte { unsafe state = Int(borders[state - 1]) }
      if unsafe secret[state] == byte { state += 1 }
      index += 1
      guard state == secret.count else { continue }
      found(index)
      unsafe state = Int(borders[state - 1])
    }
    progress = state
  }

  private static func borders(of secret: RawSpan) -> SecretBytes {
    var borders = SecretBytes(zeroes: secret.byteCount * MemoryLayout<UInt32>.stride)
    unsafe secret.withUnsafeBytes { secret in
      unsafe borders.modify { borders in
        let borders = unsafe borders.assumingMemoryBound(to: UInt32.self)
        var state = 0
        for index in 1..<secret.count {
          while state > 0, unsafe secret[state] != secret[index] { unsafe state = Int(borders[state - 1]) }
          if unsafe secret[state] == secret[index] { state += 1 }
          unsafe borders[index] = UInt32(state)
        }
      }
    }
    return borders
  }

  private static func lengthWithoutLineEnd(of secret: RawSpan) -> Int {
    var count = secret.byteCount
    while count > 0 {
      let last = unsafe secret.unsafeLoad(fromByteOffset: count - 1, as: UInt8.self)
      guard last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") else { break }
      count -= 1
    }
    return count
  }
}
