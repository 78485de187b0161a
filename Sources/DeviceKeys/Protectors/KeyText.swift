import SecretMemory
import TextFormats
import VaultFormat

/// A device key as text for services that keep text: base64 (RFC 4648 §4), 44 characters.
enum KeyText {
  /// The text of a key.
  static func encode(_ key: borrowing DeviceKey) -> SecretBytes {
    key.expose { key in SecretBytes(capacity: 44) { output in Base64.encode(key, into: &output) } }
  }

  /// The key of a text: exactly what ``encode(_:)`` writes, with or without one newline after it.
  ///
  /// - Throws: ``VaultError/Code/deviceKeyDamaged`` for anything else.
  static func decode(_ text: RawSpan) throws(VaultError) -> DeviceKey {
    let newline = UInt8(ascii: "\n")
    let hasNewline =
      unsafe text.byteCount == 45 && text.unsafeLoad(fromByteOffset: 44, as: UInt8.self) == newline
    let bytes: SecretBytes
    do throws(TextError) {
      bytes = try Base64.decoded(hasNewline ? text.extracting(0..<44) : text, as: .padded)
    } catch { throw damaged }
    guard bytes.byteCount == 32 else { throw damaged }
    return try DeviceKey(bytes)
  }

  static var damaged: VaultError {
    VaultError(
      .deviceKeyDamaged, "the device key in the Secret Service is damaged: it is not the text of 32 bytes",
      hint: .putKeyCopyBack)
  }
}
