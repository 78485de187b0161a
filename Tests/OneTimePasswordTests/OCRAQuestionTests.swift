import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultCrypto

@Suite("OCRA questions", .bounded, .requirement("A16"))
struct OCRAQuestionTests {
  @Test(
    "a challenge has the characters of the suite, at least one and no more than the suite says",
    arguments: [
      ("QN08", "1"), ("QN08", "00000000"), ("QN64", String(repeating: "9", count: 64)), ("QA04", "aZ09"),
      ("QH05", "aB0fF"), ("QH08", "abc"),
    ])
  func accepted(_ part: String, text: String) throws {
    let question = try OCRAQuestion(text, for: suite(part))
    #expect(question.text == text && question.challengeLength == text.count)
  }

  @Test(
    "any other challenge is refused",
    arguments: [
      ("QN08", ""), ("QN08", "123456789"), ("QN08", "1234567a"), ("QN08", "-1234567"), ("QN08", " 1234567"),
      ("QN08", "١٢٣٤"), ("QN08", "１２３"), ("QN08", "1\n"), ("QN08", "12\u{0}4"), ("QH08", "g"),
      ("QH08", "0x123456"), ("QH08", "123456789"), ("QA08", "pay 12"), ("QA08", "zahl-ä"),
      ("QA08", "abcdefghi"),
      ("QA08", "Ａ"),
    ])
  func refused(_ part: String, text: String) throws {
    let suite = try suite(part)
    #expect(throws: OTPError.invalidInput(.question)) { _ = try OCRAQuestion(text, for: suite) }
  }

  @Test(
    "numbers and hexadecimal digits that mean the same give one code, and others do not",
    arguments: [
      ("QN08", "12", "0012", true), ("QN08", "12", "120", false), ("QN08", "0", "00000000", true),
      ("QH08", "ab", "AB0", true), ("QH08", "abc", "ABC0", true), ("QH08", "abc", "0abc", false),
      ("QA08", "ab", "AB", false), ("QA08", "1", "01", false),
    ])
  func equivalents(_ part: String, first: String, second: String, isSame: Bool) throws {
    try expect((wholeCode(first, part) == wholeCode(second, part)), equals: isSame)
  }

  @Test(
    "a number counts as its hexadecimal digits, of any length",
    arguments: [
      ("0", "0"), ("15", "f"), ("16", "10"), ("4096", "1000"), ("18446744073709551615", "ffffffffffffffff"),
      ("18446744073709551616", "10000000000000000"),
      (
        "9999999999999999999999999999999999999999999999999999999999999999",
        "184f03e93ff9f4daa797ed6e38ed64bf6a1f00ffffffffffffffff"
      ),
    ])
  func numbers(_ text: String, digits: String) throws {
    let padded = digits + String(repeating: "0", count: 256 - digits.count)
    let message = Array("OCRA-1:HOTP-SHA1-0:QN64\u{0}".utf8) + bytes(hex: padded)
    let hmac = KeyedHMAC(key: rfcKey(), algorithm: .sha1)
    try expect(wholeCode(text, "QN64"), equals: hex(hmac.code(for: message)))
  }

  @Test("two challenges of one question are limited one by one")
  func joined() throws {
    let suite = try suite("QA08")
    let (first, second) = (try OCRAQuestion("CLI22220", for: suite), try OCRAQuestion("SRV1", for: suite))
    let challenges = try OCRAChallenges(client: first, server: second)
    let both = challenges.serverQuestion
    #expect(both.text == "CLI22220SRV1" && both.challengeLength == 8)
    expect(challenges.clientQuestion.text, equals: "SRV1CLI22220")
    let number = try OCRAQuestion("1", for: self.suite("QN08"))
    for (client, server) in [(both, second), (first, both), (number, second)] {
      #expect(throws: OTPError.invalidInput(.question)) {
        _ = try OCRAChallenges(client: client, server: server)
      }
    }
  }

  @Test("a random challenge is as long as the suite says, and has all of its characters")
  func random() throws {
    var generator = SeededGenerator(seed: 1)
    for (part, count) in [("QA64", 62), ("QN64", 10), ("QH64", 16), ("QN04", 10)] {
      let suite = try suite(part)
      let questions = (0..<200).map { _ in OCRAQuestion.random(for: suite, using: &generator) }
      #expect(questions.allSatisfy { $0.text.count == suite.questionLength })
      expect(Set(questions.flatMap { Array($0.text) }).count, equals: count)
      #expect(try questions.allSatisfy { try OCRAQuestion($0.text, for: suite) == $0 })
    }
  }

  private func suite(_ part: String) throws -> OCRASuite { try OCRASuite("OCRA-1:HOTP-SHA1-0:\(part)") }

  private func wholeCode(_ text: String, _ part: String) throws -> String {
    let suite = try suite(part)
    let generator = try OCRAGenerator(key: rfcKey(), suite: suite)
    return try generator.code(for: OCRADataInput(question: OCRAQuestion(text, for: suite)))
  }
}
