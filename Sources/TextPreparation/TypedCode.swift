package import SecretMemory

/// A code that a person copies from a screen or from paper: a one-time code, a recovery code, a key in Base32.
///
/// People group its characters, and programs that show it put blanks and dashes of many kinds between them. None of them is a part
/// of a code. Digits and letters of full width, as input methods of East Asia write them, are those of ASCII. A PIN is no such code:
/// it is typed from memory, so anything but its digits is a mistake.
package struct TypedCode {
  private var characters = UTF8Characters()
  /// Where the bytes begin that pass as they are, up to that of the next character.
  private var offset = 0

  /// A code that is read from its beginning.
  package init() {}

  /// The next byte of the code, with its place in the text; `nil` at the end. Bytes that are not UTF-8 pass as they are.
  package mutating func next(in text: RawSpan) -> (byte: UInt8, offset: Int)? {
    while offset == characters.offset, offset < text.byteCount {
      guard let character = characters.next(in: text) else { break }
      if Self.isSeparator(character) {
        offset = characters.offset
      } else if 0xFF01...0xFF5E ~= character {
        defer { offset = characters.offset }
        return (UInt8(character - 0xFEE0), offset)
      }
    }
    guard offset < text.byteCount else { return nil }
    defer { offset += 1 }
    return (text.byte(at: offset), offset)
  }

  /// The characters of a code without blanks and dashes.
  package static func characters(of text: borrowing SecretBytes) -> SecretBytes {
    text.expose { text in
      SecretBytes(capacity: text.byteCount) { output in
        var code = TypedCode()
        while let (byte, _) = code.next(in: text) { output.append(byte) }
      }
    }
  }

  /// A code that another program judges: without blanks and dashes if all else are digits. In any other code they may be a part of
  /// it, so it stays as it is.
  package static func ungrouped(_ text: consuming SecretBytes) -> SecretBytes {
    let characters = characters(of: text)
    let isNumber = characters.expose { bytes in
      bytes.byteCount > 0 && (0..<bytes.byteCount).allSatisfy { 0x30...0x39 ~= bytes.byte(at: $0) }
    }
    return isNumber ? characters : text
  }

  /// The characters of a code that is no secret.
  package static func characters(of text: String) -> String {
    let kept = characters(of: SecretBytes(copying: Array(text.utf8)))
    return kept.expose { bytes in
      String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
    }
  }

  /// Whether a character only separates those of a code.
  private static func isSeparator(_ character: UInt32) -> Bool {
    switch character {
    // Blanks and ends of lines.
    case 0x20, 0x09, 0x0A, 0x0D: true
    // Characters that do not show: soft hyphen, zero-width space and joiners, word joiner, byte order mark, and the marks of
    // writing direction that come with what is copied from a page or a dialog.
    case 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2069, 0xFEFF: true
    // Dashes (category Pd), minus, and the sign of a long vowel, which an input method of Japanese writes for the key of the dash.
    case 0x2D, 0x58A, 0x5BE, 0x1400, 0x1806, 0x2010...0x2015, 0x2E17, 0x2E1A, 0x2E3A, 0x2E3B, 0x2E40, 0x2E5D,
      0x301C, 0x3030,
      0x30A0, 0xFE31, 0xFE32, 0xFE58, 0xFE63, 0xFF0D, 0x10EAD, 0x2212, 0x30FC, 0xFF70:
      true
    default: UTF8Characters.isOtherSpace(character)
    }
  }
}
