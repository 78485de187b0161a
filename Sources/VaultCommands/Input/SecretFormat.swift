import CommandLineKit
import OneTimePassword
import SecretMemory
import TextPreparation
import VaultKit
import VaultWords

/// How the secret of a credential is written.
enum SecretFormat {
  case hexadecimal
  case base32
  case raw
}

extension Secrets {
  /// The secret of a credential from standard input.
  func key(in format: SecretFormat) throws(CommandError) -> SecretBytes {
    let (what, purpose) = ("secret", "store a credential")
    switch format {
    case .raw: return try data(what, to: purpose)
    case .hexadecimal:
      let digits = TypedCode.characters(of: try line(what, to: purpose, twice: true))
      guard let key = SecretBytes(hexadecimal: digits) else {
        throw .malformed("the secret is not hexadecimal", hint: "give pairs of the digits 0-9 and a-f")
      }
      return key
    case .base32:
      let text = try line(what, to: purpose, twice: true)
      do throws(OTPError) { return try Base32.decode(text) } catch {
        throw .malformed(error.message, hint: "give letters and the digits 2-7")
      }
    }
  }
}

extension SecretBytes {
  /// The bytes of hexadecimal digits of either case; `nil` for other characters and an odd number of them.
  init?(hexadecimal text: borrowing SecretBytes) {
    guard text.byteCount % 2 == 0 else { return nil }
    var isWrong = false
    let bytes = text.expose { text in
      SecretBytes(capacity: text.byteCount / 2) { output in
        for index in stride(from: 0, to: text.byteCount, by: 2) {
          let (high, low) = (Self.digit(text, at: index), Self.digit(text, at: index + 1))
          isWrong = isWrong || high | low > 15
          output.append(high << 4 | low & 15)
        }
      }
    }
    guard !isWrong else { return nil }
    self = bytes
  }

  /// The value of a digit, above 15 for another character. It is computed, because a table would be read at a secret
  /// address.
  private static func digit(_ text: RawSpan, at index: Int) -> UInt8 {
    let character = unsafe text.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    let digit = character &- UInt8(ascii: "0")
    let letter = (character | 0x20) &- UInt8(ascii: "a")
    let (isDigit, isLetter) = (mask(digit, below: 10), mask(letter, below: 6))
    return digit & isDigit | (letter &+ 10) & isLetter | 16 & ~(isDigit | isLetter)
  }

  /// All ones if `value` is below `bound`, else zero.
  private static func mask(_ value: UInt8, below bound: UInt8) -> UInt8 {
    UInt8(truncatingIfNeeded: (Int16(value) - Int16(bound)) >> 15)
  }
}
