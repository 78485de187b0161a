import AgentMessages
import SecretMemory
import TestSupport
import Testing

@Suite("Fields of the agent's messages", .bounded, .requirement("G8"))
struct AgentFieldsTests {
  @Test("what was set comes back from the bytes")
  func roundTrip() throws {
    var inner = AgentFields<Letter>()
    inner.set(.a, "inside")
    var fields = AgentFields<Letter>()
    fields.set(.a, "grüße")
    fields.set(.b, Int64.min)
    fields.set(.c, ["", "two\nlines", "three"])
    fields.set(.d, SharedSecret(SecretBytes(copying: [0, 255, 0])))
    fields.set(.e, true)
    fields.set(.f, inner)
    let read = try Self.decode(Self.bytes(of: fields))
    try expect(read.text(.a), equals: "grüße")
    try expect(read.number(.b), equals: Int64.min)
    try expect(read.list(.c), equals: ["", "two\nlines", "three"])
    try expect(Self.bytes(of: read.secret(.d)), equals: [0, 255, 0])
    #expect(try read.flag(.e))
    try expect(read.fields(.f, as: Letter.self).text(.a), equals: "inside")
  }

  @Test("an optional value that is nil, a flag that is false and an empty text are told apart")
  func absence() throws {
    var fields = AgentFields<Letter>()
    fields.set(.a, nil as String?)
    fields.set(.b, false)
    fields.set(.c, "")
    let read = try Self.decode(Self.bytes(of: fields))
    #expect(!read.has(.a))
    #expect(try !read.flag(.b))
    try expect(read.text(.c), equals: "")
    #expect(throws: AgentMessageError.missingField(1)) { try read.text(.a) }
  }

  @Test(
    "fields that end early, are there twice or are unknown are refused",
    arguments: [
      ([1], .wrongLength), ([1, 0, 0, 0], .wrongLength), ([1, 0, 0, 0, 2, 65], .wrongLength),
      ([1, 255, 255, 255, 255, 65], .wrongLength), ([1, 0, 0, 0, 1, 65, 9], .wrongLength),
      ([9, 0, 0, 0, 0], .unknownField(9)), ([1, 0, 0, 0, 0, 1, 0, 0, 0, 0], .repeatedField(1)),
    ] as [([UInt8], AgentMessageError)])
  func malformed(bytes: [UInt8], error: AgentMessageError) {
    #expect(throws: error) { try Self.decode(bytes) }
  }

  @Test("values that do not have the form of their type are refused")
  func wrongValues() throws {
    let read = try Self.decode([
      1, 0, 0, 0, 1, 0xFF, 2, 0, 0, 0, 2, 0, 1, 3, 0, 0, 0, 5, 0, 0, 0, 9, 65, 5, 0, 0, 0, 1, 1,
    ])
    #expect(throws: AgentMessageError.notText(1)) { try read.text(.a) }
    #expect(throws: AgentMessageError.wrongValue(2)) { try read.number(.b) }
    #expect(throws: AgentMessageError.wrongLength) { try read.list(.c) }
    #expect(throws: AgentMessageError.wrongValue(5)) { try read.flag(.e) }
    var number = AgentFields<Letter>()
    number.set(.a, Int64(7))
    #expect(throws: AgentMessageError.wrongValue(1)) { () throws in let _: Letter = try number.value(.a) }
  }

  @Test("bytes that were cut at any place are never read as the whole")
  func cut() throws {
    var fields = AgentFields<Letter>()
    fields.set(.a, "one")
    fields.set(.c, ["two", "three"])
    let bytes = Self.bytes(of: fields)
    for count in 0..<bytes.count {
      let read = try? Self.decode(Array(bytes[..<count]))
      #expect(read.map { !$0.has(.a) || !$0.has(.c) } ?? true, "cut after \(count) bytes")
    }
  }

  enum Letter: UInt8, Sendable {
    case a = 1
    case b, c, d, e, f
  }

  private static func decode(_ bytes: [UInt8]) throws(AgentMessageError) -> AgentFields<Letter> {
    try unsafe AgentFields<Letter>(bytes.span.bytes)
  }

  private static func bytes(of fields: AgentFields<Letter>) -> [UInt8] {
    bytes(of: SharedSecret(fields.bytes))
  }

  private static func bytes(of secret: SharedSecret) -> [UInt8] {
    secret.expose { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
  }
}
