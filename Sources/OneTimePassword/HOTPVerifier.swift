/// The state of a verifier of counter-based codes, as a value: look-ahead, resynchronization, growing delay (RFC
/// 4226 §7.2–7.4).
///
/// It knows no store and no clock. The caller loads it, asks one question, and stores it back in one transaction,
/// *before* the verdict is shown. That makes a code single use between processes (RFC 4226 §7.2).
public struct HOTPVerifier: Sendable, Hashable {
  /// The most candidates that one question may have.
  public static let maximumWindow: UInt64 = 10_000

  /// The counter that the next code is expected to have.
  public private(set) var nextCounter: UInt64
  /// The counter accepted last.
  public private(set) var lastAccepted: UInt64?
  /// The failures, and the delay that they cause.
  public var throttle: Throttle
  /// How many counters after the expected one are tried, as `oathtool --window` counts.
  public let lookAhead: UInt64
  /// The same for two consecutive codes.
  public let resyncWindow: UInt64

  /// A verifier as it was stored, or a new one.
  ///
  /// - Throws: ``OTPError/Code/invalidWindow`` above ``maximumWindow``.
  public init(
    nextCounter: UInt64 = 0, lastAccepted: UInt64? = nil, throttle: Throttle = Throttle(),
    lookAhead: UInt64 = 10, resyncWindow: UInt64 = 1000
  ) throws(OTPError) {
    guard max(lookAhead, resyncWindow) <= Self.maximumWindow else { throw .invalidWindow }
    self.nextCounter = nextCounter
    self.lastAccepted = lastAccepted
    self.throttle = throttle
    self.lookAhead = lookAhead
    self.resyncWindow = resyncWindow
  }

  /// Judges one code.
  ///
  /// Accepted are the counters `nextCounter ... nextCounter + lookAhead`, never one below `nextCounter`, and never
  /// 2^64 − 1, which has no successor.
  /// - Parameters:
  ///   - code: What the person typed.
  ///   - generator: The credential.
  ///   - time: Seconds of the clock that ``Throttle`` describes.
  /// - Throws: ``OTPError/Code/invalidCode`` for a code of another format, ``OTPError/Code/counterExhausted``; nothing is
  ///   counted then.
  public mutating func accept(
    _ code: OTPCode, by generator: borrowing HOTPGenerator, at time: Int64
  ) throws(OTPError) -> OTPVerdict {
    guard code.format == generator.format else { throw .invalidCode }
    let candidates = try window(lookAhead, codes: 1)
    if let refusal = waiting(at: time) { return refusal }
    let match = generator.firstMatch(of: code, in: candidates)
    let replays = lastAccepted.map { generator.value(at: $0) == code.value } ?? false
    if let match { return acceptance(of: match) }
    if replays { return .refused(.alreadyUsed) }
    return failure(at: time)
  }

  /// Finds the counter again, by two consecutive codes (RFC 4226 §7.4).
  ///
  /// - Parameters:
  ///   - first: The code before `second`.
  ///   - second: The code that was read just now.
  ///   - generator: The credential.
  ///   - time: Seconds of the clock that ``Throttle`` describes.
  /// - Throws: As ``accept(_:by:at:)``.
  public mutating func resynchronize(
    _ first: OTPCode, _ second: OTPCode, by generator: borrowing HOTPGenerator, at time: Int64
  ) throws(OTPError) -> OTPVerdict {
    guard first.format == generator.format, second.format == generator.format else { throw .invalidCode }
    let candidates = try window(resyncWindow, codes: 2)
    if let refusal = waiting(at: time) { return refusal }
    guard let match = generator.firstMatch(of: first, then: second, in: candidates) else {
      return failure(at: time)
    }
    return acceptance(of: match + 1)
  }

  /// The counters to try for the first of `codes` consecutive codes, so that the last one still has a successor.
  private func window(_ width: UInt64, codes: UInt64) throws(OTPError) -> ClosedRange<UInt64> {
    let limit = UInt64.max - codes
    guard nextCounter <= limit else { throw .counterExhausted }
    return nextCounter...nextCounter + min(width, limit - nextCounter)
  }

  private func waiting(at time: Int64) -> OTPVerdict? {
    let seconds = throttle.remainingSeconds(at: time)
    return seconds > 0 ? .refused(.waiting(remainingSeconds: seconds)) : nil
  }

  private mutating func acceptance(of counter: UInt64) -> OTPVerdict {
    let distance = Int64(counter - nextCounter)
    lastAccepted = counter
    nextCounter = counter + 1
    throttle.reset()
    return .accepted(OTPAcceptance(counter: counter, distance: distance))
  }

  private mutating func failure(at time: Int64) -> OTPVerdict {
    throttle.recordFailure(at: time)
    return .refused(.noMatch)
  }
}
