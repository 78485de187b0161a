import OneTimePassword
import TestSupport
import Testing

/// Verified to fail when the last digit is not compared, when a search keeps its last match or has no limit, and when each
/// step of a window is computed as the first.
@Suite("OCRA codes that are checked", .bounded, .requirement("A16"))
struct OCRACodeTests {
  @Test(
    "what is not exactly a code of the suite is refused",
    arguments: [
      ("SHA1-6", ""), ("SHA1-6", "12345"), ("SHA1-6", "1234567"), ("SHA1-6", "12 456"), ("SHA1-6", "12345a"),
      ("SHA1-6", "١٢٣٤٥٦"), ("SHA1-6", "12_456"), ("SHA1-0", "1234"),
      ("SHA1-0", String(repeating: "g", count: 40)), ("SHA256-0", String(repeating: "a", count: 63)),
    ])
  func refused(_ function: String, text: String) throws {
    let suite = try OCRASuite("OCRA-1:HOTP-\(function):QN08")
    #expect(throws: OTPError.invalidCode) { _ = try OCRACode(text, for: suite) }
  }

  @Test("a code is right for its values only, wherever it differs")
  func wrongCodes() throws {
    let scene = try OCRAScene("QN08")
    let code = Array(try scene.generator.code(for: scene.input()))
    for index in code.indices {
      var changed = code
      changed[index] = changed[index] == "0" ? "1" : "0"
      let isCode = try scene.generator.isCode(
        OCRACode(String(changed), for: scene.generator.suite), for: scene.input())
      #expect(!isCode)
    }
    #expect(
      try scene.generator.isCode(OCRACode(String(code), for: scene.generator.suite), for: scene.input()))
  }

  @Test("the code of another length is not the code")
  func otherLength() throws {
    let six = try OCRAScene("QN08", function: "SHA1-6")
    let eight = try OCRAScene("QN08", function: "SHA1-8")
    let code = try OCRACode(eight.generator.code(for: eight.input()), for: eight.generator.suite)
    #expect(try !six.generator.isCode(code, for: six.input()))
  }

  @Test("a counter is found in its window, and not outside of it")
  func counterWindow() throws {
    let scene = try OCRAScene("C-QN08")
    for counter in UInt64(95)...110 {
      let code = try scene.code(counter: counter)
      var input = try scene.input()
      input.counter = 100
      let found = try scene.generator.firstCounter(of: code, for: input, count: 6)
      #expect(found == ((100...105).contains(counter) ? counter : nil))
    }
  }

  @Test("of two counters with one code the smaller one is found")
  func smallest() throws {
    let scene = try OCRAScene("C-QN08", function: "SHA1-4")
    let codes = try (0..<2000).map { try scene.code(counter: $0) }
    let twin = try #require(codes.indices.first { codes[..<$0].contains(codes[$0]) })
    var input = try scene.input()
    input.counter = 0
    let found = try scene.generator.firstCounter(of: codes[twin], for: input, count: 2000)
    expect(found, equals: codes.firstIndex(of: codes[twin]).map(UInt64.init))
  }

  @Test("a window ends at the last counter, and has at least one and at most 10,000")
  func windowLimits() throws {
    let scene = try OCRAScene("C-QN08")
    let last = try scene.code(counter: .max)
    var input = try scene.input()
    input.counter = .max - 2
    try expect(scene.generator.firstCounter(of: last, for: input, count: 10_000), equals: .max)
    for count in [0, 10_001, UInt64.max] {
      #expect(throws: OTPError.invalidWindow) {
        _ = try scene.generator.firstCounter(of: last, for: input, count: count)
      }
    }
    input.counter = nil
    #expect(throws: OTPError.missingInput(.counter)) {
      _ = try scene.generator.firstCounter(of: last, for: input, count: 1)
    }
    let other = try OCRAScene("QN08")
    #expect(throws: OTPError.unexpectedInput(.counter)) {
      _ = try other.generator.firstCounter(of: last, for: other.input(), count: 1)
    }
  }

  @Test("a time step is found beside the present one")
  func timeWindow() throws {
    let scene = try OCRAScene("C-QN08-T1M")
    var input = try scene.input()
    (input.counter, input.timeStep) = (3, 1001)
    let code = try OCRACode(scene.generator.code(for: input), for: scene.generator.suite)
    input.timeStep = 1000
    try expect(scene.generator.firstTimeStep(of: code, for: input, count: 3), equals: 1001)
    #expect(try scene.generator.firstTimeStep(of: code, for: input, count: 1) == nil)
    input.counter = 4
    #expect(try scene.generator.firstTimeStep(of: code, for: input, count: 3) == nil)
    let other = try OCRAScene("QN08")
    #expect(throws: OTPError.unexpectedInput(.timeStep)) {
      _ = try other.generator.firstTimeStep(of: code, for: other.input(), count: 1)
    }
  }
}
