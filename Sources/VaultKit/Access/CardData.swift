import SecretMemory
import VaultFormat

/// What a vault never stores as a card token or a consent: card numbers and security codes.
enum CardData {
  /// - Throws: ``VaultError/Code/policy``.
  static func refuse(_ attributes: Attributes, of kind: ItemKind) throws(VaultError) {
    guard concerns(kind) else { return }
    for code in attributes.codes {
      guard let value = attributes.bytes(of: code) else { continue }
      if unsafe isCardData(value.span.bytes) { throw refusal("a name or another attribute of it") }
    }
  }

  /// - Throws: ``VaultError/Code/policy``.
  static func refuse(_ secret: borrowing SecretBytes, of kind: ItemKind) throws(VaultError) {
    guard concerns(kind), secret.expose({ isCardData($0) }) else { return }
    throw refusal("its secret")
  }

  private static func concerns(_ kind: ItemKind) -> Bool { kind == .cardToken || kind == .consent }

  private static func refusal(_ what: String) -> VaultError {
    VaultError(
      .policy, "\(what) is a card number or a security code, and the vault keeps none for card tokens",
      hint: "store the token that stands for the card")
  }

  /// Whether the digits of a text are a card number (ISO/IEC 7812-1: 13 to 19 digits, the last by Luhn) or a security code
  /// (3 or 4 digits). Spaces, tabs, line ends and dashes do not count; any other character makes it another text.
  static func isCardData(_ text: RawSpan) -> Bool {
    var count = 0
    // The sums with every second digit doubled, counted from the first and from the second digit on.
    var (sum, other) = (0, 0)
    for offset in 0..<text.byteCount {
      let byte = unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      if separators.contains(byte) { continue }
      guard 0x30...0x39 ~= byte, count < 19 else { return false }
      let digit = Int(byte) - 0x30
      let doubled = digit > 4 ? 2 * digit - 9 : 2 * digit
      (sum, other) = (other + doubled, sum + digit)
      count += 1
    }
    // The last digit counts once, so the sum that ended with it plain is the one.
    return count == 3 || count == 4 || 13...19 ~= count && other % 10 == 0
  }

  /// Space, tab, line feed, carriage return, dash.
  private static let separators: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, 0x2D]
}
