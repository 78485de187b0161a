import OneTimePassword
import SecretMemory
import TestSupport
import Testing

/// Verified to fail when the session is filled on the right, when counter 0 counts as missing, when the hash of the PIN is
/// left out or made by another function, when a value that the suite does not name is ignored, and when a question, a
/// session or a hash that does not fit is taken.
@Suite("OCRA codes", .bounded, .requirement("A16"))
struct OCRAGeneratorTests {
  @Test(
    "a code has exactly the digits of the suite, zeros kept on the left", arguments: [4, 5, 6, 7, 8, 9, 10])
  func digits(_ digits: Int) throws {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA1-\(digits):QN08")
    let generator = try OCRAGenerator(key: rfcKey(), suite: suite)
    let codes = try (0..<200).map { number in
      try generator.code(for: OCRADataInput(question: OCRAQuestion("\(number)", for: suite)))
    }
    #expect(codes.allSatisfy { code in code.utf8.count == digits && code.allSatisfy(\.isWholeNumber) })
    #expect(codes.contains { $0.hasPrefix("0") })
    // A number of 31 bits has ten digits at most, and the first of ten is 0, 1 or 2.
    #expect(digits < 10 || codes.allSatisfy { $0 <= "2147483647" } && codes.contains { $0 > "1" })
  }

  @Test(
    "a suite of 0 digits gives the whole HMAC in lowercase hexadecimal digits",
    arguments: ["SHA1", "SHA256", "SHA512"])
  func wholeHMAC(_ hash: String) throws {
    let suite = try OCRASuite("OCRA-1:HOTP-\(hash)-0:QN08")
    let code = try OCRAGenerator(key: rfcKey(), suite: suite)
      .code(for: OCRADataInput(question: OCRAQuestion("12345678", for: suite)))
    #expect(code.utf8.count == suite.codeLength && code.allSatisfy { "0123456789abcdef".contains($0) })
    try expect(OCRACode(code.uppercased(), for: suite).text, equals: code)
  }

  @Test("an empty key is refused")
  func emptyKey() throws {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08")
    #expect(throws: OTPError.emptyKey) { _ = try OCRAGenerator(key: secret(""), suite: suite) }
  }

  @Test(
    "every value that a suite names must be given",
    arguments: [
      ("C-QN08", .counter), ("QN08-PSHA1", .pinHash), ("QN08-S064", .session), ("QN08-T1M", .timeStep),
    ]
      as [(String, OCRASuite.Part)])
  func missing(_ data: String, part: OCRASuite.Part) throws {
    let scene = try OCRAScene(data)
    #expect(throws: OTPError.missingInput(part)) { _ = try scene.generator.code(for: scene.input()) }
  }

  @Test("no value may be given that the suite does not name")
  func unexpected() throws {
    let scene = try OCRAScene("QN08")
    let question = try scene.input().question
    let counter = OCRADataInput(question: question, counter: 0)
    let pin = OCRADataInput(question: question, pinHash: try OCRADataInput.pinHash(of: "1234", .sha1))
    let session = OCRADataInput(question: question, session: [])
    let time = OCRADataInput(question: question, timeStep: 0)
    #expect(throws: OTPError.unexpectedInput(.counter)) { _ = try scene.generator.code(for: counter) }
    #expect(throws: OTPError.unexpectedInput(.pinHash)) { _ = try scene.generator.code(for: pin) }
    #expect(throws: OTPError.unexpectedInput(.session)) { _ = try scene.generator.code(for: session) }
    #expect(throws: OTPError.unexpectedInput(.timeStep)) { _ = try scene.generator.code(for: time) }
  }

  @Test("counters 0 and 2^64 − 1 are counters as any other")
  func counters() throws {
    let scene = try OCRAScene("C-QN08")
    let codes = try [0, 1, UInt64.max - 1, .max].map { counter in
      var input = try scene.input()
      input.counter = counter
      return try scene.generator.code(for: input)
    }
    expect(Set(codes).count, equals: 4)
  }

  @Test("a session may be empty or shorter than the suite says, and is filled on the left")
  func sessions() throws {
    let scene = try OCRAScene("QN08-S004")
    let codes = try [[], [0], [0, 0, 0, 0], [7], [0, 0, 0, 7], [7, 0, 0, 0]].map {
      try scene.code(session: $0)
    }
    #expect(codes[0] == codes[1] && codes[1] == codes[2])
    #expect(codes[3] == codes[4] && codes[4] != codes[5])
    #expect(throws: OTPError.invalidInput(.session)) { _ = try scene.code(session: [0, 0, 0, 0, 0]) }
  }

  @Test("the PIN of a code counts, and is hashed by the function of the suite")
  func pins() throws {
    let scene = try OCRAScene("QN08-PSHA256")
    #expect(try scene.code(pin: "1234", .sha256) != scene.code(pin: "1235", .sha256))
    #expect(throws: OTPError.invalidInput(.pinHash)) { _ = try scene.code(pin: "1234", .sha1) }
    #expect(throws: OTPError.invalidInput(.pinHash)) { _ = try scene.code(pin: "", .sha256) }
    #expect(throws: OTPError.invalidInput(.pinHash)) {
      _ = try OCRAPINHash(hash: secret([UInt8](repeating: 1, count: 20)), algorithm: .sha256)
    }
  }

  @Test("a question of another suite is refused where it does not fit")
  func otherQuestion() throws {
    let scene = try OCRAScene("QN08")
    let long = try OCRAQuestion("123456789", for: OCRASuite("OCRA-1:HOTP-SHA1-6:QN09"))
    let letters = try OCRAQuestion("1234", for: OCRASuite("OCRA-1:HOTP-SHA1-6:QA08"))
    let short = try OCRAQuestion("1234", for: OCRASuite("OCRA-1:HOTP-SHA512-6:QN64"))
    for question in [long, letters] {
      #expect(throws: OTPError.invalidInput(.question)) {
        _ = try scene.generator.code(for: OCRADataInput(question: question))
      }
    }
    try expect(scene.generator.code(for: OCRADataInput(question: short)).count, equals: 40)
  }

  @Test("an error tells which value is meant, and no value")
  func messages() {
    expect(OTPError.missingInput(.timeStep).message, equals: "the suite needs a time")
    expect(OTPError.unexpectedInput(.pinHash).message, equals: "the suite has no PIN")
    expect(
      OTPError.invalidInput(.question).message,
      equals: "the suite does not allow this question: it is empty, too long, or has other characters")
    expect(
      OTPError.invalidInput(.session).message, equals: "the suite does not allow this session: it is too long"
    )
    expect(
      OTPError.invalidData.message,
      equals: "the suite cannot sign this data; a suite with QH64 signs any data")
  }
}
