package import SecretMemory
package import TextFormats

/// Objects of JSON in a token: each member once, nothing after the object, and bounds for every text and for nesting.
package enum JSONObject {
  /// Reads a whole text.
  ///
  /// - Parameters:
  ///   - what: The text, in the words of an error: “the header”.
  ///   - member: Reads the value of a member, or returns false: then the value is checked and forgotten.
  /// - Throws: ``JOSEError/malformed(_:)``, ``JOSEError/tooLong(_:limit:)``.
  package static func read(
    _ bytes: consuming SecretBytes, as what: String,
    _ member: (String, JSONReader) throws(TextError) -> Bool
  ) throws(JOSEError) {
    let count = bytes.byteCount
    guard count <= JOSE.longestToken else { throw .tooLong(what, limit: JOSE.longestToken) }
    let reader = JSONReader(
      ByteReader(bytes, count: count, dropsMark: false), spansLines: true, longestName: longestName)
    do throws(TextError) {
      try reader.members(member)
      guard try !reader.findLine() else { throw .malformed("there is text after the object") }
    } catch { throw JOSEError(error, in: what) }
  }

  /// The bytes of an object without secrets.
  static func bytes(_ object: JSON) -> [UInt8] {
    let output = PlainText()
    object.write(to: output)
    return output.bytes
  }

  /// Claims may have the address of a page as their name.
  private static let longestName = 256
}

extension JSONReader {
  /// Reads an object, no member of which is there twice.
  ///
  /// - Parameter member: Reads the value of a member, or returns false: then the value is checked and forgotten.
  package func members(_ member: (String, JSONReader) throws(TextError) -> Bool) throws(TextError) {
    var names: Set<String> = []
    try object { (name) throws(TextError) in
      guard names.insert(name).inserted else { throw .member(name, "is there twice") }
      let isRead = try member(name, self)
      if !isRead { try skip() }
    }
  }

  /// A text of at most 1,024 bytes; `nil` for a value of another type.
  package func textOrNil(limit: Int = 1024) throws(TextError) -> String? {
    guard try kind() == .text else {
      try skip()
      return nil
    }
    return try string(limit: limit)
  }
}

extension JOSEError {
  /// The name of a member is left out: the author of the text chose it.
  init(_ error: TextError, in what: String) {
    self =
      switch error {
      case .malformed(let why, _): .malformed("\(what) is not readable JSON: \(why)")
      case .member(_, let why): .malformed("\(what) is not readable JSON: a member \(why)")
      case .tooLong(let limit, _): .tooLong("a text in \(what)", limit: limit)
      case .unreadable: .malformed("\(what) cannot be read")
      }
  }
}

/// Texts that are not secret, in memory.
private final class PlainText: TextOutput {
  private(set) var bytes: [UInt8] = []

  func write(bytes: [UInt8]) { self.bytes += bytes }

  func writeSecret(_ bytes: RawSpan, through encode: (RawSpan, inout OutputRawSpan) -> Void, group: Int) {
    preconditionFailure("JSONObject.bytes: the object has a secret")
  }
}
