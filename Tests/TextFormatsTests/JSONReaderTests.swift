import SecretMemory
import TestSupport
import Testing
import TextFormats

@Suite("JSON that is read")
final class JSONReaderTests {
  /// A reader of the text. Its file stays open as long as the suite.
  private func reader(_ text: String) throws -> JSONReader {
    let scratch = try Scratch(Array(text.utf8))
    files.append(scratch)
    return JSONReader(ByteReader(descriptor: scratch.descriptor))
  }

  private var files: [Scratch] = []

  /// The depth of arrays inside one another.
  private func depth(_ json: JSONReader) throws(TextError) -> Int {
    var deepest = 0
    try json.array { () throws(TextError) in deepest = max(deepest, try depth(json)) }
    return deepest + 1
  }

  @Test("values nest to a limit", arguments: [1, 2, JSONReader.deepest])
  func nesting(levels: Int) throws {
    let text = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    #expect(try depth(reader(text)) == levels)
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
    #expect(throws: TextError.malformed("a whole number is missing", member: "inner")) {
      try json.object { _ throws(TextError) in
        try json.array { () throws(TextError) in
          try json.object { _ throws(TextError) in numbers.append(try json.integer()) }
        }
      }
    }
    #expect(numbers == [1])
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

  @Test("a malformed line can be skipped, wherever it ends")
  func skipping() throws {
    let json = try reader("[[[x\n[]\n")
    #expect(throws: TextError.self) { try depth(json) }
    try json.skipLine()
    #expect(try json.findLine() && depth(json) == 1)
    #expect(json.line == 2)
  }
}
