/// What tells how much time has passed. A test gives one that it moves itself.
package typealias Now = @Sendable () -> ContinuousClock.Instant

/// The moment at which a wait ends. Every wait of this module has one.
struct Deadline {
  private let instant: ContinuousClock.Instant
  private let now: Now

  init(after duration: Duration, by now: @escaping Now = { ContinuousClock.now }) {
    (instant, self.now) = (now() + duration, now)
  }

  init(after patience: Patience) { self.init(after: patience.duration, by: patience.now) }

  var hasPassed: Bool { now() >= instant }

  /// The time left, for `poll`: 0 when no time is left, never -1, which waits for ever.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = left.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return Int32(clamping: min(seconds, 1_000_000) * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
  }

  /// By the time that is left: each may have a clock of its own.
  static func earlier(of first: Deadline, and second: Deadline) -> Deadline {
    first.left < second.left ? first : second
  }

  private var left: Duration { instant - now() }
}

/// How long something may take, and the clock that tells.
struct Patience: Sendable {
  let duration: Duration
  let now: Now

  init(_ duration: Duration, by now: @escaping Now = { ContinuousClock.now }) {
    (self.duration, self.now) = (duration, now)
  }

  /// At most so long.
  func limited(to most: Duration) -> Patience { Patience(min(duration, most), by: now) }
}
