/// The rules for an issuer or account: short UTF-8 that a prompt can show as it is.
enum NameRules {
  /// The text of `bytes`, checked.
  static func text(of bytes: [UInt8]) throws(OTPError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidURI(.notUTF8) }
    return try checked(text)
  }

  /// `text` without spaces at its ends.
  static func checked(_ text: String) throws(OTPError) -> String {
    if text.unicodeScalars.contains(where: isForbidden) { throw .invalidURI(.controlCharacter) }
    let trimmed = trimmingSpaces(text)
    if trimmed.utf8.count > OTPAuthURI.maximumNameByteCount { throw .invalidURI(.nameTooLong) }
    return trimmed
  }

  /// Control characters, line separators, and characters that change the direction of the text after them.
  private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  private static func trimmingSpaces(_ text: String) -> String {
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") }
    let start = text.utf8.drop(while: isSpace)
    return String(Substring(start.prefix(start.count - start.reversed().prefix(while: isSpace).count)))
  }
}
