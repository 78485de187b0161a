/// How many columns of a terminal text takes: an East Asian wide character and an emoji take two, an accent takes none.
enum DisplayWidth {
  static func columns(of text: some StringProtocol) -> Int { text.reduce(0) { $0 + columns(of: $1) } }

  /// The text, or its beginning and `…` where it is wider.
  static func cut(_ text: String, to limit: Int) -> String {
    guard columns(of: text) > limit else { return text }
    var (beginning, width) = ("", 0)
    for character in text {
      let next = width + columns(of: character)
      guard next < limit else { break }
      beginning.append(character)
      width = next
    }
    return limit > 0 ? beginning + "…" : ""
  }

  private static func columns(of character: Character) -> Int {
    let scalars = character.unicodeScalars
    guard let first = scalars.first else { return 0 }
    if scalars.contains("\u{FE0F}") { return 2 }
    // Most of what is listed is Latin.
    guard first.value >= 0x300 else { return 1 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(first) ? 2 : 1
    }
  }

  /// Unicode Standard Annex 11: W and F, by blocks.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) }
  }

  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
    0x17000...0x18CFF, 0x1B000...0x1B2FF, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
  ]
}
