import VaultCrypto

/// What an OCRA code is made of, as its two parties agree on it: `OCRA-1:HOTP-SHA256-8:C-QN08-PSHA1` (RFC 6287 §6).
///
/// The text itself goes into each code. So two suites that mean the same but are written differently, such as `QH8`
/// and `QH08`, or `S` and `S064`, are two suites with different codes.
public struct OCRASuite: Sendable, Hashable, CustomStringConvertible {
  /// The suite as it was read, letter by letter.
  public let description: String
  /// The hash under the HMAC (RFC 6287 §6.2).
  public let algorithm: OTPAlgorithm
  /// The format of the codes (RFC 6287 §5.2).
  public let format: OCRAFormat
  /// Whether a code needs a counter: `C`.
  public let hasCounter: Bool
  /// The characters of a challenge: the `A`, `N` or `H` after `Q`.
  public let questionFormat: OCRAQuestion.Format
  /// The most characters of a challenge, 4 to 64.
  public let questionLength: Int
  /// The hash of the PIN that a code needs, such as `PSHA1`; `nil` for a suite without PIN.
  public let pinHash: OTPAlgorithm?
  /// The length of the session information that a code needs, 1 to 512 bytes; `nil` for a suite without it.
  public let sessionByteCount: Int?
  /// The length of a time step, 0 to 172,800 seconds; `nil` for a suite without time.
  public let timeStepSeconds: Int64?

  /// How many characters a code has: its digits, or two for each byte of a whole HMAC.
  public var codeLength: Int {
    format == .wholeHMAC ? 2 * algorithm.hash.digestByteCount : format.digits
  }

  /// The time step of a moment, whose number goes into a code (RFC 6287 §5.1).
  ///
  /// - Parameter unixTime: Seconds since 1970.
  /// - Throws: ``OTPError/Code/unexpectedInput`` for a suite without time, ``OTPError/Code/invalidPeriod`` for `T0H`, which
  ///   RFC 6287 §6.3 allows without a meaning, ``OTPError/Code/timeOutOfRange`` before 1970.
  public func timeStep(at unixTime: Int64) throws(OTPError) -> TimeStep {
    guard let timeStepSeconds else { throw .unexpectedInput(.timeStep) }
    return try TimeSteps(periodSeconds: timeStepSeconds).step(at: unixTime)
  }
}

extension OCRASuite {
  /// A part of a suite, and what a code needs because of it.
  package enum Part: Sendable, Hashable, CaseIterable {
    /// `OCRA-1`.
    case algorithm
    /// `HOTP`.
    case cryptoFunction
    /// The hash under the HMAC.
    case hash
    /// The number of digits.
    case digits
    /// `C`, the counter.
    case counter
    /// `Q`, the question.
    case question
    /// `P`, the hash of a PIN.
    case pinHash
    /// `S`, the session information.
    case session
    /// `T`, the time.
    case timeStep
    /// The order of the parts after the question.
    case order
  }
}
