/// Why a one-time-password operation was refused.
///
/// The set of codes is open, so that a new code breaks no program. An error never carries any part of a secret or a code, nor
/// the name of an issuer or account. It has the shape of `VaultError`: a code for the program, a message for a person.
public struct OTPError: Error, Hashable, Sendable {
  /// The kind of failure.
  public let code: Code
  /// What is wrong with the URI, for ``Code/invalidURI``.
  package let fault: URIFault?
  /// How many bits the secret has, for ``Code/secretTooShort``.
  package let bitCount: Int?
  /// Where the Base32 text or the suite cannot be read, for ``Code/invalidBase32`` and ``Code/invalidSuite``: an offset in
  /// bytes, or the length of the text if it ends too early.
  package let position: Int?
  /// Which part of the suite is meant, for ``Code/invalidSuite``, ``Code/missingInput``, ``Code/unexpectedInput`` and
  /// ``Code/invalidInput``. Its description says what is allowed there.
  package let part: OCRASuite.Part?

  private init(
    _ code: Code, fault: URIFault? = nil, bitCount: Int? = nil, position: Int? = nil,
    part: OCRASuite.Part? = nil
  ) {
    self.code = code
    self.fault = fault
    self.bitCount = bitCount
    self.position = position
    self.part = part
  }

  package static var emptyKey: OTPError { OTPError(.emptyKey) }
  package static func secretTooShort(bitCount: Int) -> OTPError {
    OTPError(.secretTooShort, bitCount: bitCount)
  }
  package static var secretTooLong: OTPError { OTPError(.secretTooLong) }
  package static func invalidBase32(position: Int) -> OTPError {
    OTPError(.invalidBase32, position: position)
  }
  package static var unknownAlgorithm: OTPError { OTPError(.unknownAlgorithm) }
  package static var invalidDigits: OTPError { OTPError(.invalidDigits) }
  package static var invalidPeriod: OTPError { OTPError(.invalidPeriod) }
  package static var invalidCounter: OTPError { OTPError(.invalidCounter) }
  package static var counterExhausted: OTPError { OTPError(.counterExhausted) }
  package static var timeOutOfRange: OTPError { OTPError(.timeOutOfRange) }
  package static var invalidCode: OTPError { OTPError(.invalidCode) }
  package static var invalidWindow: OTPError { OTPError(.invalidWindow) }
  package static var invalidReservation: OTPError { OTPError(.invalidReservation) }
  package static func invalidURI(_ fault: URIFault) -> OTPError { OTPError(.invalidURI, fault: fault) }
  package static func invalidSuite(_ part: OCRASuite.Part, position: Int) -> OTPError {
    OTPError(.invalidSuite, position: position, part: part)
  }
  package static func missingInput(_ part: OCRASuite.Part) -> OTPError { OTPError(.missingInput, part: part) }
  package static func unexpectedInput(_ part: OCRASuite.Part) -> OTPError {
    OTPError(.unexpectedInput, part: part)
  }
  package static func invalidInput(_ part: OCRASuite.Part) -> OTPError { OTPError(.invalidInput, part: part) }
  package static var invalidData: OTPError { OTPError(.invalidData) }
}

extension OTPError {
  /// An open set of failure kinds. The raw value is the word of the code.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The word.
    public let rawValue: String
    /// The code of this word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The key has no bytes.
    public static let emptyKey = Code(rawValue: "emptyKey")
    /// The secret of a URI has fewer than 80 bits.
    public static let secretTooShort = Code(rawValue: "secretTooShort")
    /// The secret of a URI has more than ``OTPAuthURI/maximumSecretByteCount`` bytes, or a Base32 text is longer
    /// than ``Base32/maximumTextByteCount``.
    public static let secretTooLong = Code(rawValue: "secretTooLong")
    /// The Base32 text cannot be read at this offset; the length of the text when it ends too early.
    public static let invalidBase32 = Code(rawValue: "invalidBase32")
    /// The algorithm is not SHA1, SHA256 or SHA512, or not the one that Steam codes use.
    public static let unknownAlgorithm = Code(rawValue: "unknownAlgorithm")
    /// The number of digits is not 6, 7 or 8 (5 for Steam codes; 4 and 5 where weak credentials are allowed).
    public static let invalidDigits = Code(rawValue: "invalidDigits")
    /// The period is not a whole number of seconds, 1 or more, or not the one that Steam codes use.
    public static let invalidPeriod = Code(rawValue: "invalidPeriod")
    /// The counter is not a number from 0 to 2^64 − 1.
    public static let invalidCounter = Code(rawValue: "invalidCounter")
    /// The counter has no successor: the credential must be replaced.
    public static let counterExhausted = Code(rawValue: "counterExhausted")
    /// The time is before T0, or a clock offset moves T0 out of range.
    public static let timeOutOfRange = Code(rawValue: "timeOutOfRange")
    /// The text is not a code of the expected format: wrong length, or a character that codes do not have.
    public static let invalidCode = Code(rawValue: "invalidCode")
    /// The window has more candidates than a verifier may accept.
    public static let invalidWindow = Code(rawValue: "invalidWindow")
    /// The block of counters is empty, or not smaller than half the look-ahead (or the counters run out).
    public static let invalidReservation = Code(rawValue: "invalidReservation")
    /// The text is not an acceptable `otpauth:` URI.
    public static let invalidURI = Code(rawValue: "invalidURI")
    /// The text is not an OCRA suite: at this offset, this part is missing or wrong.
    public static let invalidSuite = Code(rawValue: "invalidSuite")
    /// The suite names a value that was not given.
    public static let missingInput = Code(rawValue: "missingInput")
    /// A value was given that the suite does not name, and that would not be a part of the code.
    public static let unexpectedInput = Code(rawValue: "unexpectedInput")
    /// The suite does not allow this question, PIN hash or session information.
    public static let invalidInput = Code(rawValue: "invalidInput")
    /// The suite takes this data neither as it is nor as its hash value.
    public static let invalidData = Code(rawValue: "invalidData")
  }

  /// What is wrong with an `otpauth:` URI.
  package enum URIFault: Hashable, Sendable {
    /// Longer than ``OTPAuthURI/maximumByteCount``.
    case tooLong
    /// It does not begin with `otpauth://`.
    case notOTPAuth
    /// The type is not `totp`, `hotp` or `steam`.
    case unknownType
    /// There is no `/` after the type.
    case missingLabel
    /// A `%` without two hexadecimal digits.
    case malformedPercentEncoding
    /// A name that is not UTF-8.
    case notUTF8
    /// A control character, line separator or bidirectional override, raw or percent-encoded.
    case controlCharacter
    /// A name longer than ``OTPAuthURI/maximumNameByteCount``.
    case nameTooLong
    /// A `#` that is not percent-encoded.
    case fragment
    /// The same parameter twice.
    case duplicateParameter
    /// A parameter that this version does not know, so its codes could be others. `name` is `nil` where it could be a part
    /// of the secret; `byteCount` is the length of the name.
    case unknownParameter(name: String?, byteCount: Int)
    /// No `secret` parameter.
    case missingSecret
    /// No `counter` parameter in a `hotp` URI.
    case missingCounter
    /// An `encoder` other than `steam`.
    case unknownEncoder
  }
}
