package import SecretMemory

/// A line of text as files, pipes and people give it. Every line that a command reads goes through here.
package enum TextLine {
  /// Why bytes are not read as text.
  package enum Fault: Error {
    /// They are UTF-16, as some editors and shells of Windows write it.
    case utf16

    /// What is wrong, for a person.
    ///
    /// - Parameter what: What the text is called: "the passcode".
    package func message(_ what: String) -> String { "\(what) is UTF-16" }

    package static var hint: String { "save it as UTF-8" }
  }

  /// The bytes without a byte order mark at their beginning.
  ///
  /// - Throws: ``Fault/utf16``.
  package static func unmarked(_ bytes: consuming SecretBytes) throws(Fault) -> SecretBytes {
    let (isUTF16, start) = bytes.expose { ($0.isUTF16, $0.startAfterMark) }
    if isUTF16 { throw .utf16 }
    guard start > 0 else { return bytes }
    return bytes.expose { SecretBytes(copying: $0.extracting(start..<$0.byteCount)) }
  }

  /// The bytes without a byte order mark and without one end of line at their end: LF, CR LF or CR. All else stays. (NEL is no
  /// end of line: no program of our systems writes it.)
  ///
  /// - Throws: ``Fault/utf16``.
  package static func whole(_ bytes: consuming SecretBytes) throws(Fault) -> SecretBytes {
    let text = try unmarked(bytes)
    let end = text.expose { $0.endBeforeLineEnd }
    guard end < text.byteCount else { return text }
    return text.expose { SecretBytes(copying: $0.extracting(0..<end)) }
  }

  /// The bytes without a byte order mark, and without the blanks and ends of lines around them: for what never has a blank at its
  /// ends, such as a URI, a key, a token or a code.
  ///
  /// - Throws: ``Fault/utf16``.
  package static func trimmed(_ bytes: consuming SecretBytes) throws(Fault) -> SecretBytes {
    let text = try unmarked(bytes)
    return text.expose { bytes in
      var (start, end) = (0, bytes.byteCount)
      while start < end, bytes.isBlank(at: start) { start += 1 }
      while end > start, bytes.isBlank(at: end - 1) { end -= 1 }
      return SecretBytes(copying: bytes.extracting(start..<end))
    }
  }
}

extension RawSpan {
  /// Whether the bytes begin with a byte order mark of UTF-16, or are ASCII with a zero beside each character.
  fileprivate var isUTF16: Bool {
    guard byteCount >= 2, byteCount % 2 == 0 else { return false }
    let first = (byte(at: 0), byte(at: 1))
    if first == (0xFF, 0xFE) || first == (0xFE, 0xFF) { return true }
    guard first.0 == 0 || first.1 == 0 else { return false }
    let zero = first.0 == 0 ? 0 : 1
    return stride(from: 0, to: byteCount, by: 2).allSatisfy {
      byte(at: $0 + zero) == 0 && byte(at: $0 + 1 - zero) != 0
    }
  }

  /// Where the text begins: after the byte order mark of UTF-8, if it has one.
  fileprivate var startAfterMark: Int {
    byteCount >= 3 && byte(at: 0) == 0xEF && byte(at: 1) == 0xBB && byte(at: 2) == 0xBF ? 3 : 0
  }

  fileprivate var endBeforeLineEnd: Int {
    guard byteCount > 0 else { return 0 }
    switch byte(at: byteCount - 1) {
    case 0x0A: return byteCount > 1 && byte(at: byteCount - 2) == 0x0D ? byteCount - 2 : byteCount - 1
    case 0x0D: return byteCount - 1
    default: return byteCount
    }
  }

  /// Whether a byte is a space, a tab, or of an end of line.
  func isBlank(at offset: Int) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte(at: offset)) }
}
