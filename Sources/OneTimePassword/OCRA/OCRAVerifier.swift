/// The state of a verifier of OCRA codes, as a value: window of counters, window of time steps, single use, growing
/// delay.
///
/// It knows no store and no clock. The caller loads it, asks one question, and stores it back in one transaction,
/// *before* the verdict is shown. That makes a code single use between processes.
///
/// What single use means depends on the suite. With `C`, a counter is accepted once, and so is each smaller one. With
/// `T` alone, a time step is accepted once, for any question, and so is each earlier one. With neither, the code depends
/// on the question alone: whoever asks never asks one question twice.
public struct OCRAVerifier: Sendable, Hashable {
  /// The most counters after the expected one, or steps to either side, that one question may cover.
  public static let maximumWindow: UInt64 = 1_000
  /// How many steps to either side are tried for a suite that has a counter too.
  public static let stepsBesideCounter: UInt64 = 1

  /// The counter that the next code is expected to have, for a suite with `C`.
  public private(set) var nextCounter: UInt64
  /// The counter accepted last; for a suite with `T` alone the time step accepted last.
  public private(set) var lastAccepted: UInt64?
  /// The failures, and the delay that they cause.
  public var throttle: Throttle
  /// How many counters after the expected one are tried; for a suite with `T` alone, how many steps to either side.
  public let window: UInt64

  /// A verifier as it was stored, or a new one.
  ///
  /// - Throws: ``OTPError/Code/invalidWindow`` above ``maximumWindow``.
  public init(
    nextCounter: UInt64 = 0, lastAccepted: UInt64? = nil, throttle: Throttle = Throttle(), window: UInt64
  ) throws(OTPError) {
    guard window <= Self.maximumWindow else { throw .invalidWindow }
    self.nextCounter = nextCounter
    self.lastAccepted = lastAccepted
    self.throttle = throttle
    self.window = window
  }

  /// Judges one code.
  ///
  /// Every candidate is computed and compared, wherever the match is. Never accepted is the counter 2^64 − 1, which has
  /// no successor.
  /// - Parameters:
  ///   - code: What the person typed.
  ///   - generator: The credential.
  ///   - input: The question, the hash of the PIN and the session. Its counter and time step are not used.
  ///   - unixTime: The time that codes follow, seconds since 1970.
  ///   - time: Seconds of the clock that ``Throttle`` describes.
  /// - Returns: The acceptance has the counter; for a suite with `T` alone the time step, and 0 for a suite with neither.
  /// - Throws: As ``OCRAGenerator/code(for:)``, ``OTPError/Code/counterExhausted``, ``OTPError/Code/timeOutOfRange``; nothing is
  ///   counted then.
  public mutating func accept(
    _ code: OCRACode, by generator: borrowing OCRAGenerator, input: consuming OCRADataInput, unixTime: Int64,
    at time: Int64
  ) throws(OTPError) -> OTPVerdict {
    let suite = generator.suite
    let step = suite.timeStepSeconds == nil ? nil : try suite.timeStep(at: unixTime).number
    (input.counter, input.timeStep) = (suite.hasCounter ? nextCounter : nil, step)
    // A value that the suite does not allow is an error also while nothing is judged.
    let isExpected = try generator.isCode(code, for: input)
    guard input.counter != .max else { throw .counterExhausted }
    let seconds = throttle.remainingSeconds(at: time)
    guard seconds == 0 else { return .refused(.waiting(remainingSeconds: seconds)) }
    let expected = input.counter ?? step ?? 0
    let match: Match =
      if suite.hasCounter {
        try counter(of: code, by: generator, input: input)
      } else if let step {
        try timeStep(of: code, by: generator, input: input, around: step)
      } else {
        isExpected ? .fresh(0) : .none
      }
    return verdict(on: match, expected: expected, by: suite, at: time)
  }

  /// The counter of a code, for any of the time steps that are tried.
  private func counter(
    of code: OCRACode, by generator: borrowing OCRAGenerator, input: consuming OCRADataInput
  ) throws(OTPError) -> Match {
    var match = Match.none
    let steps = input.timeStep.map {
      Self.steps(around: $0, width: Self.stepsBesideCounter).map(Optional.some)
    }
    for step in steps ?? [nil] {
      (input.timeStep, input.counter) = (step, nextCounter)
      let count = 1 + min(window, .max - 1 - nextCounter)
      let fresh = try generator.firstCounter(of: code, for: input, count: count)
      input.counter = lastAccepted
      let isUsed = input.counter == nil ? false : try generator.isCode(code, for: input)
      match = match.or(fresh.map(Match.fresh) ?? (isUsed ? .used : .none))
    }
    return match
  }

  /// The time step of a code.
  private func timeStep(
    of code: OCRACode, by generator: borrowing OCRAGenerator, input: consuming OCRADataInput,
    around step: UInt64
  ) throws(OTPError) -> Match {
    var match = Match.none
    for candidate in Self.steps(around: step, width: window) {
      input.timeStep = candidate
      let isUsed = lastAccepted.map { candidate <= $0 } ?? false
      if try generator.isCode(code, for: input) { match = match.or(isUsed ? .used : .fresh(candidate)) }
    }
    return match
  }

  private mutating func verdict(
    on match: Match, expected: UInt64, by suite: OCRASuite, at time: Int64
  ) -> OTPVerdict {
    switch match {
    case .none:
      throttle.recordFailure(at: time)
      return .refused(.noMatch)
    case .used: return .refused(.alreadyUsed)
    case .fresh(let number):
      throttle.reset()
      if suite.hasCounter || suite.timeStepSeconds != nil { lastAccepted = number }
      if suite.hasCounter { nextCounter = number + 1 }
      return .accepted(OTPAcceptance(counter: number, distance: Int64(bitPattern: number &- expected)))
    }
  }

  private static func steps(around step: UInt64, width: UInt64) -> ClosedRange<UInt64> {
    step - min(step, width)...step + width
  }
}

/// What a code is the code of.
private enum Match {
  /// A counter or time step that can be accepted, or the question alone.
  case fresh(UInt64)
  /// A counter or time step that was accepted before.
  case used
  case none

  /// The first of two matches that can be accepted, or else one that was accepted before.
  func or(_ other: Match) -> Match {
    switch (self, other) {
    case (.fresh, _), (.used, .none), (.used, .used): self
    default: other
    }
  }
}
