package import VaultFormat

/// The time by which items expire.
///
/// The wall clock can be set back, and then an item that has expired would open again. So the vault remembers the
/// highest wall time that a commit has seen (head row, offset 176), and an item has expired when the wall clock or the
/// highest time has passed its date. A clock that is wrong for a moment must not raise the highest time permanently. So
/// while the kernel does not say that a time service keeps the clock right, the highest time rises, within one opening
/// of the vault, by at most a day more than the boot clock. While the wall clock is further ahead than this, the vault
/// deletes no expired item.
package struct VaultTime: Sendable {
  /// How much more than the boot clock the highest time may rise, in milliseconds.
  package static let leeway: Int64 = 24 * 3600 * 1000

  private let clock: any VaultClock
  private let bootAtOpening: UInt64
  private var highestAtOpening: Instant?
  /// The highest wall time in the head rows that were read.
  package private(set) var highest = Instant(milliseconds: .min)

  package init(_ clock: any VaultClock) {
    self.clock = clock
    bootAtOpening = clock.bootMilliseconds()
  }

  /// Notes the highest time that a head row holds. The first one is that of the opening.
  package mutating func note(_ greatestWall: Instant) {
    highestAtOpening = highestAtOpening ?? greatestWall
    highest = max(highest, greatestWall)
  }

  /// The time that an item's date is compared with.
  package var now: Instant { max(clock.now(), highest) }

  /// The highest time as the next commit writes it.
  package var risen: Instant { max(highest, min(clock.now(), ceiling)) }

  /// Whether the wall clock is further ahead than the highest time may rise.
  package var isClockAhead: Bool { clock.now() > ceiling }

  private var ceiling: Instant {
    guard let highestAtOpening else { return clock.now() }
    let elapsed = clock.bootMilliseconds() - min(bootAtOpening, clock.bootMilliseconds())
    let ceiling = highestAtOpening.advanced(byMilliseconds: Int64(clamping: elapsed) + Self.leeway)
    // The kernel is asked only where it matters.
    return clock.now() > ceiling && clock.isSynchronized() ? Instant(milliseconds: .max) : ceiling
  }
}
