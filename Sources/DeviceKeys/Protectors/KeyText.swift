import VaultFormat
import SecretMemory

/// A device key as text for services that keep text: base64 (RFC 4648 §4), 44 characters.
///
/// The code has no table, and no branch that depends on the key.
enum KeyText {
  /// The text of a key.
  static func encode(_ key: borrowing DeviceKey) -> SecretBytes {
    key.expose { span in
      SecretBytes(capacity: 44) { output in
        for group in 0..<11 {
          var bits: UInt32 = 0
          for offset in 0..<3 {
            let index = 3 * group + offset
            bits = bits << 8 | (index < 32 ? UInt32(byte(of: span, at: index)) : 0)
          }
          for place in 0..<4 {
            let isPadding = group == 10 && place == 3
            unsafe output.append(
              isPadding ? UInt8(ascii: "=") : character(UInt8(bits >> (18 - 6 * UInt32(place)) & 63)),
              as: UInt8.self)
          }
        }
      }
    }
  }

  /// The key of a text: exactly what ``encode(_:)`` writes, with or without one newline after it.
  ///
  /// - Throws: ``VaultError/Code/deviceKeyDamaged`` for anything else.
  static func decode(_ text: RawSpan) throws(VaultError) -> DeviceKey {
    var text = text
    if text.byteCount == 45, byte(of: text, at: 44) == 0x0A { text = text.extracting(0..<44) }
    guard text.byteCount == 44, byte(of: text, at: 43) == UInt8(ascii: "=") else { throw damaged }
    var isGood = true
    let bytes = SecretBytes(capacity: 32) { output in
      for group in 0..<11 {
        var bits: UInt32 = 0
        for place in 0..<4 {
          let isPadding = group == 10 && place == 3
          let value = isPadding ? 0 : value(byte(of: text, at: 4 * group + place))
          isGood = isGood && value < 64
          bits = bits << 6 | UInt32(value & 63)
        }
        // One key has one text: the unused bits are 0.
        if group == 10 { isGood = isGood && bits & 0xFF == 0 }
        for offset in 0..<(group == 10 ? 2 : 3) {
          unsafe output.append(UInt8(truncatingIfNeeded: bits >> (16 - 8 * UInt32(offset))), as: UInt8.self)
        }
      }
    }
    guard isGood else { throw damaged }
    return try DeviceKey(bytes)
  }

  static var damaged: VaultError {
    VaultError(
      .deviceKeyDamaged, "the device key in the Secret Service is damaged: it is not the text of 32 bytes",
      hint: .putKeyCopyBack)
  }

  private static func byte(of span: RawSpan, at index: Int) -> UInt8 {
    unsafe span.unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }

  /// All ones where `low <= value <= high`, else 0.
  private static func mask(_ value: Int32, _ low: Int32, _ high: Int32) -> Int32 {
    ~((value - low) >> 31) & ~((high - value) >> 31)
  }

  private static func character(_ value: UInt8) -> UInt8 {
    let value = Int32(value)
    let code =
      mask(value, 0, 25) & (value + 65) | mask(value, 26, 51) & (value + 71)
      | mask(value, 52, 61) & (value - 4) | mask(value, 62, 62) & 43 | mask(value, 63, 63) & 47
    return UInt8(truncatingIfNeeded: code)
  }

  /// 0–63, or 255 for a character that is not base64.
  private static func value(_ character: UInt8) -> UInt8 {
    let code = Int32(character)
    let letters = mask(code, 65, 90) & (code - 64) | mask(code, 97, 122) & (code - 70)
    let others = mask(code, 48, 57) & (code + 5) | mask(code, 43, 43) & 63 | mask(code, 47, 47) & 64
    return UInt8(truncatingIfNeeded: (letters | others) - 1)
  }
}
