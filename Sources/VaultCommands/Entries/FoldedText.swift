import SecretMemory
import TextPreparation
import VaultKit

/// A text that is looked for in others, whatever the case of the letters is.
///
/// Both are compared in form C of Unicode, letter by letter in lower case. An accent is a part of its letter: `e` does not find `é`.
struct FoldedText: Sendable {
  private let characters: [UInt32]

  /// - Throws: ``VaultError/Code/unsupported`` if libunistring is missing and the text needs it.
  init(_ text: String) throws(VaultError) {
    let normal: String
    do throws(TextPreparationError) { normal = try TextPreparation.normalized(text) } catch {
      throw VaultError(error, in: "the text")
    }
    characters = normal.unicodeScalars.map { Self.lower($0.value) }
  }

  /// Whether it is in a text that is not secret.
  func isIn(_ text: String) -> Bool {
    let normal = text.utf8.allSatisfy { $0 < 0x80 } ? text : (try? TextPreparation.normalized(text)) ?? text
    let span = normal.utf8Span
    return isIn(unsafe span.span.bytes)
  }

  /// Whether a text that is not secret begins with it.
  func begins(_ text: String) -> Bool {
    let normal = (try? TextPreparation.normalized(text)) ?? text
    let span = normal.utf8Span
    return begins(at: UTF8Characters(), in: unsafe span.span.bytes)
  }

  /// Whether it is in a text that may be secret. Bytes that are not UTF-8 end the text.
  func isIn(_ text: borrowing SecretBytes) -> Bool {
    if let normal = try? TextPreparation.normalized(text) { return normal.expose { isIn($0) } }
    return text.expose { isIn($0) }
  }

  private func isIn(_ bytes: RawSpan) -> Bool {
    guard let first = characters.first else { return true }
    var reader = UTF8Characters()
    while true {
      let start = reader
      guard let character = reader.next(in: bytes) else { return false }
      if Self.lower(character) == first, begins(at: start, in: bytes) { return true }
    }
  }

  private func begins(at start: UTF8Characters, in bytes: RawSpan) -> Bool {
    var reader = start
    for character in characters {
      guard let next = reader.next(in: bytes), Self.lower(next) == character else { return false }
    }
    return true
  }

  /// The lower case of a character, where that is one character.
  private static func lower(_ character: UInt32) -> UInt32 {
    if character < 0x80 { return 0x41...0x5A ~= character ? character + 0x20 : character }
    guard let scalar = Unicode.Scalar(character) else { return character }
    let lower = scalar.properties.lowercaseMapping.unicodeScalars
    return lower.count == 1 ? lower.first!.value : character
  }
}
