import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultFormat
import VaultStorage
import VaultTestKit

/// The rule of section 8, without a vault.
///
/// Verified to fail when the boot time that passed is not limited to a day, when it is that of another boot, when the greatest boot time
/// of the boot is not kept, when a candidate stays that a clock disagrees with, and when the wall time of the second clock is taken in
/// place of the first.
@Suite("The recorded time", .bounded, .requirement("Q6"))
struct RecordedTimeTests {
  private static let hour: Int64 = 3_600_000
  private static let day = 24 * hour
  private static let start: Int64 = 1_800_000_000_000

  /// A clock, in hours after the start.
  private func clock(_ wall: Int64, boot: UInt8 = 1, at bootTime: Int64) -> RecordedTime.Reading {
    RecordedTime.Reading(
      wall: Instant(milliseconds: Self.start + wall * Self.hour),
      boot: Bytes16([UInt8](repeating: boot, count: 16)), bootTime: UInt64(bootTime * Self.hour))
  }

  /// The recorded time in hours after the start, when these commits follow a new vault.
  private func recorded(_ clocks: RecordedTime.Reading?...) -> Int64 {
    var time = RecordedTime(Instant(milliseconds: Self.start)).after(clock(0, at: 10))
    for clock in clocks { time = time.after(clock) }
    return (time.time.milliseconds - Self.start) / Self.hour
  }

  @Test("it rises by the boot time that passed, at most a day in a commit, and never beyond the wall clock")
  func earned() {
    expect(recorded(clock(5, at: 15)), equals: 5)
    expect(recorded(clock(900, at: 15)), equals: 5)
    expect(recorded(clock(3, at: 15)), equals: 3)
    expect(recorded(clock(40, at: 50)), equals: 24)
    expect(recorded(clock(-40, at: 50)), equals: 0)
    expect(recorded(clock(5, boot: 2, at: 15)), equals: 0)
    expect(recorded(nil, clock(5, at: 15)), equals: 5)
  }

  @Test("as often as a clock is said to be ahead, nothing is added in a boot clock that stands or goes back")
  func many() {
    let ahead = [RecordedTime.Reading?](repeating: clock(900, at: 10), count: 50)
    expect(
      ahead.reduce(RecordedTime(Instant(milliseconds: Self.start))) { $0.after($1) }.time.milliseconds,
      equals: Self.start)
    // Both clocks are faked by a process, then they are right again, and so on.
    var time = RecordedTime(Instant(milliseconds: Self.start)).after(clock(0, at: 10))
    for _ in 0..<50 { time = time.after(clock(1080, at: 1090)).after(clock(0, at: 10)) }
    #expect(time.time.milliseconds <= Self.start + Self.day)
  }

  @Test(
    "a clock that is ahead is believed two days later, or in another boot, and then as far as it was first")
  func agreement() {
    expect(recorded(clock(500, boot: 2, at: 1), clock(547, boot: 2, at: 48)), equals: 24)
    expect(recorded(clock(500, boot: 2, at: 1), clock(548, boot: 2, at: 49)), equals: 524)
    expect(recorded(clock(500, boot: 2, at: 1), clock(510, boot: 3, at: 1)), equals: 500)
    expect(recorded(clock(500, boot: 2, at: 1), clock(499, boot: 3, at: 1)), equals: 499)
    // Off for long: the second clock is not believed yet.
    expect(recorded(clock(500, boot: 2, at: 1), clock(9000, boot: 3, at: 1)), equals: 500)
    expect(
      recorded(clock(500, boot: 2, at: 1), clock(9000, boot: 3, at: 1), clock(9001, boot: 4, at: 1)),
      equals: 9000)
  }

  @Test("a clock that disagrees ends the candidate")
  func disagreement() {
    expect(
      recorded(clock(500, boot: 2, at: 1), clock(3, boot: 2, at: 4), clock(548, boot: 2, at: 49)), equals: 27)
    expect(
      recorded(clock(500, boot: 2, at: 1), clock(3, boot: 3, at: 1), clock(510, boot: 4, at: 1)), equals: 3)
    expect(recorded(clock(500, boot: 2, at: 1), clock(498, boot: 3, at: 1)), equals: 0)
    // It moved otherwise than the boot clock.
    expect(
      recorded(clock(500, boot: 2, at: 1), clock(560, boot: 2, at: 49), clock(561, boot: 2, at: 50)),
      equals: 25)
  }

  @Test("what a commit saw is read again from the head row")
  func layout() throws {
    var head = Head(auditRoot: SecretBytes(zeroes: 32))
    head.summedRows = 1
    head.recorded = RecordedTime(
      Instant(milliseconds: -5), lastBoot: Deadline(milliseconds: 7, boot: Bytes16([UInt8](1...16))),
      candidate: clock(1, at: 2))
    let body = head.encoded
    expect(body.byteCount, equals: 320)
    try expect(Head(decoding: body).recorded, equals: head.recorded)
    head.recorded = head.recorded.withoutBoot
    try expect(Head(decoding: head.encoded).recorded, equals: RecordedTime(Instant(milliseconds: -5)))
    let bytes = head.encoded.expose { $0.array }
    expect(bytes[256...], equals: [UInt8](repeating: 0, count: 64)[...])
  }
}
