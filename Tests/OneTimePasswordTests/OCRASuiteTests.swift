import OneTimePassword
import TestSupport
import Testing

/// Verified to fail when lower case, `S513`, `QN65`, `QN008`, `QN`, `Q08` or `T0S` is read, and when `Q`, `P`, `S` or `T` alone
/// is refused.
@Suite("OCRA suites", .bounded, .requirement("A16"))
struct OCRASuiteTests {
  private typealias Part = OCRASuite.Part

  @Test("each part of a suite is read, and the text is kept letter by letter")
  func parts() throws {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA512-10:C-QA64-PSHA256-S512-T48H")
    #expect(suite.algorithm == .sha512 && suite.format.digits == 10 && suite.codeLength == 10)
    #expect(suite.hasCounter && suite.questionFormat == .alphanumeric && suite.questionLength == 64)
    #expect(suite.pinHash == .sha256 && suite.sessionByteCount == 512 && suite.timeStepSeconds == 172_800)
    expect(suite.description, equals: "OCRA-1:HOTP-SHA512-10:C-QA64-PSHA256-S512-T48H")
    let plain = try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08")
    #expect(!plain.hasCounter && plain.pinHash == nil && plain.sessionByteCount == nil)
    #expect(plain.timeStepSeconds == nil && plain.questionFormat == .numeric && plain.questionLength == 8)
  }

  @Test(
    "what RFC 6287 allows is read",
    arguments: [
      "OCRA-1:HOTP-SHA512-8:C-QN08-PSHA1", "OCRA-1:HOTP-SHA256-6:QA10-T1M", "OCRA-1:HOTP-SHA1-4:QH8-S512",
      "OCRA-1:HOTP-SHA1-0:QN04", "OCRA-1:HOTP-SHA1-4:QN64", "OCRA-1:HOTP-SHA1-9:QN4",
      "OCRA-1:HOTP-SHA1-10:QH59",
      "OCRA-1:HOTP-SHA1-6:QN08-S001", "OCRA-1:HOTP-SHA1-6:QN08-PSHA512-S099-T1S",
      "OCRA-1:HOTP-SHA1-6:QN08-T59S",
      "OCRA-1:HOTP-SHA1-6:QN08-T59M", "OCRA-1:HOTP-SHA1-6:QN08-T0H", "OCRA-1:HOTP-SHA1-6:QN08-S512-T1H",
    ])
  func accepted(_ text: String) throws {
    try expect(OCRASuite(text).description, equals: text)
    try expect(OCRASuite(text[...]), equals: OCRASuite(text))
  }

  @Test("suites that mean the same and are written differently are two suites")
  func twoSpellings() throws {
    #expect(try OCRASuite("OCRA-1:HOTP-SHA1-6:QH8") != OCRASuite("OCRA-1:HOTP-SHA1-6:QH08"))
  }

  @Test("Q, P, S and T alone have the defaults of RFC 6287, section 6.3, and stay as they are written")
  func defaults() throws {
    let bare = try OCRASuite("OCRA-1:HOTP-SHA256-6:C-Q-P-S-T")
    #expect(bare.questionFormat == .numeric && bare.questionLength == 8 && bare.hasCounter)
    #expect(bare.pinHash == .sha1 && bare.sessionByteCount == 64 && bare.timeStepSeconds == 60)
    expect(bare.description, equals: "OCRA-1:HOTP-SHA256-6:C-Q-P-S-T")
    #expect(try bare != OCRASuite("OCRA-1:HOTP-SHA256-6:C-QN08-PSHA1-S064-T1M"))
    let session = try OCRASuite("OCRA-1:HOTP-SHA1-6:QH10-S")
    #expect(session.questionFormat == .hexadecimal && session.questionLength == 10)
    #expect(session.pinHash == nil && session.sessionByteCount == 64 && session.timeStepSeconds == nil)
    try expect(OCRASuite("OCRA-1:HOTP-SHA1-6:Q").description, equals: "OCRA-1:HOTP-SHA1-6:Q")
  }

