package import SecretMemory

/// One form for text that can be written in several: Unicode's form C, and RFC 8265 for what a person types as a secret.
///
/// This is the front page of TextPreparation. `é` is one character on one keyboard, and `e` with an accent on another.
/// A passcode that is set on one and typed on the other must be the same passcode, and a name must be the same name.
///
/// - ``opaque(_:)`` prepares a secret that a person types (RFC 8265 §4.2, OpaqueString).
/// - ``normalized(_:)-(String)`` is for names: form C alone (UAX #15).
/// - ``TypedCode`` drops the blanks and dashes of a code that a person typed.
/// - ``UTF8Characters`` reads the characters of bytes. `CanonicalForm` composes them.
///
/// Bytes that are not UTF-8 are no text and stay as they are. Text that is in form C whatever the tables say, which is all text
/// below U+0300, is not looked up, so it needs no library; the tables of all other text come from libunistring. Every buffer is
/// secret memory.
package enum TextPreparation {
  /// A secret that a person types, prepared: other spaces become the space of ASCII, and the text has form C.
  ///
  /// - Returns: `nil` if the bytes are prepared, or are no text.
  /// - Throws: ``TextPreparationError/libraryMissing``.
  package static func opaque(_ text: borrowing SecretBytes) throws(TextPreparationError) -> SecretBytes? {
    try prepared(text, mapsSpaces: true)
  }

  /// The text in form C.
  ///
  /// - Returns: `nil` if the bytes are in form C, or are no text.
  /// - Throws: ``TextPreparationError/libraryMissing``.
  package static func normalized(
    _ text: borrowing SecretBytes
  ) throws(TextPreparationError) -> SecretBytes? {
    try prepared(text, mapsSpaces: false)
  }

  /// A name, or other text that is not secret, in form C.
  ///
  /// - Throws: ``TextPreparationError/libraryMissing``.
  package static func normalized(_ text: String) throws(TextPreparationError) -> String {
    guard !text.utf8.allSatisfy({ $0 < 0x80 }),
      let changed = try normalized(SecretBytes(copying: Array(text.utf8)))
    else { return text }
    return changed.expose { bytes in
      String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
    }
  }

  private static func prepared(
    _ text: borrowing SecretBytes, mapsSpaces: Bool
  ) throws(TextPreparationError) -> SecretBytes? {
    let survey = text.expose { Survey(of: $0, mapsSpaces: mapsSpaces) }
    guard let survey, survey.mayChange else { return nil }
    if survey.highest >= Survey.firstLookedUp { try UnicodeTables.load() }
    let prepared = text.expose { text in
      CanonicalForm.compose(text, survey: survey, mapsSpaces: mapsSpaces)
    }
    // What was given is the person's own, so the comparison reveals nothing.
    if prepared.isEqualInConstantTime(to: text) { return nil }
    return prepared
  }
}
