package import SecretMemory
import TextFormats

/// Base64 with `-` and `_`, without padding (RFC 4648 §5, RFC 7515 §2), over spans.
package enum Base64URL {
  /// How many characters `byteCount` bytes have.
  package static func characterCount(of byteCount: Int) -> Int { (byteCount * 4 + 2) / 3 }

  /// Appends four characters for each three bytes, and two or three for the rest.
  package static func encode(_ bytes: RawSpan, into output: inout OutputRawSpan) {
    var offset = 0
    while offset < bytes.byteCount {
      let count = min(3, bytes.byteCount - offset)
      var group: UInt32 = 0
      for index in 0..<3 {
        let byte = unsafe index < count ? bytes.unsafeLoad(fromByteOffset: offset + index, as: UInt8.self) : 0
        group = group << 8 | UInt32(byte)
      }
      for index in 0...count { output.append(byte: character(UInt8(group >> (18 - 6 * UInt32(index)) & 63))) }
      offset += 3
    }
  }

  /// The characters of bytes that are not secret.
  package static func text(_ bytes: [UInt8]) -> String {
    let characters = SecretBytes(capacity: characterCount(of: bytes.count)) { output in
      unsafe encode(bytes.span.bytes, into: &output)
    }
    return characters.expose { String(decoding: $0.copied, as: UTF8.self) }
  }

  /// The bytes that the characters are: no padding, no spaces, no other alphabet, unused bits zero.
  ///
  /// - Throws: ``JOSEError/malformed(_:)``.
  package static func decode(_ text: RawSpan) throws(JOSEError) -> SecretBytes {
    guard text.byteCount % 4 != 1 else { throw malformed }
    return try SecretBytes(capacity: text.byteCount * 3 / 4) { output throws(JOSEError) in
      var offset = 0
      while offset < text.byteCount {
        let count = min(4, text.byteCount - offset)
        var group: UInt32 = 0
        for index in 0..<count {
          let character = unsafe text.unsafeLoad(fromByteOffset: offset + index, as: UInt8.self)
          guard let digit = value(of: character) else { throw malformed }
          group |= UInt32(digit) << (18 - 6 * UInt32(index))
        }
        guard group & (0xFF_FFFF >> (8 * UInt32(count - 1))) == 0 else { throw malformed }
        for index in 0..<count - 1 {
          output.append(byte: UInt8(truncatingIfNeeded: group >> (16 - 8 * UInt32(index))))
        }
        offset += 4
      }
    }
  }

  /// The bytes of a text that is not secret.
  ///
  /// - Throws: ``JOSEError/malformed(_:)``.
  package static func bytes(_ text: String) throws(JOSEError) -> [UInt8] {
    try unsafe decode(Array(text.utf8).span.bytes).expose { $0.copied }
  }

  /// 0 to 63, or nil for what is no digit of the alphabet.
  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character + 4
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }

  /// Without a table, whose lookups would depend on the secret.
  private static func character(_ digit: UInt8) -> UInt8 {
    switch digit {
    case 0...25: digit + 65
    case 26...51: digit + 71
    case 52...61: digit - 4
    case 62: UInt8(ascii: "-")
    default: UInt8(ascii: "_")
    }
  }

  private static var malformed: JOSEError { .malformed("a part of the token is not base64url") }
}

extension RawSpan {
  /// The bytes as an array, for what is not secret.
  var copied: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
