import Synchronization
public import VaultKit

/// A clock that does not advance by itself. A test moves it.
///
/// A vault reads two clocks: the wall clock, by which items expire and codes change, and the time since boot, by which
/// delays after wrong passcodes pass. Copies of a ``TestWorld`` share one clock.
public final class FixedClock: VaultClock {
  private struct Reading {
    var wall: Int64
    var boot: UInt64
    var bootID: [UInt8]?
  }
  private let reading: Mutex<Reading>

  /// A clock at a wall time, some time after boot. Without arguments: 2023-11-14 22:13:20 UTC, 1,000 s after boot.
  ///
  /// - Precondition: `sinceBoot` is not negative.
  public init(
    at wall: Instant = Instant(seconds: 1_700_000_000), sinceBoot: Duration = .seconds(1000)
  ) {
    let boot = UInt64(sinceBoot.milliseconds)
    reading = Mutex(
      Reading(wall: wall.milliseconds, boot: boot, bootID: [UInt8](repeating: 7, count: 16)))
  }

  /// The wall time.
  public func now() -> Instant { Instant(milliseconds: reading.withLock { $0.wall }) }
  package func bootMilliseconds() -> UInt64 { reading.withLock { $0.boot } }
  package func bootID() -> [UInt8]? { reading.withLock { $0.bootID } }

  /// Moves both clocks forward, to the millisecond.
  ///
  /// - Precondition: `time` is not negative. ``set(to:)`` sets the wall clock back.
  public func advance(by time: Duration) {
    precondition(time >= .zero, "FixedClock.advance(by:): a negative time")
    reading.withLock {
      $0.wall += time.milliseconds
      $0.boot += UInt64(time.milliseconds)
    }
  }

  /// Sets the wall clock only, also back.
  public func set(to wall: Instant) { reading.withLock { $0.wall = wall.milliseconds } }

  /// Simulates a reboot: the time since boot is zero, and the boot has another id.
  public func reboot() {
    reading.withLock {
      $0.boot = 0
      $0.bootID = $0.bootID.map { [$0[0] &+ 1] + $0.dropFirst() }
    }
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
