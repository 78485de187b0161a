extension Unicode.Scalar {
  /// Whether the character is drawn as nothing, or only as space, or changes how the text around it is drawn. The space of ASCII
  /// shows.
  package var isHidden: Bool {
    if isASCII { return value < 0x20 || value == 0x7F }
    guard !properties.isDefaultIgnorableCodePoint, !Self.blanks.contains(self) else { return true }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .privateUse, .surrogate,
      .unassigned:
      true
    default: false
    }
  }

  /// The character, or what is written in its place if it does not show: `\u{200B}`.
  package var shown: String {
    isHidden ? "\\u{\(String(value, radix: 16, uppercase: true))}" : String(self)
  }

  /// Characters that Unicode calls letters, marks or symbols, but that are drawn as nothing: the braille pattern, the
  /// replaced object, the Brahmi number joiner, the hieroglyphic blanks, the Khitan filler, the note without a head.
  private static let blanks: [Unicode.Scalar] = [
    "\u{2800}", "\u{FFFC}", "\u{1107F}", "\u{13441}", "\u{13442}", "\u{16FE4}", "\u{1D159}",
  ]
}
