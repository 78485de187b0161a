/// The moment at which waiting ends. Every wait of this module has one.
struct Deadline {
  private let instant: ContinuousClock.Instant

  init(after duration: Duration) { instant = .now + duration }

  var hasPassed: Bool { ContinuousClock.now >= instant }

  /// What is left, for `poll`: 0 when nothing is left, never the -1 that waits for ever.
  var milliseconds: Int32 {
    let (seconds, attoseconds) = (instant - .now).components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return Int32(clamping: min(seconds, 1_000_000) * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
  }

  static func earlier(of first: Deadline, and second: Deadline) -> Deadline {
    first.instant < second.instant ? first : second
  }
}