  @Test("a part with its default makes another code than the same part written out")
  func hashedAsWritten() throws {
    for (short, long) in [("Q", "QN08"), ("QN08-P", "QN08-PSHA1"), ("Q-S", "Q-S064"), ("Q-T", "Q-T1M")] {
      let codes = try [short, long].map { data in
        let suite = try OCRASuite("OCRA-1:HOTP-SHA1-8:\(data)")
        var input = OCRADataInput(question: try OCRAQuestion("12345678", for: suite))
        if suite.pinHash != nil { input.pinHash = try OCRADataInput.pinHash(of: "1234", .sha1) }
        if suite.sessionByteCount != nil { input.session = [1, 2, 3] }
        if suite.timeStepSeconds != nil { input.timeStep = 1 }
        return try OCRAGenerator(key: rfcKey(), suite: suite).code(for: input)
      }
      #expect(codes[0] != codes[1], "\(short)")
    }
  }

  /// The part that is missing or wrong, and the offset at which it begins or should begin.
  @Test(
    "each fault is found at its part and its place",
    arguments: [
      // Missing parts.
      ("", .algorithm, 0), ("OCRA", .algorithm, 0), ("OCRA-1", .cryptoFunction, 6),
      ("OCRA-1:", .cryptoFunction, 7), ("OCRA-1:HOTP", .hash, 11), ("OCRA-1:HOTP-", .hash, 12),
      ("OCRA-1:HOTP-SHA1", .digits, 16), ("OCRA-1:HOTP-SHA1-", .digits, 17),
      ("OCRA-1:HOTP-SHA1:QN08", .digits, 16),
      ("OCRA-1:HOTP-6:QN08", .hash, 12), ("OCRA-1:QN08", .cryptoFunction, 7),
      ("HOTP-SHA1-6:QN08", .algorithm, 0),
      ("OCRA-1:HOTP-SHA1-6", .question, 18), ("OCRA-1:HOTP-SHA1-6:", .question, 19),
      ("OCRA-1:HOTP-SHA1-6:C", .question, 20), ("OCRA-1:HOTP-SHA1-6:C-", .question, 21),
      ("OCRA-1:HOTP-SHA1-6:C-PSHA1", .question, 21), ("OCRA-1:HOTP-SHA1-6:PSHA1", .question, 19),
      ("OCRA-1:HOTP-SHA1-6:QN08-", .order, 24), ("OCRA-1:HOTP-SHA1-6:Q-", .order, 21),
      ("OCRA-1:HOTP-SHA1-6:Q-S-P", .order, 23), ("OCRA-1:HOTP-SHA1-6:Q-T-S", .order, 23),
      ("OCRA-1:HOTP-SHA1-6:Q-S-S064", .order, 23), ("OCRA-1:HOTP-SHA1-6:C-S", .question, 21),
      // Parts that are there twice, or at another place.
      ("OCRA-1:HOTP-SHA1-SHA256-6:QN08", .digits, 17), ("OCRA-1:HOTP-SHA1-6-8:QN08", .question, 18),
      ("OCRA-1:HOTP-SHA1-6:QN08-PSHA1-PSHA256", .order, 30), ("OCRA-1:HOTP-SHA1-6:QN08-QN08", .order, 24),
      ("OCRA-1:HOTP-SHA1-6:C-C-QN08", .question, 21), ("OCRA-1:HOTP-SHA1-6:QN08-C", .order, 24),
      ("OCRA-1:HOTP-SHA1-6:QN08-S064-PSHA1", .order, 29), ("OCRA-1:HOTP-SHA1-6:QN08-T1M-S064", .order, 28),
      ("OCRA-1:HOTP-SHA1-6:QN08-T1M-T1M", .order, 28), ("OCRA-1:HOTP-SHA1-6:QN08:T1M", .order, 23),
      ("OCRA-1:HOTP-SHA1-6:QN08--T1M", .order, 24), ("OCRA-1:HOTP-SHA1-6:QN08-X", .order, 24),
    ] as [(String, OCRASuite.Part, Int)])
  func structure(_ text: String, part: OCRASuite.Part, position: Int) {
    #expect(throws: OTPError.invalidSuite(part, position: position)) { _ = try OCRASuite(text) }
  }

