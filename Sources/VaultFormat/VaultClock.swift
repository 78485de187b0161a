/// The clocks a vault reads.
package protocol VaultClock: Sendable {
  /// The wall clock.
  func now() -> Instant
  /// Milliseconds since boot, counting suspend (`CLOCK_BOOTTIME`).
  func bootMilliseconds() -> UInt64
  /// The 16 bytes of the kernel's boot id, or `nil` where it cannot be read.
  func bootID() -> [UInt8]?
  /// Whether the kernel says that a time service keeps the wall clock right.
  func isSynchronized() -> Bool
}
