import Foundation
import SecretMemory
import TestSupport
import Testing
import TextPreparation

/// What a secret has, for a comparison.
private func bytes(_ secret: borrowing SecretBytes) -> [UInt8] {
  secret.expose { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
}

private func opaque(_ text: [UInt8]) throws -> [UInt8]? {
  guard let prepared = try TextPreparation.opaque(SecretBytes(copying: text)) else { return nil }
  return bytes(prepared)
}

@Suite("Unicode forms", .bounded)
struct TextPreparationTests {
  private static let vectors = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .appending(path: "Vectors/normalization")

  private static func text(_ numbers: Substring) -> String {
    let scalars = numbers.split(separator: " ").compactMap {
      UInt32($0, radix: 16).flatMap(Unicode.Scalar.init)
    }
    return String(String.UnicodeScalarView(scalars))
  }

  /// Verified to fail when marks are not sorted, when a mark between two characters lets them compose, and when Hangul is
  /// not composed.
  @Test("every vector gets its form C, and form C stays as it is")
  func vectors() throws {
    let files = try FileManager.default.contentsOfDirectory(at: Self.vectors, includingPropertiesForKeys: nil)
    var count = 0
    for file in files {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      where !line.hasPrefix("#") {
        let columns = line.split(separator: ";").map(Self.text)
        let found = try TextPreparation.normalized(columns[0])
        #expect(found.utf8.elementsEqual(columns[1].utf8), "\(line)")
        let again = try TextPreparation.normalized(columns[1])
        #expect(again.utf8.elementsEqual(columns[1].utf8), "\(line): not stable")
        count += 1
      }
    }
    #expect(count > 3000)
  }

  /// Verified to fail when spaces are not mapped, and when a text that is no UTF-8 loses a byte.
  @Test("a typed secret gets spaces of ASCII and form C; what is prepared, or no UTF-8, stays as it is")
  func opaqueStrings() throws {
    for (given, wanted) in [
      ("cafe\u{301}", "caf\u{E9}"), ("a\u{A0}b", "a b"), ("a\u{3000}\u{1680}b", "a  b"), ("\u{2000}x", " x"),
      ("\u{212B}", "\u{C5}"), ("\u{1100}\u{1161}\u{11A8}", "\u{AC01}"),
    ] { try expect(opaque(Array(given.utf8)), equals: Array(wanted.utf8)) }
    for same in ["plain ASCII", "caf\u{E9}", "\u{1F511}\u{200D}x", "\u{4E2D}\u{6587}", ""] {
      try expect(opaque(Array(same.utf8)), equals: nil)
    }
    let wide: [UInt8] = [0xE3, 0x80, 0x80]
    for foreign: [UInt8] in [
      wide + [0xE9], wide + [0xC0, 0x80], wide + [0xED, 0xA0, 0x80], wide + [0xF4, 0x90, 0x80, 0x80],
      wide + [0xE2, 0x82], wide + [0x80], wide + [0xFF], wide + [0xF8, 0x88, 0x80, 0x80, 0x80],
    ] { try expect(opaque(foreign), equals: nil) }
  }

  private func fault(_ text: [UInt8]) -> TypedSecret.Fault? {
    do throws(TypedSecret.Fault) {
      _ = try TypedSecret(SecretBytes(copying: text))
      return nil
    } catch { return error }
  }

  /// Verified to fail for each rule that `formFault` leaves out.
  @Test("what no keyboard gives as a secret is refused by its reason")
  func faults() {
    for (text, wanted) in [
      ("", .empty), (String(repeating: "x", count: 1025), .tooLong), ("a\0", .containsNUL),
      ("a\n", .severalLines),
      ("a\rb", .severalLines), ("a ", .blankAtEnd), ("a\u{A0}", .blankAtEnd), ("\ta", .blankAtStart),
      ("\u{FEFF}a", .markAtStart), ("a\u{2028}", .severalLines), ("a\u{2029}b", .severalLines),

      ("a\u{1B}[A", .control), ("a\u{85}b", .control), ("a\u{7F}", .control),
    ] as [(String, TypedSecret.Fault)] { expect(fault(Array(text.utf8)), equals: wanted) }
    for good in ["x", "a b", "caf\u{E9}", "\u{1F511}", String(repeating: "x", count: 1024)] {
      expect(fault(Array(good.utf8)), equals: nil)
    }
    // No text: C1 is a letter of another code page.
    expect(fault([0x61, 0xE9, 0x85]), equals: nil)
  }

  @Test("both forms of a secret are there, and one if it was prepared")
  func forms() throws {
    let typed = try TypedSecret(SecretBytes(copying: Array("e\u{301}".utf8)))
    expect(typed.wasPrepared, equals: true)
    expect(bytes(typed.prepared.bytes), equals: Array("\u{E9}".utf8))
    expect(bytes(typed.given.bytes), equals: Array("e\u{301}".utf8))
    let prepared = try TypedSecret(SecretBytes(copying: Array("\u{E9}".utf8)))
    expect(prepared.wasPrepared, equals: false)
  }
}

@Suite("Lines and codes", .bounded)
struct TextLineTests {
  private func line(
    _ text: [UInt8], _ read: (consuming SecretBytes) throws(TextLine.Fault) -> SecretBytes
  ) -> [UInt8]? {
    do throws(TextLine.Fault) { return bytes(try read(SecretBytes(copying: text))) } catch { return nil }
  }

  /// Verified to fail when CR LF loses LF alone, when CR is no end of line, and when the mark stays.
  @Test("a line loses a byte order mark and one end of line, and nothing else")
  func whole() {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    for end in ["", "\n", "\r\n", "\r"] {
      let text = mark + Array(("a b" + end).utf8)
      expect(line(text) { b throws(TextLine.Fault) in try TextLine.whole(b) }, equals: Array("a b".utf8))
    }
    for (text, wanted) in [("a\n\n", "a\n"), (" a \n", " a "), ("\n", ""), ("", ""), ("a\u{85}", "a\u{85}")] {
      let found = line(Array(text.utf8)) { b throws(TextLine.Fault) in try TextLine.whole(b) }
      expect(found, equals: Array(wanted.utf8))
    }
    let trimmed = line(mark + Array("\t a b \r\n\n".utf8)) { b throws(TextLine.Fault) in
      try TextLine.trimmed(b)
    }
    expect(trimmed, equals: Array("a b".utf8))
  }

  /// Verified to fail when only the mark tells.
  @Test("UTF-16 is told, with a mark and without one")
  func utf16() {
    for text: [UInt8] in [
      [0xFF, 0xFE, 0x61, 0], [0xFE, 0xFF, 0, 0x61], [0x61, 0, 0x62, 0], [0, 0x61, 0, 0x62],
    ] {
      expect(line(text) { b throws(TextLine.Fault) in try TextLine.unmarked(b) }, equals: nil)
    }
    for text: [UInt8] in [[0x61, 0, 0x62], [0x61, 0, 0, 0], [0xFF], [0xE9, 0xE8]] {
      expect(line(text) { b throws(TextLine.Fault) in try TextLine.unmarked(b) }, equals: text)
    }
  }

  /// Verified to fail when one kind of separator stays, and when bytes after a broken character are dropped.
  @Test("a code loses blanks and dashes of all kinds; wide digits are digits; all else stays")
  func codes() {
    let separators =
      "\u{20}\t\u{A0}\u{202F}\u{2009}\u{3000}\u{200B}\u{FEFF}-\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}\r\n"
      + "\u{200E}\u{202A}\u{202C}\u{2069}\u{200D}\u{30FC}\u{301C}\u{FF0D}\u{FE31}\u{10EAD}\u{1680}"
    for separator in separators.unicodeScalars {
      expect(TypedCode.characters(of: "123\(separator)456\(separator)"), equals: "123456")
    }
    expect(TypedCode.characters(of: "\u{FF11}\u{FF12}\u{FF21}"), equals: "12A")
    expect(TypedCode.characters(of: "1.2_\u{E9}"), equals: "1.2_\u{E9}")
    for (typed, code) in [
      ("123 456", "123456"), ("\u{FF11}\u{30FC}2", "12"), ("AB-12", "AB-12"), ("12 34x", "12 34x"), ("", ""),
      ("-", "-"),
    ] {
      expect(bytes(TypedCode.ungrouped(SecretBytes(copying: Array(typed.utf8)))), equals: Array(code.utf8))
    }
    let broken: [UInt8] = [0x31, 0x20, 0xFF, 0x20, 0x32]
    expect(bytes(TypedCode.characters(of: SecretBytes(copying: broken))), equals: [0x31, 0xFF, 0x20, 0x32])
  }
}
