import VaultCrypto

/// The challenge of a code, or the two challenges of a mutual authentication one after the other (RFC 6287 §5.1).
///
/// The other party chooses a challenge, and each should be random and as long as the suite allows (RFC 6287 §8); for a
/// signature it is what is signed. In a code, QA counts as its ASCII bytes, QN as one number in hexadecimal digits, and
/// QH as its hexadecimal digits. Zeros fill 128 bytes on the right, so an odd digit is the upper half of its byte.
/// Therefore `12` and `0012` are the same QN question, and `ab` and `AB0` the same QH question.
public struct OCRAQuestion: Sendable, Hashable {
  /// The characters of a challenge (RFC 6287 §6.3).
  @nonexhaustive
  public enum Format: Sendable, Hashable, CaseIterable {
    /// ASCII letters and digits: `QA`.
    case alphanumeric
    /// Decimal digits: `QN`.
    case numeric
    /// Hexadecimal digits of either case, also an odd number of them: `QH`.
    case hexadecimal
  }

  /// The characters as they were given.
  public let text: String
  /// The format of the characters.
  public let format: Format
  /// How many characters the challenge has, or the longer of two.
  public let challengeLength: Int
  /// What goes into a code: 128 bytes.
  let encoded: [UInt8]

  private let challengeCount: Int

  /// A challenge, as the other party sent it.
  ///
  /// - Parameters:
  ///   - text: 1 to ``OCRASuite/questionLength`` characters of the format of the suite.
  ///   - suite: The suite of the code.
  /// - Throws: ``OTPError/Code/invalidInput``.
  public init(_ text: some StringProtocol, for suite: OCRASuite) throws(OTPError) {
    let characters = Array(text.utf8.prefix(suite.questionLength + 1))
    guard (1...suite.questionLength).contains(characters.count),
      characters.allSatisfy(suite.questionFormat.contains)
    else { throw .invalidInput(.question) }
    self.init(characters, suite.questionFormat, challengeLength: characters.count, challengeCount: 1)
  }

  /// Two challenges of one format, each at most 64 characters, one after the other as they are written.
  ///
  /// - Throws: ``OTPError/Code/invalidInput`` if the formats differ, or if one of them is two challenges already.
  init(joining first: OCRAQuestion, _ second: OCRAQuestion) throws(OTPError) {
    guard first.format == second.format, first.challengeCount + second.challengeCount == 2 else {
      throw .invalidInput(.question)
    }
    self.init(
      Array(first.text.utf8) + Array(second.text.utf8), first.format,
      challengeLength: max(first.challengeLength, second.challengeLength), challengeCount: 2)
  }

  init(_ characters: [UInt8], _ format: Format, challengeLength: Int, challengeCount: Int = 1) {
    self.text = String(decoding: characters, as: UTF8.self)
    self.format = format
    self.challengeLength = challengeLength
    self.challengeCount = challengeCount
    let encoded = format.encoded(characters)
    self.encoded = encoded + [UInt8](repeating: 0, count: 128 - encoded.count)
  }

  /// Whether a suite allows this question. The limit of the suite is for each of two challenges.
  func fits(_ suite: OCRASuite) -> Bool {
    format == suite.questionFormat && challengeLength <= suite.questionLength
  }
}

extension OCRAQuestion {
  /// A new challenge: as many characters as the suite allows, each equally likely.
  ///
  /// - Parameters:
  ///   - suite: The suite of the code.
  ///   - generator: `SystemRandomNumberGenerator`, or another one that nobody can predict.
  public static func random(
    for suite: OCRASuite, using generator: inout some RandomNumberGenerator
  ) -> OCRAQuestion {
    let alphabet = suite.questionFormat.alphabet
    let characters = (0..<suite.questionLength).map { _ in
      alphabet[Int.random(in: alphabet.indices, using: &generator)]
    }
    return OCRAQuestion(characters, suite.questionFormat, challengeLength: characters.count)
  }

  /// The question that signs data: a suite either takes the data as it is, or its hash value.
  ///
  /// - `QH64`: the SHA-256 of the data, of any length, in lowercase hexadecimal digits.
  /// - Other `QH`, and `QN`: exactly as many digits as the suite says; hexadecimal digits in lower case.
  /// - `QA`: 1 to ``OCRASuite/questionLength`` ASCII letters and digits.
  ///
  /// So the questions of different data are different. Nothing is trimmed: a newline at the end is a byte of the data.
  /// - Parameters:
  ///   - data: What is signed.
  ///   - suite: The suite of the code.
  /// - Throws: ``OTPError/Code/invalidData`` if the suite takes neither.
  public init(data: RawSpan, for suite: OCRASuite) throws(OTPError) {
    let format = suite.questionFormat
    if format == .hexadecimal && suite.questionLength == 64 {
      self.init(Hexadecimal.digits(of: SHA256.hash(data)), format, challengeLength: 64)
      return
    }
    let lengths =
      format == .alphanumeric ? 1...suite.questionLength : suite.questionLength...suite.questionLength
    guard lengths.contains(data.byteCount) else { throw .invalidData }
    let characters = (0..<data.byteCount).map { data.byte(at: $0) }
    guard characters.allSatisfy(format.alphabet.contains) else { throw .invalidData }
    self.init(characters, format, challengeLength: characters.count)
  }

  /// The question that signs the bytes of an array or of `Data`, as ``init(data:for:)-(RawSpan,_)``.
  public init(data: Span<UInt8>, for suite: OCRASuite) throws(OTPError) {
    try self.init(data: unsafe data.bytes, for: suite)
  }
}

extension OCRAQuestion.Format {
  /// The format of a letter in a suite.
  init?(letter: UInt8) {
    switch letter {
    case UInt8(ascii: "A"): self = .alphanumeric
    case UInt8(ascii: "N"): self = .numeric
    case UInt8(ascii: "H"): self = .hexadecimal
    default: return nil
    }
  }

  /// The characters that this library writes.
  var alphabet: [UInt8] {
    switch self {
    case .alphanumeric: Self.lettersAndDigits
    case .numeric: Self.digits
    case .hexadecimal: Hexadecimal.alphabet
    }
  }

  /// Whether a challenge may have this character.
  func contains(_ byte: UInt8) -> Bool {
    switch self {
    case .alphanumeric, .numeric: alphabet.contains(byte)
    case .hexadecimal: ASCII.hexDigit(byte) != nil
    }
  }

  /// The bytes that go into a code, before the zeros (RFC 6287 §5.1, and the reference implementation in its appendix A).
  func encoded(_ characters: [UInt8]) -> [UInt8] {
    switch self {
    case .alphanumeric: characters
    case .numeric: Hexadecimal.bytes(of: Hexadecimal.values(ofDecimal: characters))
    case .hexadecimal: Hexadecimal.bytes(of: characters.compactMap(ASCII.hexDigit))
    }
  }

  private static let digits = Array("0123456789".utf8)
  private static let lettersAndDigits = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
}
