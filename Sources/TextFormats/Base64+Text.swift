package import SecretMemory

extension Base64 {
  /// The base64 of public bytes.
  package static func text(_ bytes: [UInt8], as form: Form = .padded) -> String {
    let encoded = SecretBytes(capacity: characterCount(of: bytes.count, as: form)) { output in
      unsafe encode(bytes.span.bytes, as: form, into: &output)
    }
    return encoded.expose { String(decoding: unsafe $0.withUnsafeBytes { unsafe Array($0) }, as: UTF8.self) }
  }

  /// The bytes of a base64 text with padding, in which spaces and ends of lines mean nothing.
  ///
  /// - Throws: ``TextError/malformed(_:member:)``, also where unused bits are not zero (RFC 4648 §3.5).
  package static func decoded(ignoringSpaces text: RawSpan) throws(TextError) -> SecretBytes {
    try decoded(text, as: .padded, without: isSpace)
  }

  /// The bytes of a base64 text without spaces.
  ///
  /// - Throws: ``TextError/malformed(_:member:)``, also where unused bits are not zero (RFC 4648 §3.5).
  package static func decoded(_ text: RawSpan, as form: Form) throws(TextError) -> SecretBytes {
    try decoded(text, as: form, without: { _ in false })
  }

  private static func decoded(
    _ text: RawSpan, as form: Form, without isIgnored: (UInt8) -> Bool
  ) throws(TextError) -> SecretBytes {
    try SecretBytes(capacity: text.byteCount / 4 * 3 + 3) { (output) throws(TextError) in
      var groups = Base64Groups(form)
      for offset in 0..<text.byteCount {
        let character = unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        if !isIgnored(character), let group = try groups.next(character) { append(group, to: &output) }
      }
      if let group = try groups.end() { append(group, to: &output) }
    }
  }

  private static func append(_ group: Base64Groups.Group, to output: inout OutputRawSpan) {
    for index in 0..<group.count { output.append(byte: group[index]) }
  }

  static func isSpace(_ character: UInt8) -> Bool {
    [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains(character)
  }
}
