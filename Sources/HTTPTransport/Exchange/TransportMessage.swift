import Glibc
package import SecretMemory
package import TextFormats

/// A request of `vaultctl`: one line of JSON, as docs/guides/transport.md says.
package struct TransportMessage {
  /// 32 lower-case hexadecimal digits.
  package let id: String
  package let operation: String
  /// All members but nested ones, which no mapping can name.
  package let members: [String: Value]
  /// The line itself.
  package let line: SharedSecret

  /// Reads a descriptor to its end.
  package init(descriptor: Int32) throws(TextError) {
    do throws(SecretInput.Fault) {
      line = SharedSecret(try SecretInput.all(of: descriptor, limit: Self.longest))
    } catch {
      switch error {
      case .tooLong: throw .malformed("it has more than \(Self.longest) bytes")
      case .notOpen: throw .unreadable(errno: EBADF)
      case .failed(let code): throw .unreadable(errno: code)
      }
    }
    let reader = JSONReader(ByteReader(line.bytes.copy(), count: line.byteCount))
    members = try Self.members(reader)
    guard case .number(1)? = members["version"] else { throw .malformed("'version' is not 1") }
    guard let id = members["id"]?.plainText, Self.isID(id) else { throw .malformed("'id' is missing") }
    guard let operation = members["operation"]?.plainText, (1...64).contains(operation.utf8.count) else {
      throw .malformed("'operation' is missing")
    }
    (self.id, self.operation) = (id, operation)
  }

  private static func members(_ reader: JSONReader) throws(TextError) -> [String: Value] {
    var members: [String: Value] = [:]
    try reader.object { name throws(TextError) in
      guard members[name] == nil else { throw .member(name, "is there twice") }
      members[name] = try value(of: name, reader)
    }
    guard try !reader.findLine() else { throw .malformed("there is text after the object") }
    return members
  }

  private static func value(of name: String, _ reader: JSONReader) throws(TextError) -> Value {
    switch try reader.kind() {
    case .text where name.hasSuffix("Base64"):
      return .bytes(SharedSecret(try reader.secretFromBase64(limit: longestSecret)))
    case .text: return .text(SharedSecret(try reader.secret(limit: longest)))
    case .number: return try reader.number().map { .number($0) } ?? .other
    case .word: return try reader.word().map { .flag($0) } ?? .other
    case .object, .array:
      try reader.skip()
      return .other
    }
  }

  private static func isID(_ text: String) -> Bool {
    text.utf8.count == 32 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  private static let longest = 2 << 20
  private static let longestSecret = 64 << 10
}
