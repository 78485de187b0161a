import Dispatch

/// The clocks a vault reads.
package protocol VaultClock: Sendable {
  /// The wall clock.
  func now() -> Instant
  /// Milliseconds since boot, counting suspend (`CLOCK_BOOTTIME`).
  func bootMilliseconds() -> UInt64
  /// The 16 bytes of the kernel's boot id, or `nil` where it cannot be read.
  func bootID() -> [UInt8]?
  /// Milliseconds since boot as the kernel counts them, for what must not believe a clock that was faked for this process; `nil`
  /// where the process has another boot clock than the machine.
  func kernelBootMilliseconds() -> UInt64?
  /// Calls the body once, as soon as the time has passed, on a thread that may wait for a file. The clock may stand still while
  /// the machine sleeps.
  func call(after milliseconds: UInt64, _ body: @escaping @Sendable () -> Void)
}

extension VaultClock {
  package func kernelBootMilliseconds() -> UInt64? { bootMilliseconds() }

  package func call(after milliseconds: UInt64, _ body: @escaping @Sendable () -> Void) {
    let time = DispatchTime.now() + .milliseconds(Int(clamping: milliseconds))
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: time, execute: body)
  }
}
