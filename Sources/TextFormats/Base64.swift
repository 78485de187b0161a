/// Base64 with padding (RFC 4648 §4) over spans, so that a secret is never in a `String`.
package enum Base64 {
  /// Input bytes of one call of ``encode(_:into:)``: a multiple of three, so that groups can be joined.
  package static let groupByteCount = 3 * 512

  /// Appends four characters for each three bytes.
  package static func encode(_ bytes: RawSpan, into output: inout OutputRawSpan) {
    var offset = 0
    while offset < bytes.byteCount {
      let count = min(3, bytes.byteCount - offset)
      var group: UInt32 = 0
      for index in 0..<3 {
        let byte = unsafe index < count ? bytes.unsafeLoad(fromByteOffset: offset + index, as: UInt8.self) : 0
        group = group << 8 | UInt32(byte)
      }
      for index in 0..<4 {
        let digit = UInt8(group >> (18 - 6 * UInt32(index)) & 63)
        output.append(byte: index <= count ? character(digit) : UInt8(ascii: "="))
      }
      offset += 3
    }
  }

  /// 0 to 63, or nil for what is no base64 digit.
  static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character + 4
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }

  /// Without a table, whose lookups would depend on the secret.
  private static func character(_ digit: UInt8) -> UInt8 {
    switch digit {
    case 0...25: digit + 65
    case 26...51: digit + 71
    case 52...61: digit - 4
    case 62: UInt8(ascii: "+")
    default: UInt8(ascii: "/")
    }
  }
}
