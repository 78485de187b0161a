/// The values that go into one code (RFC 6287 §5.1): exactly those that the suite names.
public struct OCRADataInput: ~Copyable, Sendable {
  /// Q: the challenge, or two.
  public var question: OCRAQuestion
  /// C: the counter, for a suite with `C`. Every 64-bit number is allowed; who signs never uses one twice.
  public var counter: UInt64?
  /// P: the hash of the PIN, for a suite with `P`.
  public var pinHash: OCRAPINHash?
  /// S: the session information, for a suite with `S`: by RFC 6287 UTF-8, at most ``OCRASuite/sessionByteCount`` bytes.
  /// A shorter one is filled with zero bytes on the left.
  public var session: [UInt8]?
  /// T: the number of the time step, for a suite with `T`: see ``OCRASuite/timeStep(at:)``.
  public var timeStep: UInt64?

  /// The values of a code.
  ///
  /// - Parameters:
  ///   - question: The challenge, or two.
  ///   - counter: For a suite with `C`.
  ///   - pinHash: For a suite with `P`.
  ///   - session: For a suite with `S`.
  ///   - timeStep: For a suite with `T`.
  public init(
    question: OCRAQuestion, counter: UInt64? = nil, pinHash: consuming OCRAPINHash? = nil,
    session: [UInt8]? = nil, timeStep: UInt64? = nil
  ) {
    self.question = question
    self.counter = counter
    self.pinHash = pinHash
    self.session = session
    self.timeStep = timeStep
  }
}

extension OCRADataInput {
  /// Throws unless a suite names exactly these values and allows each.
  @inline(__always)
  package func check(for suite: OCRASuite) throws(OTPError) {
    // One comparison of all, because each code begins with it.
    guard isNamed(by: suite), question.fits(suite), session?.count ?? 0 <= suite.sessionByteCount ?? 0 else {
      throw fault(for: suite)
    }
  }

  @inline(__always)
  private func isNamed(by suite: OCRASuite) -> Bool {
    (counter != nil) == suite.hasCounter && pinHashAlgorithm == suite.pinHash
      && (session != nil) == (suite.sessionByteCount != nil)
      && (timeStep != nil) == (suite.timeStepSeconds != nil)
  }

  private func fault(for suite: OCRASuite) -> OTPError {
    guard question.fits(suite) else { return .invalidInput(.question) }
    return fault(.counter, isGiven: counter != nil, isNamed: suite.hasCounter)
      ?? fault(.pinHash, isGiven: pinHashAlgorithm != nil, isNamed: suite.pinHash != nil)
      ?? fault(.session, isGiven: session != nil, isNamed: suite.sessionByteCount != nil)
      ?? fault(.timeStep, isGiven: timeStep != nil, isNamed: suite.timeStepSeconds != nil)
      ?? .invalidInput(pinHashAlgorithm == suite.pinHash ? .session : .pinHash)
  }

  private func fault(_ part: OCRASuite.Part, isGiven: Bool, isNamed: Bool) -> OTPError? {
    isGiven == isNamed ? nil : isNamed ? .missingInput(part) : .unexpectedInput(part)
  }

  private var pinHashAlgorithm: OTPAlgorithm? {
    switch pinHash {
    case .some(let hash): hash.algorithm
    case .none: nil
    }
  }
}
