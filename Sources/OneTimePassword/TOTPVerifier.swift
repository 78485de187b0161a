/// The state of a verifier of time-based codes, as a value: window, single use, clock drift (RFC 6238 §5.2, §6).
///
/// It knows no store and no clock. The caller loads it, asks one question, and stores it back in one transaction,
/// *before* the verdict is shown. That makes a code single use between processes.
public struct TOTPVerifier: Sendable, Hashable {
  /// The most steps to either side that one question may cover.
  public static let maximumWindow: UInt64 = 5_000

  /// The step accepted last. No step up to it is ever accepted again.
  public private(set) var lastAccepted: UInt64?
  /// How many steps the clock of the prover is ahead, as the last resynchronization found.
  public private(set) var offsetSteps: Int64
  /// How far, in steps, the last accepted code was from the current time.
  public private(set) var lastDrift: Int64
  /// The failures, and the delay that they cause.
  public var throttle: Throttle
  /// How many steps before and after the current one are tried.
  public let window: UInt64
  /// The same for two consecutive codes.
  public let resyncWindow: UInt64

  /// A verifier as it was stored, or a new one.
  ///
  /// - Throws: ``OTPError/Code/invalidWindow`` above ``maximumWindow``.
  public init(
    lastAccepted: UInt64? = nil, offsetSteps: Int64 = 0, lastDrift: Int64 = 0,
    throttle: Throttle = Throttle(), window: UInt64 = 1, resyncWindow: UInt64 = 120
  ) throws(OTPError) {
    guard max(window, resyncWindow) <= Self.maximumWindow else { throw .invalidWindow }
    self.lastAccepted = lastAccepted
    self.offsetSteps = offsetSteps
    self.lastDrift = lastDrift
    self.throttle = throttle
    self.window = window
    self.resyncWindow = resyncWindow
  }

  /// Judges one code.
  ///
  /// Accepted are the steps up to ``window`` away from the current one (moved by ``offsetSteps``), never one up to
  /// ``lastAccepted``.
  /// - Parameters:
  ///   - code: What the person typed.
  ///   - generator: The credential.
  ///   - unixTime: The time that codes follow, seconds since 1970.
  ///   - time: Seconds of the clock that ``Throttle`` describes.
  /// - Throws: ``OTPError/Code/invalidCode`` for a code of another format, ``OTPError/Code/timeOutOfRange``; nothing is
  ///   counted then.
  public mutating func accept(
    _ code: OTPCode, by generator: borrowing TOTPGenerator, unixTime: Int64, at time: Int64
  ) throws(OTPError) -> OTPVerdict {
    guard code.format == generator.hotp.format else { throw .invalidCode }
    let current = try generator.steps.step(at: unixTime).number
    if let refusal = waiting(at: time) { return refusal }
    let steps = candidates(around: current, width: window)
    let fresh = unused(of: steps).flatMap { generator.hotp.firstMatch(of: code, in: $0) }
    let used = used(of: steps).flatMap { generator.hotp.firstMatch(of: code, in: $0) }
    if let fresh { return acceptance(of: fresh, at: current) }
    if used != nil { return .refused(.alreadyUsed) }
    return failure(at: time)
  }

  /// Finds the clock of the prover by two consecutive codes, of which the second was read just now, and keeps the
  /// offset.
  ///
  /// - Parameters: As ``accept(_:by:unixTime:at:)``.
  /// - Throws: As ``accept(_:by:unixTime:at:)``.
  public mutating func resynchronize(
    _ first: OTPCode, _ second: OTPCode, by generator: borrowing TOTPGenerator, unixTime: Int64,
    at time: Int64
  ) throws(OTPError) -> OTPVerdict {
    let format = generator.hotp.format
    guard first.format == format, second.format == format else { throw .invalidCode }
    let current = try generator.steps.step(at: unixTime).number
    if let refusal = waiting(at: time) { return refusal }
    let steps = unused(of: candidates(around: current, width: resyncWindow))
    guard let match = steps.flatMap({ generator.hotp.firstMatch(of: first, then: second, in: $0) }) else {
      return failure(at: time)
    }
    offsetSteps = Self.distance(from: current, to: match + 1)
    return acceptance(of: match + 1, at: current)
  }

  private func candidates(around current: UInt64, width: UInt64) -> ClosedRange<UInt64> {
    let centre = Self.moved(current, by: offsetSteps)
    return centre - min(centre, width)...centre + min(.max - centre, width)
  }

  private func unused(of steps: ClosedRange<UInt64>) -> ClosedRange<UInt64>? {
    guard let lastAccepted, lastAccepted >= steps.lowerBound else { return steps }
    return lastAccepted < steps.upperBound ? lastAccepted + 1...steps.upperBound : nil
  }

  private func used(of steps: ClosedRange<UInt64>) -> ClosedRange<UInt64>? {
    guard let lastAccepted, lastAccepted >= steps.lowerBound else { return nil }
    return steps.lowerBound...min(lastAccepted, steps.upperBound)
  }

  private func waiting(at time: Int64) -> OTPVerdict? {
    let seconds = throttle.remainingSeconds(at: time)
    return seconds > 0 ? .refused(.waiting(remainingSeconds: seconds)) : nil
  }

  private mutating func acceptance(of step: UInt64, at current: UInt64) -> OTPVerdict {
    lastAccepted = step
    lastDrift = Self.distance(from: current, to: step)
    throttle.reset()
    return .accepted(OTPAcceptance(counter: step, distance: lastDrift))
  }

  private mutating func failure(at time: Int64) -> OTPVerdict {
    throttle.recordFailure(at: time)
    return .refused(.noMatch)
  }

  /// `step` moved by `offset`, held between 0 and 2^64 − 1.
  private static func moved(_ step: UInt64, by offset: Int64) -> UInt64 {
    let (sum, overflow) =
      offset < 0
      ? step.subtractingReportingOverflow(offset.magnitude) : step.addingReportingOverflow(offset.magnitude)
    return overflow ? (offset < 0 ? 0 : .max) : sum
  }

  /// `end` − `start`, held between −2^63 and 2^63 − 1.
  private static func distance(from start: UInt64, to end: UInt64) -> Int64 {
    end >= start ? Int64(clamping: end - start) : -Int64(clamping: start - end)
  }
}
