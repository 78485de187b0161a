import CLinux
import Glibc

/// Wakes the main thread at a time since boot, also out of a suspend that lasted longer.
package final class BootTimer: Sendable {
  package let descriptor: Int32

  /// - Throws: ``AgentStartError``.
  package init() throws(AgentStartError) {
    descriptor = clinux_boot_timer()
    guard descriptor >= 0 else { throw .system("making a timer", errno) }
  }

  deinit { close(descriptor) }

  /// - Parameter milliseconds: Since boot; nil for never. A time that has passed is now.
  func set(_ milliseconds: UInt64?) {
    // Zero is never.
    _ = clinux_set_boot_timer(descriptor, milliseconds.map { max($0, 1) } ?? 0)
  }
}
