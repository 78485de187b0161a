package import SecretMemory

extension Base64 {
  /// The base64 of public bytes, with padding.
  package static func text(_ bytes: [UInt8]) -> String {
    let encoded = SecretBytes(capacity: (bytes.count + 2) / 3 * 4) { output in
      unsafe encode(bytes.span.bytes, into: &output)
    }
    return encoded.expose { String(decoding: unsafe $0.withUnsafeBytes { unsafe Array($0) }, as: UTF8.self) }
  }

  /// The bytes of a base64 text with padding, in which spaces and ends of lines mean nothing.
  ///
  /// - Throws: ``TextError/malformed(_:member:)``, also where unused bits are not zero (RFC 4648 §3.5).
  package static func decoded(ignoringSpaces text: RawSpan) throws(TextError) -> SecretBytes {
    try SecretBytes(capacity: text.byteCount / 4 * 3 + 3) { (output) throws(TextError) in
      var (group, count, padding) = (UInt32(0), 0, 0)
      for offset in 0..<text.byteCount {
        let character = unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
        if isSpace(character) { continue }
        if character == UInt8(ascii: "="), count >= 2 {
          padding += 1
          group <<= 6
        } else {
          guard padding == 0, let digit = value(of: character) else { throw notBase64 }
          group = group << 6 | UInt32(digit)
        }
        count += 1
        guard count == 4 else { continue }
        guard group & (1 << (8 * UInt32(padding)) - 1) == 0 else { throw notBase64 }
        for index in 0..<3 - padding {
          output.append(byte: UInt8(truncatingIfNeeded: group >> (16 - 8 * UInt32(index))))
        }
        (group, count) = (0, 0)
      }
      guard count == 0 else { throw notBase64 }
    }
  }

  static func isSpace(_ character: UInt8) -> Bool {
    [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains(character)
  }

  private static var notBase64: TextError { .malformed("the text is not base64") }
}
