import CLinux
import Glibc
package import SecretMemory

/// Random bytes, written into secret memory: from the kernel, or from a test.
package struct RandomBytes: Sendable {
  private let fill: @Sendable (Int) throws(CommandError) -> SecretBytes

  package init(_ fill: @escaping @Sendable (Int) throws(CommandError) -> SecretBytes) { self.fill = fill }

  package func callAsFunction(_ count: Int) throws(CommandError) -> SecretBytes { try fill(count) }

  /// Those of the kernel; a failure is an error and never weaker bytes.
  package static let kernel = RandomBytes { count throws(CommandError) in
    try SecretBytes(capacity: count) { output throws(CommandError) in
      var failure: Int32 = 0
      unsafe output.withUnsafeMutableBytes { bytes, filled in
        while filled < count, failure == 0 {
          let part = min(256, count - filled)
          if unsafe clinux_random(bytes.baseAddress! + filled, part) == 0 {
            filled += part
          } else {
            failure = errno
          }
        }
      }
      guard failure == 0 else { throw .io("the kernel's random generator failed", errno: failure) }
    }
  }
}
