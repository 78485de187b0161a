package import VaultKit

/// A clock that tells a test of each look at the time since boot: who waits for others looks again and again.
package struct WatchedClock: VaultClock {
  private let clock: any VaultClock
  private let onLook: @Sendable () -> Void

  package init(_ clock: any VaultClock, onLook: @escaping @Sendable () -> Void) {
    (self.clock, self.onLook) = (clock, onLook)
  }

  package func now() -> Instant { clock.now() }
  package func bootID() -> [UInt8]? { clock.bootID() }
  package func kernelBootMilliseconds() -> UInt64? { clock.kernelBootMilliseconds() }

  package func bootMilliseconds() -> UInt64 {
    onLook()
    return clock.bootMilliseconds()
  }
}
