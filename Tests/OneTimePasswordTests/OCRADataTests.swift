import OneTimePassword
import SecretMemory
import TestSupport
import Testing

/// What data may be signed by which suite.
///
/// Verified to fail when QH64 takes 64 hexadecimal digits as they are, and when a shorter number or an uppercase
/// hexadecimal digit is taken.
@Suite("Data that OCRA signs", .bounded, .requirement("A16"))
struct OCRADataTests {
  @Test(
    "data that is exactly a question of the suite is the question",
    arguments: [
      ("QN08", "12345678"), ("QN04", "0000"), ("QA08", "a"), ("QA08", "Pay12EUR"), ("QH07", "0badcaf"),
      ("QH63", String(repeating: "f", count: 63)),
    ])
  func asItIs(_ part: String, data: String) throws {
    let suite = try suite(part)
    try expect(question(data, suite), equals: OCRAQuestion(data, for: suite))
  }

  @Test(
    "QH64 signs the SHA-256 of any data, also of 64 digits",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "dfe7a23fefeea519e9bbfdd1a6be94c4b2e4529dd6b7cbea83f9959c2621b13c"
      ),
    ])
  func hashed(_ data: String, digest: String) throws {
    let suite = try suite("QH64")
    try expect(question(data, suite), equals: OCRAQuestion(digest, for: suite))
  }

  @Test(
    "any other data is refused",
    arguments: [
      ("QN08", ""), ("QN08", "1234567"), ("QN08", "123456789"), ("QN08", "1234567\n"), ("QN08", "12345678\n"),
      ("QN08", "1234567a"), ("QA08", ""), ("QA08", "abcdefghi"), ("QA08", "pay 12"), ("QA08", "Größe"),
      ("QA08", "a\u{0}"), ("QH08", "1234567"), ("QH08", "123456789"), ("QH08", "1234567g"),
      ("QH08", "1234567A"),
    ])
  func refused(_ part: String, data: String) throws {
    let suite = try suite(part)
    #expect(throws: OTPError.invalidData) { _ = try question(data, suite) }
  }

  @Test("a text of 1 MiB is refused as data, as a challenge and as a code")
  func long() throws {
    let text = String(repeating: "1", count: 1 << 20)
    for part in ["QN08", "QA64", "QH63"] {
      let suite = try suite(part)
      #expect(throws: OTPError.invalidData) { _ = try question(text, suite) }
      #expect(throws: OTPError.invalidInput(.question)) { _ = try OCRAQuestion(text, for: suite) }
      #expect(throws: OTPError.invalidCode) { _ = try OCRACode(text, for: suite) }
    }
  }

  @Test(
    "one changed byte of the data changes the code, or is refused",
    arguments: [
      ("QN08", "12345678"), ("QA16", "Pay12EURtoAnna00"), ("QH16", "0123456789abcdef"), ("QH64", "Pay 12"),
    ])
  func changedByte(_ part: String, data: String) throws {
    let suite = try suite(part)
    let generator = try OCRAGenerator(key: rfcKey(), suite: suite)
    let code = try generator.code(for: OCRADataInput(question: question(data, suite)))
    var acceptedCount = 0
    for place in 0..<data.utf8.count {
      for byte in UInt8.min ... .max {
        var changed = Array(data.utf8)
        guard changed[place] != byte else { continue }
        changed[place] = byte
        guard let question = try? question(changed, suite) else { continue }
        acceptedCount += 1
        #expect(try generator.code(for: OCRADataInput(question: question)) != code)
      }
    }
    #expect(acceptedCount >= 9 * data.utf8.count)
  }

  private func suite(_ part: String) throws -> OCRASuite { try OCRASuite("OCRA-1:HOTP-SHA256-0:\(part)") }

  private func question(_ data: String, _ suite: OCRASuite) throws -> OCRAQuestion {
    try question(Array(data.utf8), suite)
  }

  private func question(_ data: [UInt8], _ suite: OCRASuite) throws -> OCRAQuestion {
    try OCRAQuestion(data: data.span, for: suite)
  }
}
