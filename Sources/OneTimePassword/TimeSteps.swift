/// How time is divided into steps: step = floor((time − T0) / period) (RFC 6238 §4.2).
public struct TimeSteps: Sendable, Hashable {
  /// The length of a step in seconds, 1 or more.
  public let periodSeconds: Int64
  /// The Unix time at which step 0 begins, in seconds.
  public let t0: Int64

  /// Steps of `periodSeconds` that are counted from `t0` on.
  ///
  /// - Throws: ``OTPError/Code/invalidPeriod`` below one second.
  public init(periodSeconds: Int64 = 30, t0: Int64 = 0) throws(OTPError) {
    guard periodSeconds >= 1 else { throw .invalidPeriod }
    self.periodSeconds = periodSeconds
    self.t0 = t0
  }

  /// The same steps for a clock that is behind the verifier's by `seconds` (ahead when negative).
  ///
  /// - Throws: ``OTPError/Code/timeOutOfRange`` when T0 leaves the range of 64 bits.
  public func correcting(clockOffsetSeconds seconds: Int64) throws(OTPError) -> TimeSteps {
    let (moved, overflow) = t0.subtractingReportingOverflow(seconds)
    if overflow { throw .timeOutOfRange }
    return try TimeSteps(periodSeconds: periodSeconds, t0: moved)
  }

  /// The step that contains a moment.
  ///
  /// - Parameter unixTime: Seconds since 1970, any 64-bit value from T0 on.
  /// - Throws: ``OTPError/Code/timeOutOfRange`` before T0.
  public func step(at unixTime: Int64) throws(OTPError) -> TimeStep {
    guard unixTime >= t0 else { throw .timeOutOfRange }
    // The difference of two 64-bit integers always fits 64 bits when it is not negative.
    let elapsed = UInt64(bitPattern: unixTime &- t0)
    let (number, into) = elapsed.quotientAndRemainder(dividingBy: UInt64(periodSeconds))
    let remaining = periodSeconds - Int64(into)
    let (end, overflow) = unixTime.addingReportingOverflow(remaining)
    return TimeStep(
      number: number, validFrom: unixTime - (periodSeconds - remaining), validTo: overflow ? .max : end,
      remaining: remaining)
  }
}
