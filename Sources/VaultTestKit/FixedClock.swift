import Synchronization
package import VaultKit

/// A clock that does not advance by itself. A test moves it.
package final class FixedClock: VaultClock {
  private struct Reading {
    var wall: Int64
    var boot: UInt64
    var bootID: [UInt8]?
    var isSynchronized = false
  }
  private let reading: Mutex<Reading>

  /// A clock at a wall time in milliseconds since 1970, some time after boot.
  package init(milliseconds: Int64 = 1_700_000_000_000, boot: UInt64 = 1_000_000) {
    reading = Mutex(Reading(wall: milliseconds, boot: boot, bootID: [UInt8](repeating: 7, count: 16)))
  }

  package func now() -> Instant { Instant(milliseconds: reading.withLock { $0.wall }) }
  package func bootMilliseconds() -> UInt64 { reading.withLock { $0.boot } }
  package func isSynchronized() -> Bool { reading.withLock { $0.isSynchronized } }
  package func bootID() -> [UInt8]? { reading.withLock { $0.bootID } }

  /// Moves both clocks forward.
  package func advance(milliseconds: Int64) {
    reading.withLock {
      $0.wall += milliseconds
      $0.boot += UInt64(milliseconds)
    }
  }

  /// Sets the wall clock only.
  package func setWall(milliseconds: Int64) { reading.withLock { $0.wall = milliseconds } }

  /// Sets whether the kernel reports a time service.
  package func setSynchronized(_ isSynchronized: Bool) {
    reading.withLock { $0.isSynchronized = isSynchronized }
  }

  /// Simulates a reboot.
  package func reboot() {
    reading.withLock {
      $0.boot = 0
      $0.bootID = $0.bootID.map { [$0[0] &+ 1] + $0.dropFirst() }
    }
  }
}
