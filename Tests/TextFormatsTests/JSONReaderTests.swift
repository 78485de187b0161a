import SecretMemory
import TestSupport
import Testing
import TextFormats

@Suite("JSON that is read", .bounded)
final class JSONReaderTests {
  /// A reader of the text. Its file stays open as long as the suite.
  private func reader(_ text: String) throws -> JSONReader {
    let scratch = try Scratch(Array(text.utf8))
    files.append(scratch)
    return JSONReader(ByteReader(descriptor: scratch.descriptor))
  }

  private var files: [Scratch] = []

  private static func bytes(of secret: borrowing SecretBytes) -> [UInt8] {
    secret.expose { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
  }

  /// The depth of arrays inside one another.
  private func depth(_ json: JSONReader) throws(TextError) -> Int {
    var deepest = 0
    try json.array { () throws(TextError) in deepest = max(deepest, try depth(json)) }
    return deepest + 1
  }

  @Test("values nest to a limit", arguments: [1, 2, JSONReader.deepest])
  func nesting(levels: Int) throws {
    let text = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    try expect(depth(reader(text)), equals: levels)
  }

  @Test("values that nest deeper are refused", arguments: [JSONReader.deepest + 1, 100_000])
  func tooDeep(levels: Int) throws {
    let json = try reader(String(repeating: "[", count: levels))
    #expect(throws: TextError.malformed("values nest deeper than 16 levels")) { try depth(json) }
  }

  @Test("objects and arrays nest in any order, and an error names the innermost member")
  func members() throws {
    let text = #"{"outer":[{"inner":1},{"inner":x}]}"#
    let json = try reader(text)
    var numbers: [Int64] = []
    #expect(throws: TextError.malformed("a whole number of at most 18 digits is wanted", member: "inner")) {
      try json.object { _ throws(TextError) in
        try json.array { () throws(TextError) in
          try json.object { _ throws(TextError) in numbers.append(try json.integer()) }
        }
      }
    }
    expect(numbers, equals: [1])
  }

  @Test("a text has a limit, secret or not")
  func limits() throws {
    #expect(try reader(#""abc""#).string(limit: 3) == "abc")
    #expect(throws: TextError.malformed("a text is longer than 2 bytes")) {
      try reader(#""abc""#).string(limit: 2)
    }
    #expect(throws: TextError.tooLong(limit: 2)) { _ = try reader(#""abc""#).secret(limit: 2) }
    #expect(throws: TextError.tooLong(limit: 2)) { _ = try reader(#""YWJj""#).secretFromBase64(limit: 2) }
  }

  /// Verified to fail when a number with a fraction counts as the whole one before it, and when 2^64 wraps.
  @Test(
    "a number that is whole and from 0 to 2^64 − 1 has a value, and each other number is read and has none",
    arguments: [
      ("0", 0), ("7", 7), ("18446744073709551615", UInt64.max), ("18446744073709551616", nil), ("-0", nil),
      ("-1", nil),
      ("1.0", nil), ("1e2", nil), ("0E-7", nil), ("1.5e+10", nil), ("99999999999999999999999999", nil),
    ] as [(String, UInt64?)])
  func numbers(text: String, value: UInt64?) throws {
    let json = try reader(text + "\n")
    try expect(json.kind(), equals: .number)
    try expect(json.number(), equals: value)
    try json.endOfLine()
  }

