public import SecretMemory
import TextPreparation

/// Base32 of RFC 4648 §6, the way in which services write shared secrets for people.
///
/// Reading tolerates what people and services do: upper and lower case, blanks and dashes of all kinds anywhere, with or without
/// padding. It refuses lost or wrong characters: a foreign character, padding in the middle, more than six padding
/// characters, and a length that no whole number of bytes has (1, 3 or 6 characters left over). Bits left over at
/// the end that are not zero are dropped, as every authenticator does, because some services draw the letters at
/// random. RFC 4648 §3.5 leaves the choice; ``OTPAuthURI/warnings`` reports it.
public enum Base32 {
  /// The longest text that is read, in bytes.
  public static let maximumTextByteCount = 1 << 20

  /// The bytes of a Base32 text.
  ///
  /// - Throws: ``OTPError/Code/invalidBase32``, ``OTPError/Code/secretTooLong``.
  public static func decode(_ text: borrowing SecretBytes) throws(OTPError) -> SecretBytes {
    try text.expose { (span) throws(OTPError) in try decode(span) }
  }

  /// The bytes of a Base32 text. The caller wipes `text`.
  ///
  /// - Throws: ``OTPError/Code/invalidBase32``, ``OTPError/Code/secretTooLong``.
  public static func decode(_ text: RawSpan) throws(OTPError) -> SecretBytes {
    var hasTrailingBits = false
    return try decode(text, hasTrailingBits: &hasTrailingBits)
  }

  static func decode(_ text: RawSpan, hasTrailingBits: inout Bool) throws(OTPError) -> SecretBytes {
    guard text.byteCount <= maximumTextByteCount else { throw .secretTooLong }
    return try SecretBytes(capacity: text.byteCount * 5 / 8) { (output) throws(OTPError) in
      var decoder = Decoder()
      var code = TypedCode()
      while let (character, position) = code.next(in: text) {
        if let byte = try decoder.take(character, at: position) { output.append(byte) }
      }
      hasTrailingBits = try decoder.finish(at: text.byteCount)
    }
  }

  /// Upper-case Base32 without padding.
  public static func encode(_ bytes: borrowing SecretBytes) -> SecretBytes {
    bytes.expose { span in
      SecretBytes(capacity: (span.byteCount * 8 + 4) / 5) { output in
        var pending: UInt32 = 0
        var bitCount = 0
        for offset in 0..<span.byteCount {
          pending = pending << 8 | UInt32(span.byte(at: offset))
          bitCount += 8
          while bitCount >= 5 {
            bitCount -= 5
            output.append(character(pending >> UInt32(bitCount) & 31))
          }
        }
        if bitCount > 0 { output.append(character(pending << UInt32(5 - bitCount) & 31)) }
      }
    }
  }

  private static func character(_ value: UInt32) -> UInt8 {
    let value = UInt8(value)
    return value < 26 ? UInt8(ascii: "A") + value : UInt8(ascii: "2") + value - 26
  }
}

/// The state between two characters of a Base32 text.
private struct Decoder {
  private var pending: UInt32 = 0
  private var bitCount = 0
  private var paddingCount = 0

  /// Takes one character. Returns the byte that it completes, if any.
  mutating func take(_ character: UInt8, at position: Int) throws(OTPError) -> UInt8? {
    if character == UInt8(ascii: "=") {
      paddingCount += 1
      if paddingCount > 6 { throw .invalidBase32(position: position) }
      return nil
    }
    guard paddingCount == 0, let value = Self.value(of: character) else {
      throw .invalidBase32(position: position)
    }
    pending = pending << 5 | UInt32(value)
    bitCount += 5
    guard bitCount >= 8 else { return nil }
    bitCount -= 8
    return UInt8(truncatingIfNeeded: pending >> UInt32(bitCount))
  }

  /// Whether bits other than zero are left over.
  func finish(at end: Int) throws(OTPError) -> Bool {
    // A character too many: the text lost one, or was never an encoding of bytes.
    if bitCount >= 5 { throw .invalidBase32(position: end) }
    return pending & (1 << UInt32(bitCount) - 1) != 0
  }

  /// The 5 bits of a character; `nil` for a foreign one.
  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a")
    case UInt8(ascii: "2")...UInt8(ascii: "7"): character - UInt8(ascii: "2") + 26
    default: nil
    }
  }
}
