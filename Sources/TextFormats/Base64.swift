/// Base64 over spans, so that a secret is never in a `String`.
package enum Base64 {
  /// Which characters there are besides letters and digits, and whether the end is padded.
  package enum Form: Sendable {
    /// With `+`, `/` and padding (RFC 4648 §4).
    case padded
    /// With `-` and `_`, without padding (RFC 4648 §5, RFC 7515 §2).
    case url
  }

  /// Input bytes of one call of ``encode(_:into:)``: a multiple of three, so that groups can be joined.
  package static let groupByteCount = 3 * 512

  /// How many characters `byteCount` bytes have.
  package static func characterCount(of byteCount: Int, as form: Form) -> Int {
    form == .padded ? (byteCount + 2) / 3 * 4 : (byteCount * 4 + 2) / 3
  }

  /// Appends four characters for each three bytes, with padding.
  package static func encode(_ bytes: RawSpan, into output: inout OutputRawSpan) {
    encode(bytes, as: .padded, into: &output)
  }

  /// Appends four characters for each three bytes; without padding, two or three for the rest.
  package static func encode(_ bytes: RawSpan, as form: Form, into output: inout OutputRawSpan) {
    var offset = 0
    while offset < bytes.byteCount {
      let count = min(3, bytes.byteCount - offset)
      var group: UInt32 = 0
      for index in 0..<3 {
        let byte = unsafe index < count ? bytes.unsafeLoad(fromByteOffset: offset + index, as: UInt8.self) : 0
        group = group << 8 | UInt32(byte)
      }
      for index in 0...count {
        output.append(byte: form.character(UInt8(group >> (18 - 6 * UInt32(index)) & 63)))
      }
      if form == .padded { for _ in count..<3 { output.append(byte: UInt8(ascii: "=")) } }
      offset += 3
    }
  }
}

extension Base64.Form {
  /// 0 to 63, or nil for what is no digit.
  func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character + 4
    case self.character(62): 62
    case self.character(63): 63
    default: nil
    }
  }

  func character(_ digit: UInt8) -> UInt8 {
    switch digit {
    case 0...25: digit + 65
    case 26...51: digit + 71
    case 52...61: digit - 4
    case 62: self == .padded ? UInt8(ascii: "+") : UInt8(ascii: "-")
    default: self == .padded ? UInt8(ascii: "/") : UInt8(ascii: "_")
    }
  }
}
