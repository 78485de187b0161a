package import VaultStorage

/// The time that a vault records, and the rule by which a commit moves it (section 8).
///
/// It is what the vault knows of the time without the present wall clock. It keeps expired what expired when the clock is set back, and
/// nothing is deleted for having expired without it. A clock that is wrong, for one command or for many, must not move it. So it
/// rises by the boot time that has passed since the last commit of the same boot. A wall clock that is further ahead is a
/// *candidate*, and is believed when a later boot, or the same boot two days later, agrees with it.
package struct RecordedTime: Sendable, Equatable {
  /// What one commit saw.
  package struct Reading: Sendable, Equatable {
    package let wall: Instant
    package let boot: Bytes16
    /// The boot time in milliseconds.
    package let bootTime: UInt64

    package init(wall: Instant, boot: Bytes16, bootTime: UInt64) {
      (self.wall, self.boot, self.bootTime) = (wall, boot, bootTime)
    }

    /// `nil` where the process cannot tell the boot, or has another boot clock than the machine.
    package init?(_ clock: any VaultClock) {
      guard let boot = clock.bootID(), let time = clock.kernelBootMilliseconds() else { return nil }
      self.init(wall: clock.now(), boot: Bytes16(boot), bootTime: time)
    }
  }

  /// The recorded time.
  package var time: Instant
  /// The boot clock at the last commit.
  package var lastBoot: Deadline?
  /// A clock that is ahead of the recorded time.
  package var candidate: Reading?

  package init(_ time: Instant, lastBoot: Deadline? = nil, candidate: Reading? = nil) {
    (self.time, self.lastBoot, self.candidate) = (time, lastBoot, candidate)
  }

  /// The same time without what a commit saw of a boot: in a backup, and where a person set it back.
  package var withoutBoot: RecordedTime { RecordedTime(time) }

  /// What a commit with these clocks makes of it.
  package func after(_ seen: Reading?) -> RecordedTime {
    guard let seen else { return self }
    var new = self
    let verdict = candidate.map { Self.judge($0, by: seen) } ?? .disagrees
    if let candidate, verdict == .agrees { new.time = max(time, min(candidate.wall, seen.wall)) }
    if verdict != .waits { new.candidate = seen }
    if let lastBoot, lastBoot.boot == seen.boot {
      let passed = Int64(clamping: seen.bootTime - min(lastBoot.milliseconds, seen.bootTime))
      let limit = new.time.advanced(byMilliseconds: min(passed, Self.mostAtOnce))
      new.time = max(new.time, min(seen.wall, limit))
    }
    if seen.wall <= new.time.advanced(byMilliseconds: Self.tolerance) { new.candidate = nil }
    let before = lastBoot.map { $0.boot == seen.boot ? $0.milliseconds : 0 } ?? 0
    new.lastBoot = Deadline(milliseconds: max(before, seen.bootTime), boot: seen.boot)
    return new
  }

  /// Whether this clock says that the candidate is wrong.
  package func isRefuted(by seen: Reading?) -> Bool {
    guard let seen, let candidate else { return false }
    return Self.judge(candidate, by: seen) == .disagrees
  }

  private enum Verdict { case agrees, disagrees, waits }

  private static func judge(_ candidate: Reading, by seen: Reading) -> Verdict {
    guard candidate.boot == seen.boot else {
      return seen.wall >= candidate.wall.advanced(byMilliseconds: -tolerance) ? .agrees : .disagrees
    }
    guard seen.bootTime >= candidate.bootTime else { return .disagrees }
    let passed = Int64(clamping: seen.bootTime - candidate.bootTime)
    let expected = candidate.wall.advanced(byMilliseconds: passed)
    guard
      expected.advanced(byMilliseconds: -tolerance) <= seen.wall,
      seen.wall <= expected.advanced(byMilliseconds: tolerance)
    else { return .disagrees }
    return passed >= agreement ? .agrees : .waits
  }

  private static let hour: Int64 = 3_600_000
  /// How much one commit adds for the boot time that has passed: a boot clock can be faked too.
  package static let mostAtOnce = 24 * hour
  /// By how much two clocks may differ that agree, in milliseconds.
  package static let tolerance = hour
  /// After how much time of one boot a clock agrees with what it said before.
  package static let agreement = 48 * hour
}
