import Glibc
import VaultKit

/// Descriptions of keys that are text.
extension MaskableKey {
  // MARK: One byte a character

  /// One of the ``texts``.
  @Sendable static func savingOfText(_ bytes: RawSpan) -> Double {
    texts.reduce(0) { max($0, $1.saving(bytes)) } - log2(Double(texts.count))
  }

  /// ASCII text of any kind, alone or filled up: with NUL, a newline, ESC, the padding of a cipher.
  ///
  /// 19 bytes may be the filler, and 1/95 + 1/95² + … = 1/94, so the chance is (95/256)^n · (1 + 19/94) at most.
  @Sendable static func savingOfPrintable(_ bytes: RawSpan) -> Double {
    let fill = bytes.byte(at: bytes.byteCount - 1)
    var end = bytes.byteCount
    if fill <= 0x10 || fill == 0x1B || fill == 0xFF {
      while end > 0, bytes.byte(at: end - 1) == fill { end -= 1 }
    }
    guard (0..<end).allSatisfy({ 0x20...0x7E ~= bytes.byte(at: $0) }) else { return 0 }
    return Double(bytes.byteCount) * log2(256 / 95) - log2(1 + 19 / 94)
  }

  /// Letters of EBCDIC, or Cyrillic ones (and such of Greek and Hebrew) in ISO 8859, KOI8, and the code pages 1251 and 866.
  @Sendable static func savingOfLetters(_ bytes: RawSpan) -> Double {
    alphabets.reduce(0) { max($0, $1.saving(bytes)) } - log2(Double(alphabets.count))
  }

  private static let alphabets: [ByteTable] = [
    letters(
      [0x81...0x89, 0x91...0x99, 0xA2...0xA9],
      [0xC1...0xC9, 0xD1...0xD9, 0xE2...0xE9, 0xF0...0xF9, 0x40...0x40]),
    letters([0xD0...0xEF], [0xB0...0xCF, 0x20...0x20]),
    letters([0xE0...0xFF], [0xC0...0xDF, 0x20...0x20]),
    letters([0xC0...0xDF], [0xE0...0xFF, 0x20...0x20]),
    letters([0xA0...0xAF, 0xE0...0xEF], [0x80...0x9F, 0x20...0x20]),
  ]

  /// Mostly small letters; capitals, digits and the blank; and one in 20 is any byte.
  private static func letters(
    _ small: [ClosedRange<UInt8>], _ others: [ClosedRange<UInt8>]
  ) -> ByteTable {
    ByteTable([(small, 0.65), (others, 0.3), ([0...0xFF], 0.05)])
  }

  /// What a description of bytes saves with each byte.
  private struct ByteTable {
    private let saved: [Double]

    /// - Parameter kinds: How many of the bytes are in these ranges, and there equally likely. The shares come to 1.
    init(_ kinds: [(ranges: [ClosedRange<UInt8>], share: Double)]) {
      saved = (UInt8(0)...255).map { byte in
        log2(
          kinds.reduce(0) { sum, kind in
            let size = kind.ranges.reduce(0) { $0 + $1.count }
            return sum + (kind.ranges.contains { $0 ~= byte } ? 256 * kind.share / Double(size) : 0)
          })
      }
    }

    subscript(byte: UInt8) -> Double { saved[Int(byte)] }

    /// How many bits the description is shorter than the key.
    func saving(_ bytes: RawSpan) -> Double {
      (0..<bytes.byteCount).reduce(0) { $0 + self[bytes.byte(at: $1)] }
    }
  }

  /// A description of text: of common, of other and of rare small letters, capital letters, digits, blanks, other signs, control characters,
  /// and bytes from 0x80 on, in hundredths of a percent.
  private static func text(_ shares: Double...) -> ByteTable {
    func ranges(_ letters: String) -> [ClosedRange<UInt8>] { letters.utf8.map { $0...$0 } }
    let kinds: [[ClosedRange<UInt8>]] = [
      ranges("enirtsa"), ranges("hdulocgm"), ranges("bfjkpqvwxyz"), [0x41...0x5A], [0x30...0x39],
      [0x20...0x20],
      [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E], [0x00...0x1F, 0x7F...0x7F], [0x80...0xFF],
    ]
    return ByteTable(zip(kinds, shares).map { ($0, $1 / 10_000) })
  }

