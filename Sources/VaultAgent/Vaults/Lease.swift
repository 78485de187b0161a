/// How long a vault stays unlocked: a value, by the clock that counts suspend too.
///
/// It has two ends. The idle end moves with each use of a secret, never beyond the absolute end, which does not move. Nothing
/// else moves them: who asks for the state extends nothing. What has ended stays ended.
package struct Lease: Sendable, Equatable {
  /// The time without a use after which it ends.
  package let idle: Duration
  /// Milliseconds since boot at which it ends in any case.
  package let absoluteEnd: UInt64
  /// Milliseconds since boot at which it ends without a further use.
  package private(set) var idleEnd: UInt64

  /// - Parameters:
  ///   - now: Milliseconds since boot.
  ///   - idle: nil for ``usualIdle``.
  ///   - absolute: nil for ``usualAbsolute``.
  package init(from now: UInt64, idle: Duration? = nil, absolute: Duration? = nil) {
    self.idle = idle ?? Self.usualIdle
    absoluteEnd = Self.end(of: absolute ?? Self.usualAbsolute, from: now)
    idleEnd = min(Self.end(of: self.idle, from: now), absoluteEnd)
  }

  /// A secret was used.
  package mutating func use(at now: UInt64) {
    guard !hasEnded(at: now) else { return }
    idleEnd = min(max(idleEnd, Self.end(of: idle, from: now)), absoluteEnd)
  }

  package func hasEnded(at now: UInt64) -> Bool { now >= idleEnd }

  /// Why it ended or is going to end first.
  package var reason: LockReason { idleEnd == absoluteEnd ? .leaseEnded : .idle }

  package func idleLeft(at now: UInt64) -> Duration { Self.left(until: idleEnd, at: now) }
  package func absoluteLeft(at now: UInt64) -> Duration { Self.left(until: absoluteEnd, at: now) }

  package static let usualIdle = Duration.seconds(600)
  package static let usualAbsolute = Duration.seconds(12 * 3600)

  private static func left(until end: UInt64, at now: UInt64) -> Duration {
    .milliseconds(end > now ? Int64(clamping: end - now) : 0)
  }

  private static func end(of time: Duration, from now: UInt64) -> UInt64 {
    let (seconds, attoseconds) = time.components
    guard seconds >= 0 else { return now }
    let (milliseconds, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1000)
    guard !isTooLong else { return .max }
    let rest = milliseconds &+ UInt64(max(0, attoseconds) / 1_000_000_000_000_000)
    let (end, isBeyond) = now.addingReportingOverflow(rest)
    return isBeyond ? .max : end
  }
}
