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
          guard let high = Self.digit(text, at: index), let low = Self.digit(text, at: index + 1) else {
            isWrong = true
            return
          }
          output.append(high << 4 | low)
        }
      }
    }
    guard !isWrong else { return nil }
    self = bytes
  }

  /// The value of a digit; `nil` for another character.
  private static func digit(_ text: RawSpan, at index: Int) -> UInt8? {
    let character = unsafe text.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    return switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
