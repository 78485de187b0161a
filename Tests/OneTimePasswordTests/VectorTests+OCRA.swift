import Foundation
import OneTimePassword
import SecretMemory
import TestSupport
import Testing

extension VectorTests {
  /// Each row is computed, and its code is found among wrong ones.
  func ocraVectors(_ file: VectorFile) throws -> Int {
    let rows = try file.rows(
      "tests", header: ["source", "encoding", "tests"],
      keys: [
        "suite", "keyHex", "question", "otp", "counter", "pin", "pinHashHex", "sessionHex", "timeStepHex",
        "hmacHex",
        "note",
      ])
    for row in rows {
      let suite = try OCRASuite(row.string("suite"))
      let generator = try OCRAGenerator(key: secret(bytes(hex: row.string("keyHex"))), suite: suite)
      let expected = try row.string(suite.format == .wholeHMAC ? "hmacHex" : "otp")
      let input = try row.dataInput(for: suite)
      try expect(generator.code(for: input), equals: expected)
      #expect(try generator.isCode(OCRACode(expected, for: suite), for: input))
    }
    return rows.count
  }
}

extension [String: Any] {
  fileprivate func dataInput(for suite: OCRASuite) throws -> OCRADataInput {
    var input = OCRADataInput(question: try question(for: suite))
    input.counter = try self["counter"].map { _ in UInt64(try integer("counter")) }
    input.session = try self["sessionHex"].map { _ in bytes(hex: try string("sessionHex")) }
    input.timeStep = try self["timeStepHex"].map { _ in try #require(UInt64(string("timeStepHex"), radix: 16))
    }
    guard let algorithm = suite.pinHash else { return input }
    let stored = secret(bytes(hex: try string("pinHashHex")))
    let made = try OCRADataInput.pinHash(of: string("pin"), algorithm)
    let fromStored = try OCRAPINHash(hash: stored, algorithm: algorithm)
    try expectSame(made, fromStored)
    input.pinHash = consume made
    return input
  }

  /// The rows of RFC 6287, appendix C.2, have two challenges of eight characters in one text.
  private func question(for suite: OCRASuite) throws -> OCRAQuestion {
    let text = try string("question")
    guard text.count == 16, suite.questionLength == 8 else { return try OCRAQuestion(text, for: suite) }
    return try OCRAChallenges(
      client: OCRAQuestion(text.prefix(8), for: suite), server: OCRAQuestion(text.suffix(8), for: suite)
    ).serverQuestion
  }
}

extension OCRADataInput {
  static func pinHash(of pin: String, _ algorithm: OTPAlgorithm) throws -> OCRAPINHash {
    try OCRAPINHash(of: secret(pin), algorithm: algorithm)
  }
}

/// Two hashes of a PIN give one code.
private func expectSame(_ first: borrowing OCRAPINHash, _ second: borrowing OCRAPINHash) throws {
  let isSame = first.isEqualInConstantTime(to: second)
  #expect(isSame)
}
