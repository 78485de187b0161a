import Glibc
import OneTimePassword
import SecretMemory
import VaultKit

/// Which keys may be behind a camouflaged PIN: only those that look random, because only then does the right PIN look like every
/// other one. A key that is text, digits or a pattern tells which mask was taken off rightly.
///
/// A key is measured by how many bits some description of it is shorter than the key. A description that was fixed before
/// saves k bits with at most one in 2^k of the random keys, so the limits bound how many of those are refused: with 20 bytes, fewer
/// than three in 100 million.
package enum MaskableKey {
  /// The fewest bytes: of a shorter key, too many random ones look like something else.
  static let fewestBytes = 10

  /// - Throws: ``VaultError/Code/policy`` for a key that is not random enough.
  static func refuse(_ key: borrowing SecretBytes) throws(VaultError) {
    guard key.byteCount >= fewestBytes else {
      throw VaultError(
        .policy, "a key of fewer than \(fewestBytes) bytes cannot be behind a camouflaged PIN",
        hint: "have the server make a random key of 20 bytes, or use a checked PIN")
    }
    guard key.expose(isRandom) else {
      throw VaultError(
        .policy,
        "a key that is text or has a pattern cannot be behind a camouflaged PIN: it would tell which PIN is right",
        hint: "have the server make a random key of 20 bytes, or use a checked PIN")
    }
  }

  /// Whether a key looks random.
  package static func isRandom(_ bytes: RawSpan) -> Bool {
    !hasForm(bytes) && texts.allSatisfy { $0.saving(bytes) < limit(28, bytes) }
      && max(utf8(bytes), utf16(bytes), fewBytes(bytes), constantBits(bytes)) < limit(32, bytes)
      && !hasPattern(bytes)
  }

  /// The limit for a key: `bits` from 20 bytes on, and as many per byte for a shorter one, which is text sooner than it is chance.
  private static func limit(_ bits: Double, _ bytes: RawSpan) -> Double {
    bits * min(20, Double(bytes.byteCount)) / 20
  }

  // MARK: Forms that are there or not

  private static func hasForm(_ bytes: RawSpan) -> Bool {
    isUUID(bytes) || isPackedDecimal(bytes) || hasParity(bytes) || isTextWithFill(bytes)
  }

  /// The version and the variant of a UUID (RFC 9562 §4): one in eight of the random keys with 16 bytes has them too.
  private static func isUUID(_ bytes: RawSpan) -> Bool {
    bytes.byteCount == 16 && 1...8 ~= bytes.byte(at: 6) >> 4 && bytes.byte(at: 8) >> 6 == 2
  }

  /// Two decimal digits in each byte, with a filler at the end where their number is odd.
  private static func isPackedDecimal(_ bytes: RawSpan) -> Bool {
    (0..<bytes.byteCount).allSatisfy { index in
      let (high, low) = (bytes.byte(at: index) >> 4, bytes.byte(at: index) & 15)
      return high < 10 && (low < 10 || low == 15 && index == bytes.byteCount - 1)
    }
  }

  /// The odd parity of each byte in keys of DES.
  private static func hasParity(_ bytes: RawSpan) -> Bool {
    [16, 24].contains(bytes.byteCount)
      && (0..<bytes.byteCount).allSatisfy { bytes.byte(at: $0).nonzeroBitCount % 2 == 1 }
  }

  /// ASCII text of any kind, alone or filled up: with NUL, a newline, ESC, the padding of a cipher.
  private static func isTextWithFill(_ bytes: RawSpan) -> Bool {
    let fill = bytes.byte(at: bytes.byteCount - 1)
    var end = bytes.byteCount
    if fill <= 0x10 || fill == 0x1B || fill == 0xFF {
      while end > 0, bytes.byte(at: end - 1) == fill { end -= 1 }
    }
    return (0..<end).allSatisfy { 0x20...0x7E ~= bytes.byte(at: $0) }
  }

  // MARK: Text

  /// A description of text: how likely each kind of byte is.
  private struct Text {
    /// Of common, of other and of rare small letters, capital letters, digits, blanks, other signs, control characters, and bytes
    /// from 0x80 on, in hundredths of a percent.
    let shares: [Double]

    /// How many bits the description is shorter than the key.
    func saving(_ bytes: RawSpan) -> Double {
      (0..<bytes.byteCount).reduce(0) { $0 + log2(256 * chance(of: bytes.byte(at: $1))) }
    }

    func chance(of byte: UInt8) -> Double {
      let kind = Text.kind(of: byte)
      return shares[kind] / 10_000 / Text.sizes[kind]
    }

    static let sizes: [Double] = [7, 8, 11, 26, 10, 1, 32, 33, 128]

    static func kind(of byte: UInt8) -> Int {
      switch byte {
      case 0x61...0x7A: "enirtsa".utf8.contains(byte) ? 0 : "hdulocgm".utf8.contains(byte) ? 1 : 2
      case 0x41...0x5A: 3
      case 0x30...0x39: 4
      case 0x20: 5
      case 0x21...0x7E: 6
      case 0x80...0xFF: 8
      default: 7
      }
    }
  }

  /// Words of European languages, also in Latin-1; capitals; digits and codes; base64 and base32.
  private static let texts = [
    Text(shares: [3600, 2200, 800, 700, 600, 900, 400, 100, 700]),
    Text(shares: [300, 200, 100, 6900, 1200, 500, 500, 100, 200]),
    Text(shares: [700, 700, 200, 1400, 5800, 200, 600, 200, 200]),
    Text(shares: [1070, 1220, 1690, 3970, 1520, 10, 500, 10, 10]),
    Text(shares: [10, 10, 10, 8000, 1900, 10, 40, 10, 10]),
  ]

  // MARK: Other descriptions

  /// UTF-8 of any script, perhaps cut in a character at both ends: with mostly one, two or three bytes a character.
  private static func utf8(_ bytes: RawSpan) -> Double {
    [
      [0.85, 0.12, 0.02, 0.01], [0.45, 0.30, 0.22, 0.03], [0.10, 0.85, 0.04, 0.01],
      [0.10, 0.10, 0.78, 0.02],
    ].reduce(0) { max($0, utf8(bytes, shares: $1)) }
  }

  /// - Parameter shares: Of characters with one to four bytes.
  private static func utf8(_ bytes: RawSpan, shares: [Double]) -> Double {
    var (saved, index, script) = (0.0, 0, UInt8(0))
    while index < bytes.byteCount, index < 3, 0x80...0xBF ~= bytes.byte(at: index) { index += 1 }
    while index < bytes.byteCount {
      let first = bytes.byte(at: index)
      index += 1
      guard first >= 0x80 else {
        saved += log2(256 * shares[0] * texts[0].chance(of: first) / 0.93)
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

  /// UTF-16: every other byte names the script. Ideographs do not show.
  private static func utf16(_ bytes: RawSpan) -> Double {
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

  /// Few different bytes.
  private static func fewBytes(_ bytes: RawSpan) -> Double {
    (0..<bytes.byteCount).reduce(0) { saved, index in
      let earlier = (0..<index).count { bytes.byte(at: $0) == bytes.byte(at: index) }
      return saved + log2((earlier > 0 ? 256 * Double(earlier) : 1) / Double(index + 1))
    }
  }

  /// Two bits or more that are the same in every byte.
  private static func constantBits(_ bytes: RawSpan) -> Double {
    var changing: UInt8 = 0
    for index in 1..<bytes.byteCount { changing |= bytes.byte(at: index) ^ bytes.byte(at: 0) }
    let constant = 8 - changing.nonzeroBitCount
    guard constant >= 2 else { return 0 }
    let sets = [28.0, 56, 70, 56, 28, 8, 1][constant - 2]
    return Double(constant * (bytes.byteCount - 1)) - log2(sets)
  }

  /// Each byte follows from earlier ones: it repeats the one some bytes before, or goes on by the step of there.
  private static func hasPattern(_ bytes: RawSpan) -> Bool {
    let (count, hit, miss) = (bytes.byteCount, log2(0.875 * 256), log2(0.125))
    let limit = limit(32, bytes) + log2(Double(2 * count))
    return (1..<count).contains { distance in
      let copied = (distance..<count).reduce(0) { sum, index in
        sum + (bytes.byte(at: index) == bytes.byte(at: index - distance) ? hit : miss)
      }
      guard copied < limit else { return true }
      guard 2 * distance < count else { return false }
      let stepped = (2 * distance..<count).reduce(0) { sum, index in
        let (last, before) = (bytes.byte(at: index - distance), bytes.byte(at: index - 2 * distance))
        return sum + (bytes.byte(at: index) == last &+ (last &- before) ? hit : miss)
      }
      return stepped >= limit
    }
  }
}

extension Attributes {
  /// Refuses a credential that must not be behind a camouflaged PIN.
  ///
  /// - Parameter key: Its key, without a mask.
  /// - Throws: ``VaultError/Code/policy``.
  func refuseMasking(_ key: borrowing SecretBytes) throws(VaultError) {
    if let text = self[.ocraSuite], let suite = try? OCRASuite(text), suite.pinHash != nil {
      throw VaultError(
        .policy,
        "a suite with a PIN of its own cannot be behind a camouflaged PIN: one mistaken for the other gives it away",
        hint: "use a checked PIN, or a suite without P")
    }
    try MaskableKey.refuse(key)
  }
}
