import OneTimePassword
import SecretMemory
import TestSupport
import Testing

@Suite("HOTP codes", .bounded)
struct HOTPGeneratorTests {
  @Test("an empty key is refused")
  func emptyKey() {
    #expect(throws: OTPError.emptyKey) { _ = try HOTPGenerator(key: secret("")) }
    #expect(throws: OTPError.emptyKey) { _ = try TOTPGenerator(steamKey: secret("")) }
  }

  @Test("any other number of digits than 6, 7, 8 is refused", arguments: [-1, 0, 1, 5, 9, 10, 40])
  func digits(_ digits: Int) {
    #expect(throws: OTPError.invalidDigits) { _ = try HOTPGenerator(key: rfcKey(), digits: digits) }
  }

  @Test("a code keeps its leading zeros", arguments: [6, 7, 8])
  func leadingZeros(_ digits: Int) throws {
    let format = try OTPFormat.decimal(digits)
    expect(format.text(of: 7), equals: String(repeating: "0", count: digits - 1) + "7")
    expect(format.text(of: 0), equals: String(repeating: "0", count: digits))
    let generator = try HOTPGenerator(key: rfcKey(), digits: digits)
    let first = try #require((0...UInt64.max).first { generator.value(at: $0) < format.modulus / 10 })
    expect(generator.code(at: first).utf8.count, equals: digits)
    #expect(generator.code(at: first).hasPrefix("0"))
  }

  @Test("the text is the number as the standard library writes it, zeros before it", arguments: [6, 7, 8])
  func texts(_ digits: Int) throws {
    let format = try OTPFormat.decimal(digits)
    // Every four-digit half in both places, and numbers of all sizes.
    let values = (0..<10_000).flatMap { [$0, $0 * 10_000, $0 * 214_748] as [UInt32] }
    for value in values {
      let written = String(repeating: "0", count: 10) + String(value)
      #expect(format.text(of: value) == written.suffix(digits))
    }
  }

  @Test("the text of a value above the modulus is its last digits, by integer arithmetic alone")
  func largestValue() throws {
    // 2^31 − 1 and a neighbour that a detour through 32-bit floating point would round together.
    try expect(OTPFormat.decimal(8).text(of: 2_147_483_647), equals: "47483647")
    try expect(OTPFormat.decimal(8).text(of: 2_147_483_646), equals: "47483646")
    expect(OTPFormat.steam.text(of: 0x7fff_ffff), equals: OTPFormat.steam.text(of: 0x7fff_ffff % 11_881_376))
  }

  @Test("the last counters of 64 bits have codes and are found")
  func lastCounters() throws {
    let generator = try HOTPGenerator(key: rfcKey(), digits: 8)
    let last = try OTPCode(generator.code(at: .max))
    expect(generator.firstMatch(of: last, in: UInt64.max - 20...UInt64.max), equals: .max)
    #expect(generator.firstMatch(of: last, in: UInt64.max - 20..<UInt64.max) == nil)
    let before = try OTPCode(generator.code(at: .max - 1))
    expect(
      generator.firstMatch(of: before, then: last, in: UInt64.max - 9...UInt64.max), equals: UInt64.max - 1)
    #expect(generator.firstMatch(of: last, then: before, in: UInt64.max...UInt64.max) == nil)
  }

  @Test("every counter of a window is found, and none outside of it", arguments: OTPAlgorithm.allCases)
  func window(_ algorithm: OTPAlgorithm) throws {
    let generator = try HOTPGenerator(key: rfcKey(), algorithm: algorithm, digits: 8)
    for counter in UInt64(90)...125 {
      let code = try OTPCode(generator.code(at: counter))
      let expected = (100..<117).contains(counter) ? counter : nil
      expect(generator.firstMatch(of: code, in: 100..<117), equals: expected)
      expect(generator.firstMatch(of: code, in: 100...116), equals: expected)
    }
    #expect(generator.firstMatch(of: try OTPCode(generator.code(at: 5)), in: UInt64(5)..<5) == nil)
  }

