import CLinux
import Glibc

/// Wakes the main thread, which waits in `poll`.
package final class WakeUp: Sendable {
  /// Readable after ``signal()``.
  package let descriptor: Int32
  /// For a signal handler.
  let writingEnd: Int32

  /// - Throws: ``AgentStartError``.
  package init() throws(AgentStartError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe clinux_pipe(&ends) == 0 else { throw .system("making a pipe", errno) }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    (descriptor, writingEnd) = (ends[0], ends[1])
  }

  deinit {
    close(descriptor)
    close(writingEnd)
  }

  /// A full pipe wakes as well.
  package func signal() {
    var byte: UInt8 = 0
    _ = unsafe write(writingEnd, &byte, 1)
  }

  /// Takes what was signalled.
  func clear() {
    var bytes: UInt64 = 0
    while unsafe read(descriptor, &bytes, 8) > 0 {}
  }
}
