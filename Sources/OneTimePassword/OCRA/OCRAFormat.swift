/// The format of an OCRA code: 4 to 10 decimal digits, or the whole HMAC in hexadecimal digits (RFC 6287 §5.2).
///
/// Decimal codes are the truncated HMAC value, a number of 31 bits (RFC 4226 §5.3), modulo a power of ten. So a code of
/// ten digits begins with 0, 1 or 2 and is not harder to guess than 31 bits.
public struct OCRAFormat: Sendable, Hashable {
  /// No truncation: the whole HMAC, two lowercase hexadecimal digits for each byte.
  public static let wholeHMAC = OCRAFormat(checked: 0)

  /// How many decimal digits a code has, 4 to 10; 0 for ``wholeHMAC``.
  public let digits: Int
  /// 10 to the power of `digits`, for up to 8.
  private let modulus: UInt32

  /// The format with this number of decimal digits; `nil` for a number that RFC 6287 does not have.
  init?(digits: Int) {
    guard digits == 0 || (4...10).contains(digits) else { return nil }
    self.init(checked: digits)
  }

  private init(checked digits: Int) {
    self.digits = digits
    modulus = (0..<min(digits, 8)).reduce(1) { power, _ in power * 10 }
  }

  /// The last decimal digits of a number, zeros kept on the left.
  func text(of value: UInt32) -> String {
    guard digits <= 8 else { return longText(of: value) }
    let characters = OTPFormat.eightDigits(of: value % modulus) >> (8 * UInt64(8 - digits))
    return unsafe String(unsafeUninitializedCapacity: 8) { output in
      unsafe UnsafeMutableRawBufferPointer(output).storeBytes(of: characters.littleEndian, as: UInt64.self)
      return digits
    }
  }

  private func longText(of value: UInt32) -> String {
    unsafe String(unsafeUninitializedCapacity: digits) { characters in
      var rest = value
      for index in (0..<digits).reversed() {
        unsafe characters[index] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      }
      return digits
    }
  }
}
