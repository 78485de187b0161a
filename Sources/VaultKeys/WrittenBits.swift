import OneTimePassword
import SecretMemory
import VaultCrypto
import VaultFormat

/// 128 random bits as a person writes them down: eight groups of four Base32 characters, joined by dashes. The last 32
/// bits are a checksum, whose label tells one kind of code from another.
enum WrittenBits {
  /// 39 ASCII characters.
  static func text(of bits: borrowing SecretBytes, checkedBy label: Label) -> SecretBytes {
    let whole = SecretBytes.joining(bits, checksum(bits, label))
    let letters = Base32.encode(whole)
    return SecretBytes(capacity: 39) { output in
      letters.expose { span in
        for index in 0..<32 {
          if index > 0, index % 4 == 0 { output.append(UInt8(ascii: "-")) }
          output.append(unsafe span.unsafeLoad(fromByteOffset: index, as: UInt8.self))
        }
      }
    }
  }

  /// The bits of a text as typed: case, spaces and dashes do not matter. `nil` if it was mistyped, or is another kind of
  /// code.
  static func bits(of text: borrowing SecretBytes, checkedBy label: Label) -> SecretBytes? {
    let decoded: SecretBytes
    do throws(OTPError) { decoded = try Base32.decode(text) } catch { return nil }
    guard decoded.byteCount == 20 else { return nil }
    let bits = decoded.expose { SecretBytes(copying: $0.extracting(0..<16)) }
    let isRight = decoded.expose { span in
      checksum(bits, label).expose { isEqualInConstantTime(span.extracting(16..<20), $0) }
    }
    guard isRight else { return nil }
    return bits
  }

  private static func checksum(_ bits: borrowing SecretBytes, _ label: Label) -> SecretBytes {
    let digest = bits.expose { span in
      var hash = SHA256.Incremental()
      hash.append(label.utf8)
      hash.append(span)
      return hash.finish()
    }
    return SecretBytes(copying: Array(digest.prefix(4)))
  }
}
