import TextFormats

/// Text whose characters all show as themselves: what a name may contain, and how other text is shown.
///
/// Two names that look alike must be the same name, and no name may hide, imitate or reorder the text around it. So a
/// new name with a character that does not show as itself is refused. In text that was stored before, or comes from
/// another program, such a character is shown as `\u{200B}`.
package enum VisibleText {
  /// Why a text cannot be a name, in words that continue "the name".
  ///
  /// - Returns: Nil for a text whose characters and spaces all show.
  package static func flaw(inName text: String) -> String? {
    if let flaw = flaw(in: text) { return flaw }
    if text.utf8.first == space || text.utf8.last == space { return "begins or ends with a space" }
    guard !zip(text.utf8, text.utf8.dropFirst()).contains(where: { $0 == space && $1 == space }) else {
      return "has two spaces in a row"
    }
    return nil
  }

  /// Why a text would not show as itself, in words that continue "the text"; nil when all its characters show.
  package static func flaw(in text: some StringProtocol) -> String? {
    flaw(in: text.unicodeScalars) { _ in .refused }
  }

  /// Why a text that a person reads whole would not show as itself, in words that continue "the text".
  ///
  /// A name is a key: no two names may look alike. A text is read and signed, and is written as its language is: a number with a space
  /// that does not break the line, a word with a joiner. So this also takes all spaces (category Zs), the joiners U+200C and U+200D
  /// where RFC 5892 (A.1, A.2) allows them, a joiner between two emoji, and the variation selector of an emoji.
  package static func flaw(inWhole text: some StringProtocol) -> String? {
    guard flaw(in: text) != nil else { return nil }
    let scalars = Array(text.unicodeScalars)
    return flaw(in: scalars) { scalars.use(ofHiddenAt: $0) }
  }

  /// - Parameter use: What the hidden character at this place is for.
  private static func flaw(
    in scalars: some Sequence<Unicode.Scalar>, use: (Int) -> HiddenUse
  ) -> String? {
    var marks = Marks()
    for (index, scalar) in scalars.enumerated() {
      if isHidden(scalar) {
        switch use(index) {
        case .refused: return "has a character that does not show: U+\(hexadecimal(scalar, digits: 4))"
        // What it joins is one character for the accents, too.
        case .joiner: continue
        case .shown: break
        }
      }
      if marks.areStacked(by: scalar) {
        return "has more than \(Marks.most) accents on one character, or one on none"
      }
    }
    return nil
  }

  /// The text with each character that does not show as itself written like `\u{200B}`, and with `\u{5C}` for a
  /// backslash that would look like the beginning of such an escape.
  ///
  /// - Parameter keepsEscapes: Whether such backslashes stay, for a sentence whose parts were escaped before.
  package static func escaped(_ text: String, keepsEscapes: Bool = false) -> String {
    guard !isPlain(text.utf8Span.span) else { return text }
    var shown = String.UnicodeScalarView()
    var marks = Marks()
    let scalars = text.unicodeScalars
    for index in scalars.indices {
      let scalar = scalars[index]
      let isStacked = marks.areStacked(by: scalar)
      let isEscape =
        !keepsEscapes && scalar == "\\"
        && scalars[scalars.index(after: index)...].starts(with: "u{".unicodeScalars)
      guard isHidden(scalar) || isStacked || isEscape else {
        shown.append(scalar)
        continue
      }
      shown.append(contentsOf: "\\u{\(hexadecimal(scalar, digits: 1))}".unicodeScalars)
    }
    return String(shown)
  }

  /// Whether all bytes are visible ASCII and no backslash.
  private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices {
      let byte = bytes[index]
      guard byte >= space, byte < 0x7F, byte != backslash else { return false }
    }
    return true
  }

  /// Whether a character is drawn as nothing, or only as space. The space of ASCII shows.
  package static func isHidden(_ scalar: Unicode.Scalar) -> Bool { scalar.isHidden }

  private static func hexadecimal(_ scalar: Unicode.Scalar, digits: Int) -> String {
    let text = String(scalar.value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  private static let space = UInt8(ascii: " ")
  private static let backslash = UInt8(ascii: "\\")
}

/// Accents and other marks, which are drawn on the character before them.
private struct Marks {
  /// The largest number of marks on one character in a language that is written today (UTS 39, section 5.4).
  static let most = 4

  private var count = Marks.most

  /// Whether this is a mark on no character, or one mark too many.
  mutating func areStacked(by scalar: Unicode.Scalar) -> Bool {
    switch scalar.isASCII ? .otherSymbol : scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .spacingMark:
      count += 1
      return count > Self.most
    default:
      count = 0
      return false
    }
  }
}