  @Test(
    "each bad value is found at its part and its place",
    arguments: [
      ("OCRA-2:HOTP-SHA1-6:QN08", .algorithm, 0), ("OCRA-10:HOTP-SHA1-6:QN08", .algorithm, 0),
      ("ocra-1:hotp-sha1-6:qn08", .algorithm, 0), (" OCRA-1:HOTP-SHA1-6:QN08", .algorithm, 0),
      ("OCRA-1:hotp-SHA1-6:QN08", .cryptoFunction, 7), ("OCRA-1:TOTP-SHA1-6:QN08", .cryptoFunction, 7),
      ("OCRA-1:HOTP-sha1-6:QN08", .hash, 12), ("OCRA-1:HOTP-MD5-6:QN08", .hash, 12),
      ("OCRA-1:HOTP-SHA384-6:QN08", .hash, 12), ("OCRA-1:HOTP-SHA-6:QN08", .hash, 12),
      ("OCRA-1:HOTP-SHA1-3:QN08", .digits, 17), ("OCRA-1:HOTP-SHA1-11:QN08", .digits, 17),
      ("OCRA-1:HOTP-SHA1-1:QN08", .digits, 17), ("OCRA-1:HOTP-SHA1-06:QN08", .digits, 17),
      ("OCRA-1:HOTP-SHA1-00:QN08", .digits, 17), ("OCRA-1:HOTP-SHA1-+6:QN08", .digits, 17),
      ("OCRA-1:HOTP-SHA1-99999999999999999999:QN08", .digits, 17), ("OCRA-1:HOTP-SHA1-٦:QN08", .digits, 17),
      ("OCRA-1:HOTP-SHA1-6:c-QN08", .question, 19), ("OCRA-1:HOTP-SHA1-6:qn08", .question, 19),
      ("OCRA-1:HOTP-SHA1-6:QN03", .question, 19), ("OCRA-1:HOTP-SHA1-6:QN65", .question, 19),
      ("OCRA-1:HOTP-SHA1-6:QN3", .question, 19), ("OCRA-1:HOTP-SHA1-6:QN008", .question, 19),
      ("OCRA-1:HOTP-SHA1-6:QX08", .question, 19), ("OCRA-1:HOTP-SHA1-6:Q08", .question, 19),
      ("OCRA-1:HOTP-SHA1-6:QN", .question, 19), ("OCRA-1:HOTP-SHA1-6:QA-S", .question, 19),
      ("OCRA-1:HOTP-SHA1-6:q", .question, 19), ("OCRA-1:HOTP-SHA1-6:Q-s", .order, 21),
      ("OCRA-1:HOTP-SHA1-6:QN08-PSHA", .pinHash, 24), ("OCRA-1:HOTP-SHA1-6:QN08-S0", .session, 24),
      ("OCRA-1:HOTP-SHA1-6:QN08 ", .question, 19), ("OCRA-1:HOTP-SHA1-6:QN0８", .question, 19),
      ("OCRA-1:HOTP-SHA1-6:C-QN65-PSHA1", .question, 21), ("OCRA-1:HOTP-SHA1-6:QN08-psha1", .order, 24),
      ("OCRA-1:HOTP-SHA1-6:QN08-PMD5", .pinHash, 24), ("OCRA-1:HOTP-SHA1-6:QN08-Psha1", .pinHash, 24),
      ("OCRA-1:HOTP-SHA1-6:QN08-S65536", .session, 24), ("OCRA-1:HOTP-SHA1-6:QN08-S64", .session, 24),
      ("OCRA-1:HOTP-SHA1-6:QN08-S000", .session, 24), ("OCRA-1:HOTP-SHA1-6:QN08-S513", .session, 24),
      ("OCRA-1:HOTP-SHA1-6:QN08-S06４", .session, 24), ("OCRA-1:HOTP-SHA1-6:QN08-PSHA1-S-64", .order, 32),
      ("OCRA-1:HOTP-SHA1-6:QN08-T0S", .timeStep, 24), ("OCRA-1:HOTP-SHA1-6:QN08-T0M", .timeStep, 24),
      ("OCRA-1:HOTP-SHA1-6:QN08-T60S", .timeStep, 24), ("OCRA-1:HOTP-SHA1-6:QN08-T60M", .timeStep, 24),
      ("OCRA-1:HOTP-SHA1-6:QN08-T49H", .timeStep, 24), ("OCRA-1:HOTP-SHA1-6:QN08-T60H", .timeStep, 24),
      ("OCRA-1:HOTP-SHA1-6:QN08-T01M", .timeStep, 24), ("OCRA-1:HOTP-SHA1-6:QN08-T00H", .timeStep, 24),
      ("OCRA-1:HOTP-SHA1-6:QN08-T1", .timeStep, 24), ("OCRA-1:HOTP-SHA1-6:QN08-TM", .timeStep, 24),
      ("OCRA-1:HOTP-SHA1-6:QN08-T1D", .timeStep, 24), ("OCRA-1:HOTP-SHA1-6:QN08-T1m", .timeStep, 24),
      ("OCRA-1:HOTP-SHA1-6:QN08\u{0}", .question, 19), ("OCRA-1:HOTP-SHA1-6:QN08-T1M\n", .timeStep, 24),
    ] as [(String, OCRASuite.Part, Int)])
  func values(_ text: String, part: OCRASuite.Part, position: Int) {
    #expect(throws: OTPError.invalidSuite(part, position: position)) { _ = try OCRASuite(text) }
  }