  @Test("of two counters with one code the smaller one is found", arguments: twins)
  func smallestMatch(_ pair: ClosedRange<UInt64>) throws {
    let generator = try HOTPGenerator(key: rfcKey())
    let code = try OTPCode(generator.code(at: pair.lowerBound))
    expect(generator.value(at: pair.upperBound), equals: code.value)
    expect(generator.firstMatch(of: code, in: pair), equals: pair.lowerBound)
    expect(generator.firstMatch(of: code, in: pair.lowerBound + 1...pair.upperBound), equals: pair.upperBound)
  }

  @Test("a code of another length matches nothing")
  func otherFormat() throws {
    let seven = try HOTPGenerator(key: rfcKey(), digits: 7)
    let six = try HOTPGenerator(key: rfcKey(), digits: 6)
    let code = try OTPCode(six.code(at: 3))
    expect(six.firstMatch(of: code, in: 0...9), equals: 3)
    #expect(seven.firstMatch(of: code, in: 0...9) == nil)
    #expect(seven.firstMatch(of: code, then: code, in: 0...9) == nil)
  }

  @Test("a pair is found only where its codes follow each other")
  func pairs() throws {
    let generator = try HOTPGenerator(key: rfcKey())
    let codes = try (0..<12).map { try OTPCode(generator.code(at: $0)) }
    expect(generator.firstMatch(of: codes[4], then: codes[5], in: 0...9), equals: 4)
    expect(generator.firstMatch(of: codes[9], then: codes[10], in: 0...9), equals: 9)
    #expect(generator.firstMatch(of: codes[10], then: codes[11], in: 0...9) == nil)
    #expect(generator.firstMatch(of: codes[4], then: codes[6], in: 0...9) == nil)
    #expect(generator.firstMatch(of: codes[5], then: codes[4], in: 0...9) == nil)
  }
}

@Suite("Codes as typed", .bounded)
struct OTPCodeTests {
  @Test(
    "what is not exactly a code is refused",
    arguments: [
      "", "12345", "123456789", "12345a", "+12345",
      "١٢٣٤٥٦", "12345\u{0}", "12.456", "1234٣6", "abcde", "5wgmb", "5WGM0", "5WGMA", "0x1234", "-12345",
    ])
  func refused(_ text: String) {
    #expect(throws: OTPError.invalidCode) { _ = try OTPCode(text) }
  }

  /// Verified to fail when only the exact characters are read.
  @Test(
    "blanks and dashes do not matter, and wide digits are digits",
    arguments: [
      "12 3456", " 123456", "123456 ", "123-456", "123\u{A0}456", "123\u{2013}456", "１２３４５６", "123456\r\n",
    ])
  func grouped(_ text: String) throws {
    try expect(OTPCode(text).text, equals: "123456")
  }

  @Test(
    "a code keeps its text and its length", arguments: ["000000", "0000001", "99999999", "5WGMB", "22222"])
  func kept(_ text: String) throws {
    try expect(OTPCode(text).text, equals: text)
    try expect(OTPCode(text).format.length, equals: text.count)
  }

  @Test("a format asked for is the only one taken")
  func format() throws {
    #expect(throws: OTPError.invalidCode) { _ = try OTPCode("1234567", format: .sixDigits) }
    #expect(throws: OTPError.invalidCode) { _ = try OTPCode("12345", format: .sixDigits) }
    #expect(throws: OTPError.invalidCode) { _ = try OTPCode("", format: .sixDigits) }
    #expect(throws: OTPError.invalidCode) { _ = try OTPCode("2222", format: .steam) }
    #expect(throws: OTPError.invalidCode) { _ = try OTPCode("123456", format: .steam) }
    try expect(OTPCode("022222", format: .sixDigits).value, equals: 22222)
  }

  @Test("the same digits with another length are another code")
  func lengthCounts() throws {
    #expect(try OTPCode("000123") != OTPCode("0000123"))
  }
}
