public import OneTimePassword
public import SecretMemory
import VaultKit

/// What a code is asked for: the question, and the values that the suite names besides it. The counter and the clock are
/// the credential's.
public struct OCRARequest: Sendable {
  /// The challenge, or the data that is signed: ``OCRAQuestion/init(_:for:)``, ``OCRAQuestion/init(data:for:)-(RawSpan,_)``, or one
  /// of ``OCRAChallenges``.
  public var question: OCRAQuestion
  /// The session information of a suite with `S`, at most ``OCRASuite/sessionByteCount`` bytes.
  public var session: [UInt8]?
  /// The moment of a code that is signed with a suite with `T`, seconds since 1970; `nil` for now. A verifier follows its
  /// clock alone.
  public var unixTime: Int64?
  private let pin: SharedSecret?

  /// A request for a suite without a PIN.
  public init(_ question: OCRAQuestion) {
    self.question = question
    pin = nil
  }

  /// A request for a suite with `P`.
  ///
  /// - Parameters:
  ///   - question: The challenge or the data.
  ///   - pin: The bytes as the person typed them, 1 or more. Their hash is part of the code, and nothing here can tell
  ///     whether they are right. They are wiped with the last copy of the request.
  public init(_ question: OCRAQuestion, pin: consuming SecretBytes) {
    self.question = question
    self.pin = SharedSecret(pin)
  }

  /// The values of a code.
  func input(for suite: OCRASuite, counter: UInt64? = nil, timeStep: UInt64? = nil) throws(OTPError)
    -> OCRADataInput
  {
    if pin != nil, suite.pinHash == nil { throw .unexpectedInput(.pinHash) }
    var input = OCRADataInput(question: question, counter: counter, session: session, timeStep: timeStep)
    if let pin, let algorithm = suite.pinHash {
      input.pinHash = try OCRAPINHash(of: pin.bytes, algorithm: algorithm)
    }
    return input
  }
}