  @Test("the longest suite is read, and a longer text has its fault behind it")
  func longest() throws {
    let longest = "OCRA-1:HOTP-SHA512-10:C-QN64-PSHA512-S512-T59M"
    try expect(OCRASuite(longest).description, equals: longest)
    #expect(throws: OTPError.invalidSuite(.order, position: 47)) { _ = try OCRASuite(longest + "-T1M") }
    #expect(throws: OTPError.invalidSuite(.timeStep, position: 42)) {
      _ = try OCRASuite(longest + String(repeating: "0", count: 1 << 20))
    }
  }

  @Test("an error says which part is wrong, where, and what is allowed there")
  func message() throws {
    let error = try #require(throws: OTPError.self) { _ = try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08-S65536") }
    #expect(error.code == .invalidSuite && error.part == .session && error.position == 24)
    expect(
      error.message,
      equals:
        "that is not an OCRA suite (character 25): the session is S, or S and three digits from 001 to 512")
    expect(Set(Part.allCases.map(\.description)).count, equals: Part.allCases.count)
  }

  @Test("the length of a code is that of its digits, or of the whole HMAC")
  func codeLength() throws {
    let lengths = try ["SHA1-0", "SHA256-0", "SHA512-0", "SHA512-4"].map {
      try OCRASuite("OCRA-1:HOTP-\($0):QN08").codeLength
    }
    expect(lengths, equals: [40, 64, 128, 4])
  }

  @Test("a time belongs to a step of the suite, and a suite without time has none")
  func timeSteps() throws {
    try expect(suite("T20S").timeStep(at: 1_000_000_019).number, equals: 50_000_000)
    // RFC 6287, appendix C.1: 25 March 2008, 12:06:30 GMT.
    try expect(suite("T1M").timeStep(at: 1_206_446_790).number, equals: 0x132d0b6)
    try expect(suite("T48H").timeStep(at: 172_799).number, equals: 0)
    #expect(throws: OTPError.timeOutOfRange) { _ = try suite("T1M").timeStep(at: -1) }
    #expect(throws: OTPError.invalidPeriod) { _ = try suite("T0H").timeStep(at: 0) }
    #expect(throws: OTPError.unexpectedInput(.timeStep)) { _ = try suite("S064").timeStep(at: 0) }
  }

  private func suite(_ last: String) throws -> OCRASuite { try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08-\(last)") }
}
