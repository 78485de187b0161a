package import SecretMemory

/// The limits of an entry's content. A writer keeps them; a reader takes any record.
package enum EntryLimits {
  package static let fieldCount = 64
  package static let addressCount = 64
  /// The longest value of a field, in bytes.
  package static let valueByteCount = 64 << 10
  package static let addressByteCount = 4096
  package static let fieldNameByteCount = 255
  /// The longest record, in bytes.
  package static let contentByteCount = 256 << 10

  /// Checks that the name of a field is 1 to 255 bytes whose characters all show, without `=`: `--field NAME=VALUE` ends it there.
  package static func check(fieldName name: String) throws(VaultError) {
    let shown = VisibleText.escaped(String(name.prefix(40)))
    guard 1...fieldNameByteCount ~= name.utf8.count else {
      throw VaultError(
        .malformed,
        name.isEmpty
          ? "the name of a field is empty" : "the name of the field \"\(shown)…\" has more than 255 bytes",
        hint: "give a name of 1 to 255 bytes")
    }
    if let flaw = VisibleText.flaw(inName: name) {
      throw VaultError(
        .malformed, "the name of the field \"\(shown)\" \(flaw)", hint: "leave out what does not show")
    }
    guard !name.utf8.contains(UInt8(ascii: "=")) else {
      throw VaultError(
        .malformed, "the name of the field \"\(shown)\" has an equals sign", hint: "give a name without =")
    }
  }

  /// - Parameter what: What the text is, as errors call it.
  package static func check(
    text: borrowing SecretBytes, of what: String, atMost byteCount: Int
  ) throws(VaultError) {
    guard text.byteCount <= byteCount else {
      throw VaultError(.malformed, "\(what) has more than \(byteCount >> 10) KiB", hint: "make it shorter")
    }
    guard text.isUTF8 else {
      throw VaultError(
        .malformed, "\(what) is not text in UTF-8", hint: "store it as a file elsewhere, or encode it")
    }
  }

  static var tooManyFields: VaultError {
    VaultError(
      .malformed, "an entry has at most \(fieldCount) fields", hint: "make a second entry for the rest")
  }

  static var tooLong: VaultError {
    VaultError(
      .malformed,
      "notes, fields and addresses of an entry have at most \(contentByteCount >> 10) KiB together",
      hint: "make a second entry for the rest")
  }
}

extension SecretBytes {
  /// Whether the bytes are UTF-8 (RFC 3629).
  fileprivate var isUTF8: Bool {
    exposeElements { bytes in (try? UTF8Span(validating: bytes)) != nil }
  }

  /// Whether there is a byte below U+0020, or U+007F.
  var hasControlCharacter: Bool {
    exposeElements { bytes in
      for index in bytes.indices where bytes[index] < 0x20 || bytes[index] == 0x7F { return true }
      return false
    }
  }
}
