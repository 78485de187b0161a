package import CommandLineKit
package import SecretMemory
package import VaultKit
import VaultWords

/// A text in which `{{ vaultctl://NAME/FIELD }}` stands for a value of the vault. It is read once, from the beginning to the end.
///
/// What stands in double braces and does not name `vaultctl:` belongs to another program, and stays. A reference stands alone in its
/// braces, on one line, with or without blanks around it; what is meant as one and is none is an error. Inserted values are not read
/// again, and are not escaped for what the text is.
package struct Template {
  /// A part of the result, in its order.
  package enum Piece {
    /// Bytes of the text, by their offsets.
    case text(Range<Int>)
    /// The value of a reference, by its index.
    case value(Int)
  }

  /// The most bytes of a text.
  static let longest = 16 << 20

  package private(set) var pieces: [Piece] = []
  /// Each reference once, in the order of the text.
  package private(set) var references: [VaultReference] = []
  /// Where each of them is first.
  private var offsets: [Int] = []
  private var known: [VaultReference: Int] = [:]
  private let text: SharedSecret

  /// - Throws: Exit 12, with the line and the column.
  package init(_ text: SharedSecret) throws(CommandError) {
    self.text = text
    do throws(Flaw) {
      try text.bytes.exposeElements { bytes throws(Flaw) in
        var reader = TemplateReader(bytes.count)
        while let found = try reader.next(in: bytes) {
          pieces.append(.text(found.before))
          if let reference = found.reference { insert(reference, at: found.before.upperBound) }
        }
      }
    } catch { throw error.error.located(at: place(of: error.offset)) }
  }

  /// What an error calls the place of a reference.
  package func place(ofReference index: Int) -> String { place(of: offsets[index]) }

  private mutating func insert(_ reference: VaultReference, at offset: Int) {
    if let index = known[reference] {
      pieces.append(.value(index))
      return
    }
    known[reference] = references.count
    pieces.append(.value(references.count))
    references.append(reference)
    offsets.append(offset)
  }

  /// The line, and the character in it.
  private func place(of offset: Int) -> String {
    text.bytes.exposeElements { bytes in
      var (line, column) = (1, 1)
      for index in 0..<offset {
        if bytes[index] == UInt8(ascii: "\n") {
          (line, column) = (line + 1, 1)
        } else if bytes[index] & 0xC0 != 0x80 {
          column += 1
        }
      }
      return "line \(line), column \(column) of the template"
    }
  }

  /// Why a text is no template, and where.
  fileprivate struct Flaw: Error {
    let error: CommandError
    let offset: Int

    init(_ error: CommandError, at offset: Int) { (self.error, self.offset) = (error, offset) }

    init(_ message: String, at offset: Int) {
      self.init(.malformed(message, hint: "write {{ vaultctl://NAME/FIELD }} on one line"), at: offset)
    }
  }
}

/// Finds the references of a text, one after the other. Looks at no byte more than a few times.
private struct TemplateReader {
  /// Text, and the reference behind it, if there is one.
  struct Found {
    let before: Range<Int>
    let reference: VaultReference?
  }

  private let count: Int
  private var index = 0
  /// Where braces of another program are open on this line.
  private var foreign: Int?
  private var hasEnded = false

  init(_ count: Int) { self.count = count }

  /// - Returns: `nil` after the end of the text.
  mutating func next(in text: Span<UInt8>) throws(Template.Flaw) -> Found? {
    guard !hasEnded else { return nil }
    let start = index
    while index < count {
      switch text[index] {
      case UInt8(ascii: "\n"): foreign = nil
      case UInt8(ascii: "{") where isDouble(at: index, in: text):
        let inner = firstVisible(from: index + 2, in: text)
        if isMeant(at: inner, in: text) { return try reference(after: start, from: inner, in: text) }
        foreign = foreign ?? index
      case UInt8(ascii: "}") where isDouble(at: index, in: text):
        foreign = nil
        index += 1
      case UInt8(ascii: "v"), UInt8(ascii: "V"):
        if foreign != nil, isMeant(at: index, in: text) {
          throw Template.Flaw("the reference does not stand alone in its braces", at: index)
        }
      default: break
      }
      index += 1
    }
    hasEnded = true
    return Found(before: start..<count, reference: nil)
  }

  /// Reads a reference whose braces begin at `index`, and goes behind them.
  private mutating func reference(
    after start: Int, from inner: Int, in text: Span<UInt8>
  ) throws(Template.Flaw) -> Found {
    let braces = index
    guard foreign == nil else { throw Template.Flaw("the braces are in other braces", at: braces) }
    guard !(braces..<inner).contains(where: { text[$0] == UInt8(ascii: "\n") }) else {
      throw Template.Flaw("the braces and the reference are not on one line", at: braces)
    }
    var close = inner
    while close < count, text[close] != UInt8(ascii: "\n"), !isDouble(at: close, in: text) { close += 1 }
    guard close < count, text[close] == UInt8(ascii: "}") else {
      guard close < count, text[close] == UInt8(ascii: "{") else {
        throw Template.Flaw("the braces are not closed", at: braces)
      }
      throw Template.Flaw("there are braces in the braces", at: close)
    }
    var end = close
    while end > inner, Self.isBlank(text[end - 1]) { end -= 1 }
    let bytes = (inner..<end).map { text[$0] }
    guard let typed = String(validating: bytes, as: UTF8.self) else {
      throw Template.Flaw("the reference is not UTF-8", at: inner)
    }
    index = close + 2
    do throws(VaultError) {
      return Found(before: start..<braces, reference: try VaultReference(typed))
    } catch { throw Template.Flaw(CommandError(error), at: inner) }
  }

  private func isDouble(at index: Int, in text: Span<UInt8>) -> Bool {
    let byte = text[index]
    guard byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") else { return false }
    return index + 1 < count && text[index + 1] == byte
  }

  private func firstVisible(from start: Int, in text: Span<UInt8>) -> Int {
    var index = start
    while index < count, Self.isBlank(text[index]) || text[index] == UInt8(ascii: "\n") { index += 1 }
    return index
  }

  private func isMeant(at start: Int, in text: Span<UInt8>) -> Bool {
    let length = VaultReference.scheme.utf8.count
    guard start + length <= count, text[start] | 0x20 == UInt8(ascii: "v") else { return false }
    return VaultReference.isMeant(
      by: String(decoding: (start..<start + length).map { text[$0] }, as: UTF8.self))
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}
