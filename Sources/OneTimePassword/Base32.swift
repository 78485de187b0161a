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
  /// - Throws: ``OTPError/invalidBase32(position:)``, ``OTPError/secretTooLong``.
  public static func decode(_ text: borrowing SecretBytes) throws(OTPError) -> SecretBytes {
    try text.expose { (span) throws(OTPError) in try decode(span) }
  }

  /// The bytes of a Base32 text. The caller wipes `text`.
  ///
  /// - Throws: ``OTPError/invalidBase32(position:)``, ``OTPError/secretTooLong``.
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
        if let byte = decoder.take(character, at: position) { output.append(byte) }
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

  /// The character of a 5-bit value. It is computed, because a table would be read at a secret address.
  private static func character(_ value: UInt32) -> UInt8 {
    let isDigit = UInt8(truncatingIfNeeded: (25 &- value) >> 31)
    return UInt8(ascii: "A") &+ UInt8(truncatingIfNeeded: value) &- 41 &* isDigit
  }
}

/// The state between two characters of a Base32 text.
private struct Decoder {
  private var pending: UInt32 = 0
  private var bitCount = 0
  private var paddingCount = 0
  private var firstFault: Int?

  /// Takes one character. Returns the byte that it completes, if any.
  mutating func take(_ character: UInt8, at position: Int) -> UInt8? {
    if character == UInt8(ascii: "=") {
      paddingCount += 1
      if paddingCount > 6 { fault(at: position) }
      return nil
    }
    let value = Self.value(of: character)
    if value > 31 || paddingCount > 0 { fault(at: position) }
    pending = pending << 5 | value & 31
    bitCount += 5
    guard bitCount >= 8 else { return nil }
    bitCount -= 8
    return UInt8(truncatingIfNeeded: pending >> UInt32(bitCount))
  }

  /// Whether bits other than zero are left over. Throws the fault that was found on the way.
  func finish(at end: Int) throws(OTPError) -> Bool {
    if let firstFault { throw .invalidBase32(position: firstFault) }
    // A character too many: the text lost one, or was never an encoding of bytes.
    if bitCount >= 5 { throw .invalidBase32(position: end) }
    return pending & (1 << UInt32(bitCount) - 1) != 0
  }

  private mutating func fault(at position: Int) {
    if firstFault == nil { firstFault = position }
  }

  /// The 5-bit value of a character, above 31 for a foreign one. It is computed, because a table would be read at a
  /// secret address.
  private static func value(of character: UInt8) -> UInt32 {
    let letter = UInt32(character | 0x20) &- UInt32(UInt8(ascii: "a"))
    let digit = UInt32(character) &- UInt32(UInt8(ascii: "2"))
    let isLetter = 0 &- isBelow(letter, bound: 26)
    let isDigit = 0 &- isBelow(digit, bound: 6)
    return letter & isLetter | (digit &+ 26) & isDigit | 32 & ~(isLetter | isDigit)
  }

  /// 1 when `value` is below `bound`, else 0. Both are far below 2^31, or have wrapped around zero.
  private static func isBelow(_ value: UInt32, bound: UInt32) -> UInt32 {
    (value &- bound) >> 31 & ~value >> 31
  }
}
