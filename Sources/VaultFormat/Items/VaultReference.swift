import TextFormats

/// The address of one value of an item, `vaultctl://NAME/FIELD`, for templates and for the environment of programs.
///
/// NAME is the vault-wide name of an item. FIELD is `password`, `notes`, `url` (the first address), `account`, `service`, or the
/// name of a field of the item's own. Both are percent-encoded (RFC 3986 §2.1), and the last slash separates them:
/// `vaultctl://web/shop/password` and `vaultctl://web%2Fshop/password` are the same reference. Without a slash after NAME, FIELD is
/// `password`.
///
/// A reference holds no secret. Letters beyond ASCII may be written as they are, if they show.
public struct VaultReference: Hashable, Sendable {
  /// The name of the item, 1 to 255 bytes.
  public let name: String
  /// The name of the value, 1 to 255 bytes.
  public let field: String

  /// The field that a reference without one means.
  public static let password = "password"

  /// A reference to a field of an item.
  ///
  /// - Throws: ``VaultError/Code/malformed`` for a name or a field that is empty, longer than 255 bytes, or has a control character.
  public init(name: String, field: String = VaultReference.password) throws(VaultError) {
    for (part, word) in [(name, "name"), (field, "field")] {
      if let flaw = Self.flaw(of: part, word) { throw Self.refused("the reference", flaw) }
    }
    (self.name, self.field) = (name, field)
  }

  /// Reads a reference.
  ///
  /// - Throws: ``VaultError/Code/malformed``: the message repeats what was typed, if that is meant as a reference of some program.
  public init(_ text: String) throws(VaultError) {
    let isMeant = Self.isMeant(by: text) || Self.hasScheme(text)
    // Anything else could be a secret.
    let typed = isMeant ? "the reference \(Self.shown(text))" : "the reference"
    guard text.utf8.count <= Self.longest else {
      throw Self.refused(typed, Flaw("is \(text.utf8.count) bytes long, at most \(Self.longest) are allowed"))
    }
    guard text.hasPrefix(Self.prefix) else { throw Self.refused(typed, Self.flaw(ofBeginning: text)) }
    let rest = text.dropFirst(Self.prefix.count)
    if let flaw = Self.flaw(inEncoded: rest) { throw Self.refused(typed, flaw) }
    let slash = rest.utf8.lastIndex(of: UInt8(ascii: "/"))
    name = try Self.decoded(rest[..<(slash ?? rest.endIndex)], "name", typed: typed)
    field =
      try slash.map { slash throws(VaultError) in
        try Self.decoded(rest[rest.utf8.index(after: slash)...], "field", typed: typed)
      } ?? Self.password
  }

  /// The reference as text, with the field in any case. Everything but unreserved characters is percent-encoded.
  public var text: String {
    let parts = [name, field].map { $0.utf8.map(PercentEncoding.text(of:)).joined() }
    return Self.prefix + parts.joined(separator: "/")
  }

  /// Whether a text is meant as a reference, right or wrong.
  package static func isMeant(by text: some StringProtocol) -> Bool {
    text.utf8.prefix(scheme.utf8.count).elementsEqual(scheme.utf8) { $0 | 0x20 == $1 | 0x20 }
  }

  /// What a reference begins with, in small letters. What begins so is never anything else.
  package static let scheme = "vaultctl:"

  private static let prefix = scheme + "//"
  /// A name and a field that are encoded all through, and what is around them.
  private static let longest = prefix.utf8.count + 2 * 3 * longestPart + 1
  private static let longestPart = 255
}

/// Why a text is no reference, in words that continue it.
private struct Flaw {
  let words: String
  var hint: String?

  init(_ words: String, hint: String? = "write vaultctl://NAME/FIELD, or vaultctl://NAME for the password") {
    (self.words, self.hint) = (words, hint)
  }
}

extension VaultReference {
  private static func refused(_ subject: String, _ flaw: Flaw) -> VaultError {
    VaultError(.malformed, "\(subject) \(flaw.words)", hint: flaw.hint.map { Hint($0) })
  }

  /// The beginning of what was typed, harmless for a terminal.
  private static func shown(_ text: String) -> String {
    let first = String(text.prefix(longestShown))
    return "'\(VisibleText.escaped(first))\(first.utf8.count < text.utf8.count ? "…" : "")'"
  }

  private static let longestShown = 80

  /// Whether there is a scheme, of whatever program.
  package static func hasScheme(_ text: some StringProtocol) -> Bool {
    let rest = text.drop { $0 != ":" }
    return rest.hasPrefix("://")
  }

  private static func flaw(ofBeginning text: String) -> Flaw {
    if isMeant(by: text) { return Flaw("does not begin with vaultctl://, in small letters") }
    guard hasScheme(text) else { return Flaw("does not begin with vaultctl://") }
    return Flaw("is one of another program: a reference begins with vaultctl://")
  }

  /// What cannot be in a reference as it is.
  private static func flaw(inEncoded text: Substring) -> Flaw? {
    for scalar in text.unicodeScalars {
      if scalar.properties.generalCategory == .control { return Flaw("has a control character", hint: nil) }
      guard !VisibleText.isHidden(scalar) else {
        let number = String(scalar.value, radix: 16, uppercase: true)
        return Flaw("has a character that does not show: U+\(number)", hint: "write it percent-encoded")
      }
      guard !mustBeEncoded.contains(scalar) else {
        let encoded = scalar.utf8.map(PercentEncoding.text(of:)).joined()
        return Flaw(
          scalar == " " ? "has a space" : "has the character \(scalar)", hint: "write \(encoded) for it")
      }
    }
    return nil
  }

  /// What RFC 3986 gives another meaning or none, besides `%`. Braces are those of templates.
  private static let mustBeEncoded: Set<Unicode.Scalar> = [
    " ", "?", "#", "\"", "<", ">", "\\", "^", "`", "{", "|", "}", "[", "]",
  ]

  private static func decoded(
    _ part: Substring, _ word: String, typed: String
  ) throws(VaultError) -> String {
    guard let bytes = PercentEncoding.decoded(part.utf8) else {
      throw refused(
        typed, Flaw("has a % that two hexadecimal digits do not follow", hint: "write %25 for a %"))
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw refused(typed, Flaw("is not UTF-8 where its \(word) is decoded", hint: nil))
    }
    if let flaw = flaw(of: text, word) { throw refused(typed, flaw) }
    return text
  }

  private static func flaw(of part: String, _ word: String) -> Flaw? {
    if part.isEmpty {
      return word == "name"
        ? Flaw("has no name")
        : Flaw("ends in a slash, and no field follows", hint: "leave the slash out for the password")
    }
    guard part.utf8.count <= longestPart else {
      return Flaw("has a \(word) of \(part.utf8.count) bytes, at most \(longestPart) are allowed", hint: nil)
    }
    let hasControl = part.unicodeScalars.contains { $0.properties.generalCategory == .control }
    return hasControl ? Flaw("has a control character in its \(word)", hint: nil) : nil
  }
}
