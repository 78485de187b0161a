package import VaultFormat

/// The time by which items expire.
///
/// The wall clock can be set back, and then an item that has expired would open again. So the vault records a time
/// (``RecordedTime``), and an item has expired when the wall clock or the recorded time has passed its date. It is deleted only when
/// both have: a wall clock that is wrong for a while makes an item expire for that while, and never deletes it.
package struct VaultTime: Sendable {
  private let clock: any VaultClock
  /// The recorded time of the head row that was read last.
  package var recorded = RecordedTime(Instant(milliseconds: .min))

  package init(_ clock: any VaultClock) { self.clock = clock }

  /// The time that an item's date is compared with.
  package var now: Instant { max(clock.now(), recorded.time) }

  /// The recorded time as a commit at this moment would write it.
  package var risen: RecordedTime { recorded.after(RecordedTime.Reading(clock)) }

  /// The time by which expired items are deleted.
  package var ofDeletion: Instant { min(clock.now(), risen.time) }

  /// Whether the wall clock is not where the recorded time and the clock since boot expect it, by more than a second. Then a token can
  /// be over by the wall clock that is not by the other.
  package var isDisputed: Bool {
    let (wall, expected, second) = (clock.now(), risen.time, Int64(1000))
    return wall > expected.advanced(byMilliseconds: second)
      || expected > wall.advanced(byMilliseconds: second)
  }

  /// Whether the wall clock says that what the vault has seen of clocks is wrong.
  package var refutesCandidate: Bool { recorded.isRefuted(by: RecordedTime.Reading(clock)) }
}