  @Test(
    "what is no number is refused",
    arguments: ["01", "00", "-", "-01", "1.", ".1", "1.e1", "1e", "1e+", "+1", "0x1", "1_0", "Infinity"])
  func noNumber(text: String) throws {
    #expect(throws: TextError.self) {
      let json = try reader(text + "\n")
      guard try json.kind() == .number else { throw TextError.malformed("no number") }
      _ = try json.number()
      try json.endOfLine()
    }
  }

  @Test("true, false and null are read, and other words are refused")
  func words() throws {
    #expect(try reader("true").word() == true)
    #expect(try reader("false").word() == false)
    #expect(try reader("null").word() == nil)
    for text in ["tru", "nulL", "None", "fals", ""] {
      #expect(throws: TextError.malformed("a value is missing")) { try reader(text).word() }
    }
  }

  /// Verified to fail when the names of an object that is skipped are not compared.
  @Test("a value of any type can be skipped, and a malformed one cannot")
  func skippedValues() throws {
    let values = [
      "1", "-1.5e3", "true", "null", #""a\u00e9\n""#, "[]", "{}", #"[1,[null],{"a":[{"b":"c"}]}]"#,
      #"{"a":1,"b":{"a":2}}"#,
    ]
    for value in values {
      let json = try reader("[\(value) , 7]")
      var last: UInt64?
      var count = 0
      try json.array { () throws(TextError) in
        count += 1
        if count == 1 { try json.skip() } else { last = try json.number() }
      }
      expect(last, equals: 7, "\(value)")
    }
    for value in [
      "[1,]", "{\"a\"}", #"{"a":1,"a":1}"#, #"[{"a":[],"a":1}]"#, "\"a", "nul",
      String(repeating: "[", count: 17),
    ] {
      #expect(throws: TextError.self, "\(value)") { try reader(value).skip() }
    }
  }

  /// Would fail when a bracket in a text counts, and when an escaped quotation mark ends it.
  @Test("a value that nothing depends on is passed over by its brackets alone, and kept as it is")
  func rawValues() throws {
    let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
    for value in [
      "1", "-1.5e3", "null", "hello", "007", #""a]}\" ,b""#, #""\\""#, #""\ud800""#, deep,
      #"{"a":1,"a":[{"b":"]"}]}"#,
      "[1,]", "{,}", #"{"a" "b"}"#,
    ] {
      for isKept in [true, false] {
        let json = try reader("[ \(value) , 7]")
        var (raw, last): ([UInt8], UInt64?) = ([], nil)
        var count = 0
        try json.array { () throws(TextError) in
          count += 1
          guard count == 1 else { return last = try json.number() }
          if isKept { raw = try Self.bytes(of: json.raw(limit: 4096)) } else { try json.passOver() }
        }
        expect(last, equals: 7, "\(value)")
        if isKept { expect(raw, equals: Array(value.utf8)) }
      }
    }
    for value in ["[1", "[}", "\"a", "\"a\\\"", "{\"a\":[}", ",", ""] {
      #expect(throws: TextError.self, "\(value)") { try reader(value).passOver() }
    }
    #expect(throws: TextError.self) { _ = try reader(#""abcdef""#).raw(limit: 7) }
  }

  /// Would fail when any fraction is one of zeros.
  @Test("a fraction of zeros is none where the caller allows it")
  func zeroFractions() throws {
    for (text, value) in [
      ("3600.0", 3600), ("0.000", 0), ("3600", 3600), ("3600.5", nil), ("-1.0", nil), ("1.0e2", nil),
      ("36e2", nil),
    ] as [(String, UInt64?)] {
      try expect(reader(text).number(allowsZeroFraction: true), equals: value, "\(text)")
    }
    #expect(try reader("3600.0").number() == nil)
  }

  /// Verified to fail when white space before a number is not skipped.
  @Test("white space spans lines where the caller allows it, and comes before every value")
  func lines() throws {
    let text = Array(" {\n\"a\" : 1 ,\r\n\t\"b\": [ 2,\n 3 ]\n}\n\n".utf8)
    let json = JSONReader(ByteReader(SecretBytes(copying: text), count: text.count), spansLines: true)
    var numbers: [UInt64] = []
    try json.object { name throws(TextError) in
      guard name == "b" else { return numbers.append(try json.unsigned()) }
      try json.array { () throws(TextError) in numbers.append(try json.unsigned()) }
    }
    #expect(try !json.findLine() && numbers == [1, 2, 3])
    #expect(throws: TextError.self) { try reader("[\n1]").skip() }
  }

  @Test("the name of a member is as long as the caller allows")
  func names() throws {
    func text(_ count: Int) -> String { #"{"\#(String(repeating: "n", count: count))":1}"# }
    try reader(text(64)).skip()
    #expect(throws: TextError.self) { try reader(text(65)).skip() }
    let bytes = Array(text(65).utf8)
    try JSONReader(ByteReader(SecretBytes(copying: bytes), count: bytes.count), longestName: 65).skip()
  }

  @Test("the bytes of a secret are read up to a count")
  func secretBytes() throws {
    let json = JSONReader(ByteReader(SecretBytes(copying: Array("[1]xyz".utf8)), count: 3))
    try json.skip()
    #expect(try !json.findLine())
  }

  @Test("a malformed line can be skipped, wherever it ends")
  func skipping() throws {
    let json = try reader("[[[x\n[]\n")
    #expect(throws: TextError.self) { try depth(json) }
    try json.skipLine()
    #expect(try json.findLine() && depth(json) == 1)
    expect(json.line, equals: 2)
  }
}
