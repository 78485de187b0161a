import Foundation
import OneTimePassword
import SecretMemory
import TestSupport
import Testing

/// Verified to fail when the number of QN keeps its zeros on the left, when the counter is written in the other byte
/// order, when a suite of 513 bytes of session information or a length of 65 is read, and when `S` alone means 128 bytes
/// or is hashed as `S064`.
@Suite("OCRA against an implementation in Python", .bounded, .requirement("A16"))
struct OCRAReferenceTests {
  private static let python = "/usr/bin/python3"
  private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "OCRAReference/ocra.py").path

  /// How many suites, and from which seed; both by the environment for a longer run.
  private static let count = number("VAULT_OCRA_COUNT") ?? 10_000
  private static let seed = number("VAULT_OCRA_SEED") ?? 6287

  @Test("codes of random suites and values are the same, and are accepted")
  func codes() throws {
    let cases = try Self.run(["cases", "\(Self.seed)", "\(Self.count)"]).split(separator: "\n")
    expect(cases.count, equals: Self.count)
    for line in cases {
      let row = try JSONDecoder().decode(Row.self, from: Data(line.utf8))
      let suite = try OCRASuite(row.suite)
      let generator = try OCRAGenerator(key: secret(bytes(hex: row.key)), suite: suite)
      let input = try row.input(for: suite)
      let code = try generator.code(for: input)
      let isAccepted = try generator.isCode(OCRACode(row.code, for: suite), for: input)
      guard code == row.code, isAccepted else {
        Issue.record("\(line): \(code)")
        return
      }
    }
    print("OCRA: \(cases.count) random suites compared with Python")
  }

  @Test("changed suites are read or refused as in Python, and none ends the process")
  func suites() throws {
    var random = SeededGenerator(seed: UInt64(Self.seed))
    let texts = (0..<2 * Self.count).map { _ in Self.mutated(using: &random) }
    let accepted = texts.map { text in
      guard let suite = try? OCRASuite(text) else { return false }
      expect(suite.description, equals: text)
      return true
    }
    // Neither everything nor nothing may be read, or the test looks at one branch only.
    #expect((texts.count / 10...texts.count * 9 / 10).contains(accepted.count { $0 }))
    let lines = try Scratch(Array(texts.map { hex($0.utf8) + "\n" }.joined().utf8))
    let input = FileHandle(fileDescriptor: lines.descriptor)
    let expected = try Self.run(["judge"], input: input).split(separator: "\n").map { $0 == "1" }
    expect(expected.count, equals: texts.count)
    for (text, (isRead, isSuite)) in zip(texts, zip(accepted, expected)) where isRead != isSuite {
      Issue.record("\(text.debugDescription): \(isRead ? "read" : "refused")")
    }
  }

  @Test("a fault is inside the text, and is told with what is allowed there")
  func faults() throws {
    var random = SeededGenerator(seed: UInt64(Self.seed) + 1)
    for _ in 0..<Self.count {
      let text = Self.mutated(using: &random)
      do throws(OTPError) {
        _ = try OCRASuite(text)
      } catch {
        #expect(error.code == .invalidSuite && error.part != nil)
        #expect((0...text.utf8.count).contains(error.position ?? -1))
      }
    }
  }

  /// A valid suite with one to three parts exchanged, or some bytes changed.
  private static func mutated(using random: inout SeededGenerator) -> String {
    let words = [
      "OCRA-1", "HOTP", "SHA1", "SHA256", "SHA512", "0", "3", "6", "10", "11", "C", "QN08", "QA64", "QH65",
      "QH8",
      "PSHA1", "PSHA512", "S064", "S512", "S513", "T1M", "T0H", "T49H", "T60S", "T59S", "-", ":", "--", "",
      "Q", "P", "S", "T", "QN", "Q08",
    ]
    var parts = [
      "OCRA-1", ":", "HOTP", "-", ["SHA1", "SHA256", "SHA512"].randomElement(using: &random)!, "-",
      "\(Int.random(in: 4...10, using: &random))", ":",
    ]
    if Bool.random(using: &random) { parts += ["C", "-"] }
    parts.append("Q\("ANH".randomElement(using: &random)!)\(Int.random(in: 10...64, using: &random))")
    for word in ["PSHA1", "S128", "T20S"] where Bool.random(using: &random) { parts += ["-", word] }
    if Int.random(in: 0...2, using: &random) == 0 {
      parts[parts.indices.randomElement(using: &random)!] = words.randomElement(using: &random)!
    }
    var bytes = Array(parts.joined().utf8)
    if Int.random(in: 0...2, using: &random) == 0 {
      let place = bytes.indices.randomElement(using: &random)!
      switch Int.random(in: 0...3, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
      case 2: bytes.remove(at: place)
      default: bytes.insert("0123456789CQPSTMH-:".utf8.randomElement(using: &random)!, at: place)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func run(_ words: [String], input: FileHandle = .nullDevice) throws -> String {
    let result = try Program(python, ["-B", script] + words).run(input: input)
    expect(result.status, equals: 0, "\(result.text.suffix(2000))")
    return result.text
  }

  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }
}

/// A case that the script made. Bytes are in hexadecimal digits, and numbers of 64 bits are texts.
private struct Row: Decodable {
  let suite: String
  let key: String
  let challenges: [String]
  let counter: String?
  let pin: String?
  let session: String?
  let unixTime: Int64?
  let timeStep: UInt64?
  let period: Int64?
  let code: String

  func input(for suite: OCRASuite) throws -> OCRADataInput {
    let parts = try challenges.map { try OCRAQuestion($0, for: suite) }
    let question =
      parts.count == 1 ? parts[0] : try OCRAChallenges(client: parts[0], server: parts[1]).serverQuestion
    var input = OCRADataInput(question: question, session: session.map { bytes(hex: $0) }, timeStep: timeStep)
    input.counter = counter.flatMap { UInt64($0) }
    if let pin, let algorithm = suite.pinHash {
      input.pinHash = try OCRAPINHash(of: secret(bytes(hex: pin)), algorithm: algorithm)
    }
    expect(suite.timeStepSeconds, equals: period)
    if let unixTime, period ?? 0 > 0 {
      try expect(suite.timeStep(at: unixTime).number, equals: timeStep)
    }
    return input
  }
}
