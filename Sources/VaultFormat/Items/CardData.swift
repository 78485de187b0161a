package import SecretMemory

/// What a vault never stores as a card token or a consent: card numbers and security codes.
package enum CardData {
  /// - Throws: ``VaultError/Code/policy``.
  package static func refuse(_ attributes: Attributes) throws(VaultError) {
    for code in attributes.codes {
      guard let value = attributes.bytes(of: code) else { continue }
      if unsafe isCardData(value.span.bytes) { throw refusal("a name or another attribute of it") }
    }
  }

  /// - Throws: ``VaultError/Code/policy``.
  package static func refuse(_ secret: borrowing SecretBytes) throws(VaultError) {
    guard secret.expose({ isCardData($0) }) else { return }
    throw refusal("its secret")
  }

  private static func refusal(_ what: String) -> VaultError {
    VaultError(
      .policy, "\(what) is a card number or a security code, and the vault keeps none for card tokens",
      hint: "store the token that stands for the card")
  }

  /// Whether the digits of a text are a card number (ISO/IEC 7812-1: 13 to 19 digits, the last by Luhn) or a security code
  /// (3 or 4 digits). Digits of all scripts count; spaces, line ends, dashes and characters that do not show are left out; any
  /// other character makes it another text.
  private static func isCardData(_ text: RawSpan) -> Bool {
    var count = 0
    // The sums with every second digit doubled, counted from the first and from the second digit on.
    var (sum, other) = (0, 0)
    var offset = 0
    while offset < text.byteCount {
      guard let (scalar, width) = scalar(at: offset, in: text) else { return false }
      offset += width
      if isSeparator(scalar) { continue }
      guard let digit = digit(scalar), count < 19 else { return false }
      let doubled = digit > 4 ? 2 * digit - 9 : 2 * digit
      (sum, other) = (other + doubled, sum + digit)
      count += 1
    }
    // The last digit counts once, so the sum that ended with it plain is the one.
    return count == 3 || count == 4 || 13...19 ~= count && other % 10 == 0
  }

  /// The character at an offset of a text in UTF-8, and its number of bytes; `nil` if there is none.
  private static func scalar(at offset: Int, in text: RawSpan) -> (Unicode.Scalar, Int)? {
    let first = text.byte(at: offset)
    if first < 0x80 { return (Unicode.Scalar(first), 1) }
    let width = (~first).leadingZeroBitCount
    guard 2...4 ~= width, offset + width <= text.byteCount else { return nil }
    var value = UInt32(first & (0x7F >> UInt8(width)))
    for next in offset + 1..<offset + width {
      let byte = text.byte(at: next)
      guard byte & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    return Unicode.Scalar(value).map { ($0, width) }
  }

  private static func digit(_ scalar: Unicode.Scalar) -> Int? {
    if scalar.isASCII { return 0x30...0x39 ~= scalar.value ? Int(scalar.value) - 0x30 : nil }
    guard scalar.properties.numericType == .decimal else { return nil }
    return scalar.properties.numericValue.map { Int($0) }
  }

  private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
    if scalar == " " || VisibleText.isHidden(scalar) { return true }
    // The minus sign is no dash to Unicode.
    return scalar.properties.generalCategory == .dashPunctuation || scalar == "\u{2212}"
  }
}