  /// Words of European languages, also in Latin-1; capitals; digits and codes; base64 and base32.
  private static let texts = [
    text(3600, 2200, 800, 700, 600, 900, 400, 100, 700),
    text(300, 200, 100, 6900, 1200, 500, 500, 100, 200),
    text(700, 700, 200, 1400, 5800, 200, 600, 200, 200),
    text(1070, 1220, 1690, 3970, 1520, 10, 500, 10, 10),
    text(10, 10, 10, 8000, 1900, 10, 40, 10, 10),
  ]

  // MARK: Several bytes a character

  /// UTF-8 of any script, perhaps cut in a character at both ends: with mostly one, two or three bytes a character.
  @Sendable static func savingOfUTF8(_ bytes: RawSpan) -> Double {
    [
      [0.85, 0.12, 0.02, 0.01], [0.45, 0.30, 0.22, 0.03], [0.10, 0.85, 0.04, 0.01],
      [0.10, 0.10, 0.78, 0.02],
    ].reduce(0) { max($0, utf8(bytes, shares: $1)) } - 2
  }

  /// - Parameter shares: Of characters with one to four bytes.
  private static func utf8(_ bytes: RawSpan, shares: [Double]) -> Double {
    var (saved, index, script) = (0.0, 0, UInt8(0))
    while index < bytes.byteCount, index < 3, 0x80...0xBF ~= bytes.byte(at: index) { index += 1 }
    while index < bytes.byteCount {
      let first = bytes.byte(at: index)
      index += 1
      guard first >= 0x80 else {
        saved += log2(shares[0] / 0.93) + texts[0][first]
        continue
      }
      // How many first bytes announce so many.
      let (length, count) =
        switch first {
        case 0xC2...0xDF: (2, 30.0)
        case 0xE0...0xEF: (3, 16.0)
        case 0xF0...0xF4: (4, 5.0)
        default: (0, 0)
        }
      guard length > 0 else { return 0 }
      // Two neighbors have the letters of one script.
      let isNear = first == script || first == script ^ 1
      saved += log2(256 * shares[length - 1] * ((isNear ? 0.35 : 0) + 0.3 / count))
      script = first
      for _ in 1..<length where index < bytes.byteCount {
        guard 0x80...0xBF ~= bytes.byte(at: index) else { return 0 }
        saved += 2
        index += 1
      }
    }
    return saved
  }

  /// UTF-16: every other byte names the script.
  @Sendable static func savingOfUTF16(_ bytes: RawSpan) -> Double {
    [0, 1].reduce(0) { best, start in
      var (saved, script) = (-1.0, UInt8(0))
      for index in stride(from: start, to: bytes.byteCount, by: 2) {
        let byte = bytes.byte(at: index)
        saved += log2((byte == script ? 256 * 0.6 : 0) + (byte == 0 ? 256 * 0.2 : 0) + 0.2)
        script = byte
      }
      return max(best, saved)
    }
  }

  /// Text of two bytes a character, where the first byte has few values: Shift-JIS, GBK, Big5, and UTF-16 of Japanese, Chinese and Korean.
  @Sendable static func savingOfPairs(_ bytes: RawSpan) -> Double {
    pairs.reduce(0) { max($0, $1.saving(bytes, from: 0), $1.saving(bytes, from: 1)) }
      - log2(2 * Double(pairs.count))
  }

  /// A description of text with two bytes a character.
  private struct Pairs {
    let first: ByteTable
    let second: ByteTable

    init(_ first: [(ranges: [ClosedRange<UInt8>], share: Double)], _ second: [ClosedRange<UInt8>]) {
      self.first = ByteTable(first + [([0...0xFF], 0.05)])
      self.second = ByteTable([(second, 0.98), ([0...0xFF], 0.02)])
    }

    func saving(_ bytes: RawSpan, from start: Int) -> Double {
      (start..<bytes.byteCount).reduce(0) { saved, index in
        saved + (index % 2 == start ? first : second)[bytes.byte(at: index)]
      }
    }
  }

  private static let pairs = [
    Pairs([([0x82...0x83], 0.45), ([0x88...0x9F], 0.5)], [0x40...0x7E, 0x80...0xFC]),
    Pairs([([0xB0...0xF7], 0.95)], [0xA1...0xFE]),
    Pairs([([0xA4...0xC6], 0.95)], [0x40...0x7E, 0xA1...0xFE]),
    Pairs([([0x30...0x30], 0.45), ([0x4E...0x9F], 0.5)], [0...0xFF]),
    Pairs([([0x4E...0x9F], 0.95)], [0...0xFF]),
    Pairs([([0xAC...0xD7], 0.75), ([0...0], 0.2)], [0...0xFF]),
  ]
}
