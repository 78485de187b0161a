/// The format of a code: 6 to 8 decimal digits, or Steam's five characters. Servers that chose badly have 4 or 5 digits.
///
/// Both are the truncated HMAC value (RFC 4226 §5.3) modulo the number of codes of the format, written in its alphabet.
public struct OTPFormat: Sendable, Hashable {
  /// Five characters of Steam's alphabet, the least significant first.
  public static let steam = OTPFormat(length: 5, isSteam: true)

  /// Six decimal digits.
  public static let sixDigits = OTPFormat(length: 6)

  /// Decimal codes of 6, 7 or 8 digits, zeros kept on the left.
  ///
  /// - Parameters:
  ///   - digits: The length of a code.
  ///   - allowsWeak: Whether 4 and 5 digits, fewer than RFC 4226 R4 allows, are accepted as well.
  /// - Throws: ``OTPError/Code/invalidDigits`` for any other number.
  public static func decimal(
    _ digits: Int, allowingWeak allowsWeak: Bool = false
  ) throws(OTPError) -> OTPFormat {
    switch digits {
    case 4, 5: if allowsWeak { return OTPFormat(length: UInt8(digits)) }
    case 6: return sixDigits
    case 7: return OTPFormat(length: 7)
    case 8: return OTPFormat(length: 8)
    default: break
    }
    throw .invalidDigits
  }

  /// How many characters a code has.
  public var length: Int { Int(characterCount) }
  /// How many different codes there are.
  package var modulus: UInt32 {
    switch characterCount {
    case 4: 10_000
    case 5: isSteam ? 26 * 26 * 26 * 26 * 26 : 100_000
    case 6: 1_000_000
    case 7: 10_000_000
    default: 100_000_000
    }
  }
  /// Whether codes are written in Steam's alphabet.
  package let isSteam: Bool
  /// Whether codes have fewer digits than RFC 4226 R4 allows.
  package var isWeak: Bool { characterCount < 6 && !isSteam }

  private let characterCount: UInt8

  private init(length: UInt8, isSteam: Bool = false) {
    characterCount = length
    self.isSteam = isSteam
  }

  /// `value` modulo ``modulus``. Division by a constant is several times as fast.
  func reduced(_ value: UInt32) -> UInt32 {
    switch characterCount {
    case 4: value % 10_000
    case 5: isSteam ? value % (26 * 26 * 26 * 26 * 26) : value % 100_000
    case 6: value % 1_000_000
    case 7: value % 10_000_000
    default: value % 100_000_000
    }
  }

  /// The characters of a code.
  ///
  /// - Parameter value: The code as a number; what exceeds the number of codes is dropped.
  /// - Returns: Exactly ``length`` ASCII characters.
  public func text(of value: UInt32) -> String {
    guard !isSteam else { return steamText(of: value) }
    let digits = Self.eightDigits(of: reduced(value)) >> (8 * UInt64(8 - length))
    return unsafe String(unsafeUninitializedCapacity: 8) { characters in
      unsafe UnsafeMutableRawBufferPointer(characters).storeBytes(of: digits.littleEndian, as: UInt64.self)
      return length
    }
  }

  /// Eight ASCII digits of a number below 10^8, the first in the lowest byte: halves, quarters and digits are divided
  /// side by side in one word, the divisions by 100 and by 10 as multiplications that are exact in their range.
  static func eightDigits(of value: UInt32) -> UInt64 {
    let halves = UInt64(value / 10_000) | UInt64(value % 10_000) << 32
    let hundreds = (halves &* 10_486) >> 20 & 0x0000_007F_0000_007F
    let quarters = hundreds | (halves &- hundreds &* 100) << 16
    let tens = (quarters &* 103) >> 10 & 0x000F_000F_000F_000F
    return (tens | (quarters &- tens &* 10) << 8) | 0x3030_3030_3030_3030
  }

  private func steamText(of value: UInt32) -> String {
    unsafe String(unsafeUninitializedCapacity: length) { characters in
      var rest = value
      for index in 0..<length {
        unsafe characters[index] = Self.steamCharacter(rest % 26)
        rest /= 26
      }
      return length
    }
  }

  /// The value of a code, if its characters are exactly those of this format.
  func value(of characters: some Collection<UInt8>) -> UInt32? {
    guard characters.count == length else { return nil }
    return isSteam ? Self.steamValue(characters) : ASCII.decimal(characters).map(UInt32.init)
  }

  private static func steamValue(_ characters: some Collection<UInt8>) -> UInt32? {
    var value: UInt32 = 0
    var weight: UInt32 = 1
    for character in characters {
      guard let digit = (0..<26).first(where: { steamCharacter($0) == character }) else { return nil }
      value += digit * weight
      weight *= 26
    }
    return value
  }

  private static func steamCharacter(_ digit: UInt32) -> UInt8 {
    steamAlphabet[Int(digit)]
  }

  private static let steamAlphabet = Array("23456789BCDFGHJKMNPQRTVWXY".utf8)
}
