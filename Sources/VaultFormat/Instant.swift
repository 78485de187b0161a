/// A moment on the wall clock, in milliseconds since 1970-01-01 00:00:00 UTC.
public struct Instant: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970-01-01 00:00:00 UTC; negative before.
  public var milliseconds: Int64

  /// A moment from milliseconds since 1970.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// A moment from whole seconds since 1970; clamped at the ends of the range.
  public init(seconds: Int64) {
    let product = seconds.multipliedReportingOverflow(by: 1000)
    milliseconds = product.overflow ? (seconds < 0 ? .min : .max) : product.partialValue
  }

  /// Whole seconds since 1970, rounded down.
  public var seconds: Int64 {
    milliseconds >= 0 ? milliseconds / 1000 : (milliseconds + 1) / 1000 - 1
  }

  /// Whether one moment is before another.
  public static func < (earlier: Instant, later: Instant) -> Bool {
    earlier.milliseconds < later.milliseconds
  }

  /// The moment `milliseconds` later, clamped at the ends of the range.
  public func advanced(byMilliseconds milliseconds: Int64) -> Instant {
    let sum = self.milliseconds.addingReportingOverflow(milliseconds)
    return Instant(milliseconds: sum.overflow ? (milliseconds < 0 ? .min : .max) : sum.partialValue)
  }
}
