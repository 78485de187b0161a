extension OCRASuite {
  /// Reads a suite (RFC 6287 §6).
  ///
  /// Accepted are exactly the texts of the RFC, in capital letters: `OCRA-1:HOTP-` with SHA1, SHA256 or SHA512 and 0 or
  /// 4 to 10 digits, `:`, an optional `C-`, then QA, QN or QH with 04 to 64 (a single digit as in RFC 6287 §6.4's
  /// `QH8`), and optionally, in this order, `-P` with a hash, `-S` with 001 to 512, and `-T` with 1S to 59S, 1M to 59M
  /// or 0H to 48H. `Q`, `P`, `S` and `T` alone have the defaults of §6.3: QN08, PSHA1, S064 and T1M. The text stays as it
  /// is, also in the codes.
  ///
  /// - Throws: ``OTPError/Code/invalidSuite``, which says which part is missing or wrong, and where.
  public init(_ text: some StringProtocol) throws(OTPError) {
    var reader = SuiteReader(text)
    try reader.algorithm()
    algorithm = try reader.hash()
    format = try reader.format()
    hasCounter = try reader.counter()
    (questionFormat, questionLength) = try reader.question()
    pinHash = try reader.pinHash()
    sessionByteCount = try reader.session()
    timeStepSeconds = try reader.timeStep()
    try reader.end()
    description = String(text)
  }
}

/// Reads words, which end at the next `-` or `:`, from left to right.
private struct SuiteReader {
  private let bytes: [UInt8]
  private var position = 0

  /// No suite is longer than 64 bytes, so a longer text has a fault before their end.
  init(_ text: some StringProtocol) {
    bytes = Array(text.utf8.prefix(64))
  }

  mutating func algorithm() throws(OTPError) {
    guard bytes.prefix(while: { $0 != UInt8(ascii: ":") }).elementsEqual("OCRA-1".utf8) else {
      throw .invalidSuite(.algorithm, position: 0)
    }
    position = "OCRA-1".utf8.count
    try separator(":", before: .cryptoFunction)
    try word(.cryptoFunction) { $0.elementsEqual("HOTP".utf8) ? () : nil }
  }

  mutating func hash() throws(OTPError) -> OTPAlgorithm {
    try separator("-", before: .hash)
    return try word(.hash, Self.algorithm)
  }

  mutating func format() throws(OTPError) -> OCRAFormat {
    try separator("-", before: .digits)
    return try word(.digits) { word in Self.number(word).flatMap(OCRAFormat.init) }
  }

  mutating func counter() throws(OTPError) -> Bool {
    try separator(":", before: .question)
    guard nextWord.elementsEqual("C".utf8) else { return false }
    position += 1
    try separator("-", before: .question)
    return true
  }

  mutating func question() throws(OTPError) -> (OCRAQuestion.Format, Int) {
    try word(.question) { word in
      if word.elementsEqual("Q".utf8) { return (.numeric, 8) }
      guard word.count >= 2, word.first == UInt8(ascii: "Q") else { return nil }
      let digits = word.dropFirst(2)
      guard let format = OCRAQuestion.Format(letter: word[word.startIndex + 1]), digits.count <= 2,
        let length = ASCII.decimal(digits), (4...64).contains(length)
      else { return nil }
      return (format, Int(length))
    }
  }

  mutating func pinHash() throws(OTPError) -> OTPAlgorithm? {
    try optional("P", .pinHash) { $0.isEmpty ? .sha1 : Self.algorithm($0) }
  }

  mutating func session() throws(OTPError) -> Int? {
    try optional("S", .session) { digits in
      if digits.isEmpty { return 64 }
      guard digits.count == 3, let count = ASCII.decimal(digits), (1...512).contains(count) else {
        return nil
      }
      return Int(count)
    }
  }

  mutating func timeStep() throws(OTPError) -> Int64? {
    try optional("T", .timeStep) { step in
      if step.isEmpty { return 60 }
      guard let number = Self.number(step.dropLast()) else { return nil }
      switch step.last {
      case UInt8(ascii: "S"): return (1...59).contains(number) ? Int64(number) : nil
      case UInt8(ascii: "M"): return (1...59).contains(number) ? Int64(number) * 60 : nil
      case UInt8(ascii: "H"): return (0...48).contains(number) ? Int64(number) * 3600 : nil
      default: return nil
      }
    }
  }

  /// What is left is no part, or one at a wrong place.
  mutating func end() throws(OTPError) {
    guard position < bytes.count else { return }
    try separator("-", before: .order)
    throw .invalidSuite(.order, position: position)
  }

  private var nextWord: ArraySlice<UInt8> {
    bytes[position...].prefix { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":") }
  }

  private mutating func word<Value>(
    _ part: OCRASuite.Part, _ read: (ArraySlice<UInt8>) -> Value?
  ) throws(OTPError) -> Value {
    let word = nextWord
    guard let value = read(word) else { throw .invalidSuite(part, position: position) }
    position += word.count
    return value
  }

  /// The rest of the next word behind a hyphen, if it begins with this letter.
  private mutating func optional<Value>(
    _ letter: Unicode.Scalar, _ part: OCRASuite.Part, _ read: (ArraySlice<UInt8>) -> Value?
  ) throws(OTPError) -> Value? {
    guard bytes[position...].starts(with: [UInt8(ascii: "-"), UInt8(ascii: letter)]) else { return nil }
    position += 1
    return try word(part) { read($0.dropFirst()) }
  }

  private mutating func separator(_ separator: Character, before part: OCRASuite.Part) throws(OTPError) {
    guard skip("\(separator)") else { throw .invalidSuite(part, position: position) }
  }

  private mutating func skip(_ text: String) -> Bool {
    guard bytes[position...].starts(with: text.utf8) else { return false }
    position += text.utf8.count
    return true
  }

  private static func algorithm(_ name: ArraySlice<UInt8>) -> OTPAlgorithm? {
    OTPAlgorithm.allCases.first { $0.rawValue.utf8.elementsEqual(name) }
  }

  /// A number without zeros before it.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard digits.count <= 2, digits.count == 1 || digits.first != UInt8(ascii: "0") else { return nil }
    return ASCII.decimal(digits).map(Int.init)
  }
}
