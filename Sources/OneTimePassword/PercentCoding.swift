import SecretMemory

/// Percent-encoding of RFC 3986 §2.1.
enum PercentCoding {
  /// What stands for a space besides `%20`.
  enum Plus { case isPlus, isSpace }

  /// Hands each decoded byte of `range` to `take`.
  static func decode(
    _ text: RawSpan, range: Range<Int>, plus: Plus, taking take: (UInt8) -> Void
  ) throws(OTPError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let byte = text.byte(at: offset)
      guard byte == UInt8(ascii: "%") else {
        take(plus == .isSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        offset += 1
        continue
      }
      guard offset + 2 < range.upperBound,
        let high = ASCII.hexDigit(text.byte(at: offset + 1)),
        let low = ASCII.hexDigit(text.byte(at: offset + 2))
      else { throw .invalidURI(.malformedPercentEncoding) }
      take(high << 4 | low)
      offset += 3
    }
  }

  /// The decoded bytes of something that is not secret.
  static func bytes(of text: RawSpan, range: Range<Int>, plus: Plus) throws(OTPError) -> [UInt8] {
    var bytes: [UInt8] = []
    try decode(text, range: range, plus: plus) { bytes.append($0) }
    return bytes
  }

  /// The decoded bytes of something that is secret.
  static func secret(of text: RawSpan, range: Range<Int>, plus: Plus) throws(OTPError) -> SecretBytes {
    try SecretBytes(capacity: range.count) { (output) throws(OTPError) in
      try decode(text, range: range, plus: plus) { output.append($0) }
    }
  }

  /// Writes `text` with everything but unreserved characters encoded.
  static func encode(_ text: String, into output: inout OutputRawSpan) {
    for byte in text.utf8 {
      if isUnreserved(byte) {
        output.append(byte)
      } else {
        output.append(UInt8(ascii: "%"))
        output.append(hexCharacter(byte >> 4))
        output.append(hexCharacter(byte & 15))
      }
    }
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func hexCharacter(_ digit: UInt8) -> UInt8 {
    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
  }
}
