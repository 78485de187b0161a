import OneTimePassword
import SecretMemory
import TestSupport
import Testing

/// RFC 6287 §7.2 with the suites, challenges and PIN of its appendix C.2.
///
/// Verified to fail when both questions begin with the client's challenge.
@Suite("Mutual authentication by OCRA", .bounded, .requirement("A16"))
struct OCRAChallengesTests {
  @Test("server and client prove to each other that they know the key, and the client its PIN")
  func mutual() throws {
    let key = "1234567890123456789012345678901234567890123456789012345678901234"
    let serverSuite = try OCRASuite("OCRA-1:HOTP-SHA512-8:QA08")
    let clientSuite = try OCRASuite("OCRA-1:HOTP-SHA512-8:QA08-PSHA1")
    let challenges = try OCRAChallenges(
      client: OCRAQuestion("CLI22220", for: serverSuite), server: OCRAQuestion("SRV11110", for: clientSuite))
    let server = try OCRAGenerator(key: secret(key), suite: serverSuite)
    let client = try OCRAGenerator(key: secret(key), suite: clientSuite)
    try expect(server.code(for: OCRADataInput(question: challenges.serverQuestion)), equals: "79496648")
    let pin = try OCRADataInput.pinHash(of: "1234", .sha1)
    let answer = try client.code(for: OCRADataInput(question: challenges.clientQuestion, pinHash: pin))
    expect(answer, equals: "18806276")
  }

  @Test("the answer of one party is not an answer of the other")
  func reflection() throws {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA1-0:QN08")
    let generator = try OCRAGenerator(key: rfcKey(), suite: suite)
    let challenges = try OCRAChallenges(
      client: OCRAQuestion("11111111", for: suite), server: OCRAQuestion("22222222", for: suite))
    let server = try generator.code(for: OCRADataInput(question: challenges.serverQuestion))
    #expect(try generator.code(for: OCRADataInput(question: challenges.clientQuestion)) != server)
  }

  /// Verified to fail when equal questions are allowed: the party that answers last can send back what it received.
  @Test(
    "challenges whose two questions are one question are refused",
    arguments: [
      ("QN08", "11111111", "11111111"), ("QN08", "12", "1212"), ("QN08", "0", "000"), ("QA08", "aa", "aaaa"),
      ("QH08", "ab", "AB"), ("QH08", "0", "00"),
    ])
  func equal(question: String, client: String, server: String) throws {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA1-6:\(question)")
    let (client, server) = (try OCRAQuestion(client, for: suite), try OCRAQuestion(server, for: suite))
    #expect(throws: OTPError.invalidInput(.question)) {
      _ = try OCRAChallenges(client: client, server: server)
    }
  }
}
