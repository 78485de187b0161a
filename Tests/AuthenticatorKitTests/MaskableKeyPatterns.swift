import Foundation
import TestSupport
import Testing
import VaultTestKit

/// Keys of a kind that is not random, by its name.
struct Patterns: Sendable, CustomTestStringConvertible {
  let name: String
  /// From how many bytes on it shows.
  var fewest = 10
  /// At least so many bytes; what is beyond them is cut.
  let make: @Sendable (Int, SeededRandom) -> [UInt8]
  var testDescription: String { name }

  static func bytes(_ count: Int, _ random: SeededRandom) -> [UInt8] {
    var key: [UInt8] = []
    while key.count < count {
      let number = random.next()
      key += (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    return Array(key.prefix(count))
  }

  /// With an odd or even number of ones in each byte.
  static func bytes(_ count: Int, _ random: SeededRandom, parity: Int) -> [UInt8] {
    bytes(count, random).map { $0.nonzeroBitCount % 2 == parity ? $0 : $0 ^ 1 }
  }

  static let all = texts + codes + numbers + values + containers + repetitions

  private static func words(_ random: SeededRandom) -> String {
    let words = [
      "Der", "Schlüssel", "größenwahn", "geheim", "secret", "correct", "horse", "clé", "mañana", "Straße",
      "naïveté",
      "battery", "passwort", "kennwort", "the", "fox", "Überraschung", "llave", "bank", "Anna",
    ]
    return (0..<24).map { _ in words[random.below(words.count)] }.joined(separator: " ")
  }

  private static func characters(_ alphabet: String) -> @Sendable (Int, SeededRandom) -> [UInt8] {
    let alphabet = Array(alphabet.utf8)
    return { count, random in (0..<count).map { _ in alphabet[random.below(alphabet.count)] } }
  }

  private static let hexadecimal = "0123456789abcdef"
  private static let base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
  private static let base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  private static let printable = String(decoding: (UInt8(0x20)...0x7E), as: UTF8.self)

  private static let texts: [Patterns] = [
    Patterns(name: "words with a NUL") { count, random in
      Array(words(random).utf8.filter { $0 < 0x80 }.prefix(count - 1)) + [0]
    },
    Patterns(name: "Latin-1", fewest: 20) { count, random in
      words(random).unicodeScalars.prefix(count).map { UInt8($0.value) }
    },
    Patterns(name: "UTF-8, cut", fewest: 16) { count, random in
      Array(words(random).utf8.dropFirst(random.below(4)).prefix(count))
    },
    Patterns(name: "UTF-16") { count, random in
      words(random).utf16.prefix((count + 1) / 2).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    },
    Patterns(name: "UTF-16 the other way round") { count, random in
      words(random).utf16.prefix((count + 1) / 2).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    },
    Patterns(name: "Cyrillic, cut", fewest: 12) { count, random in
      Array("ключ от сейфа и другие тайные слова хранятся".utf8.dropFirst(random.below(8)).prefix(count))
    },
    Patterns(name: "hexadecimal", make: characters(hexadecimal)),
    Patterns(name: "hexadecimal capitals", make: characters(hexadecimal.uppercased())),
    Patterns(name: "hexadecimal with a newline") { characters(hexadecimal)($0 - 1, $1) + [10] },
    Patterns(name: "base32", make: characters(base32)),
    Patterns(name: "base32 in small letters", make: characters(base32.lowercased())),
    Patterns(name: "base64", make: characters(base64)),
    Patterns(name: "base64 with a NUL") { characters(base64)($0 - 1, $1) + [0] },
    Patterns(name: "printable", make: characters(printable)),
    Patterns(name: "printable with ESC") { characters(printable)($0 - 1, $1) + [0x1B] },
    Patterns(name: "filled up with NUL") {
      characters(printable)($0 / 2, $1) + [UInt8](repeating: 0, count: $0)
    },
  ]

  private static let codes: [Patterns] = [
    Patterns(name: "KOI8-R") { _, random in
      cyrillic(random, letters: "юабцдефгхийклмнопярстужвьызшэщчъ", at: 0xC0)
    },
    Patterns(name: "code page 1251") { _, random in cyrillic(random, letters: alphabet, at: 0xE0) },
    Patterns(name: "ISO 8859-5") { _, random in cyrillic(random, letters: alphabet, at: 0xD0) },
    Patterns(name: "EBCDIC") { count, random in
      let letters = Array(0x81...0x89) + Array(0x91...0x99) + Array(0xA2...0xA9)
      return (0..<count).map { _ in random.below(6) == 0 ? 0x40 : UInt8(letters[random.below(26)]) }
    },
    Patterns(name: "Shift-JIS") { count, random in
      // A kana and a kanji in turn.
      pairs(count) {
        [
          0x82, UInt8(0x9F + random.below(83)), UInt8(0x88 + random.below(24)),
          UInt8(0x80 + random.below(0x7D)),
        ]
      }
    },
    Patterns(name: "GBK") { count, random in
      pairs(count) { [UInt8(0xB0 + random.below(40)), UInt8(0xA1 + random.below(94))] }
    },
    Patterns(name: "Big5", fewest: 12) { count, random in
      pairs(count) { [UInt8(0xA4 + random.below(35)), UInt8(0xA1 + random.below(94))] }
    },
    Patterns(name: "Chinese in UTF-16", fewest: 64) { count, random in
      pairs(count) { [UInt8(0x4E + random.below(82)), UInt8(random.below(256))] }
    },
    Patterns(name: "Korean in UTF-16", fewest: 32) { count, random in
      pairs(count) { [UInt8(0xAC + random.below(44)), UInt8(random.below(256))] }
    },
  ]

  private static let alphabet = "абвгдежзийклмнопрстуфхцчшщъыьэюя"

  private static func cyrillic(_ random: SeededRandom, letters: String, at first: Int) -> [UInt8] {
    let words = ["ключ", "от", "сейфа", "и", "другие", "тайные", "слова", "хранятся", "секретный", "шифр"]
    let codes = Dictionary(uniqueKeysWithValues: letters.enumerated().map { ($1, UInt8(first + $0)) })
    return (0..<40).flatMap { _ in words[random.below(words.count)].map { codes[$0]! } + [0x20] }
  }

  private static func pairs(_ count: Int, _ make: () -> [UInt8]) -> [UInt8] {
    (0..<(count + 1) / 2).flatMap { _ in make() }
  }

  private static let numbers: [Patterns] = [
    Patterns(name: "digits", make: characters("0123456789")),
    Patterns(name: "packed digits") { count, random in
      (0..<count).map { _ in UInt8(random.below(10) << 4 | random.below(10)) }
    },
    Patterns(name: "packed digits with a filler") { count, random in
      (1..<count).map { _ in UInt8(random.below(10) << 4 | random.below(10)) }
        + [UInt8(random.below(10) << 4 | 15)]
    },
    Patterns(name: "unpacked digits") { count, random in (0..<count).map { _ in UInt8(random.below(10)) } },
    Patterns(name: "UUIDs in text") { _, random in (0..<2).flatMap { _ in uuid(random).uuidString.utf8 } },
    Patterns(name: "numbers of 32 bits", fewest: 20) { count, random in
      let start = UInt32(truncatingIfNeeded: random.next() >> 40)
      return (0..<UInt32(count)).flatMap { number in
        (0..<4).map { UInt8((start + number) >> (24 - 8 * $0) & 0xFF) }
      }
    },
  ]

  private static let values: [Patterns] = [
    Patterns(name: "bytes below 100") { count, random in (0..<count).map { _ in UInt8(random.below(100)) } },
    Patterns(name: "bytes from 161 on") { count, random in
      (0..<count).map { _ in UInt8(161 + random.below(95)) }
    },
    Patterns(name: "four values") { count, random in
      let values = bytes(4, random)
      return (0..<count).map { _ in values[random.below(4)] }
    },
    Patterns(name: "two bits that are the same", fewest: 12) { bytes($0, $1).map { $0 & ~0x12 } },
    Patterns(name: "a high bit of 0", fewest: 32) { bytes($0, $1).map { $0 & 0x7F } },
    Patterns(name: "a low bit of 1", fewest: 32) { bytes($0, $1).map { $0 | 1 } },
    Patterns(name: "a bit that is mostly 0", fewest: 64) { count, random in
      bytes(count, random).enumerated().map { $0 < 2 ? $1 : $1 & ~8 }
    },
    Patterns(name: "odd parity", fewest: 32) { bytes($0, $1, parity: 1) },
    Patterns(name: "even parity", fewest: 32) { bytes($0, $1, parity: 0) },
    Patterns(name: "rising bytes") { bytes($0, $1).sorted() },
    Patterns(name: "falling bytes") { bytes($0, $1).sorted(by: >) },
    Patterns(name: "small steps") { count, random in
      (0..<count).reduce(into: bytes(1, random)) { key, _ in
        key.append(key.last! &+ UInt8(random.below(9)) &- 4)
      }
    },
  ]

  private static let containers: [Patterns] = [
    Patterns(name: "four zero bytes at the end") { bytes($0 - 4, $1) + [0, 0, 0, 0] },
    Patterns(name: "four bytes FF at the beginning") { [0xFF, 0xFF, 0xFF, 0xFF] + bytes($0, $1) },
    Patterns(name: "zero bytes between", fewest: 16) {
      bytes(3, $1) + [UInt8](repeating: 0, count: 6) + bytes($0, $1)
    },
    Patterns(name: "a third of the bytes are 0", fewest: 20) { count, random in
      var key = bytes(count, random)
      while key.count(where: { $0 == 0 }) <= count / 3 { key[random.below(count)] = 0 }
      return key
    },
    Patterns(name: "seven digits at the end") { bytes($0 - 7, $1) + characters("0123456789")(7, $1) },
    Patterns(name: "ten letters at the beginning") {
      characters("abcdefghijklmnopqrstuvwxyz")(10, $1) + bytes($0, $1)
    },
    Patterns(name: "the time at the beginning") { time($1) + bytes($0, $1) },
    Patterns(name: "the time at the end") { bytes($0 - 8, $1) + time($1) },
    Patterns(name: "the time the other way round") { time($1).reversed() + bytes($0, $1) },
    Patterns(name: "DER") { [0x30, UInt8($0 - 2), 0x04, UInt8($0 - 4)] + bytes($0, $1) },
    Patterns(name: "the length in four bytes") { [0, 0, 0, UInt8($0 - 4)] + bytes($0, $1) },
    Patterns(name: "CRC-32") { count, random in
      let key = bytes(count - 4, random)
      let check = key.reduce(~UInt32(0)) { check, byte in
        (0..<8).reduce(check ^ UInt32(byte)) { check, _ in check >> 1 ^ (check & 1 == 1 ? 0xEDB8_8320 : 0) }
      }
      return key + (0..<4).map { UInt8(~check >> (8 * $0) & 0xFF) }
    },
    Patterns(name: "the key of many examples") {
      Array("Hello!".utf8) + [0xDE, 0xAD, 0xBE, 0xEF] + bytes($0, $1)
    },
  ]

  private static func time(_ random: SeededRandom) -> [UInt8] {
    let seconds = UInt64(1_400_000_000 + random.below(900_000_000))
    return (0..<8).map { UInt8(seconds >> (56 - 8 * $0) & 0xFF) }
  }

  private static func uuid(_ random: SeededRandom) -> UUID {
    var bytes = bytes(16, random)
    bytes[6] = bytes[6] & 0x0F | UInt8(1 + random.below(8)) << 4
    bytes[8] = bytes[8] & 0x3F | 0x80
    return unsafe bytes.withUnsafeBytes { unsafe UUID(uuid: $0.load(as: uuid_t.self)) }
  }

  private static let repetitions: [Patterns] = [
    Patterns(name: "one byte") { count, random in
      [UInt8](repeating: UInt8(random.below(256)), count: count)
    },
    Patterns(name: "a sequence") { count, random in
      let (start, step) = (random.below(256), random.below(256))
      return (0..<count).map { UInt8((start + $0 * step) & 0xFF) }
    },
    Patterns(name: "a group again and again") { count, random in
      let group = bytes(1 + random.below(5), random)
      return (0..<count).map { group[$0 % group.count] }
    },
    Patterns(name: "two equal halves", fewest: 16) { count, random in
      let half = bytes(count / 2, random)
      return half + half
    },
    Patterns(name: "a half and its complement", fewest: 16) { count, random in
      let half = bytes(count / 2, random)
      return half + half.map { ~$0 }
    },
    Patterns(name: "a half and the same with steps", fewest: 16) { count, random in
      let (half, step) = (bytes(count / 2, random), UInt8(random.below(256)))
      return half + half.map { $0 &+ step }
    },
    Patterns(name: "a group before every third byte", fewest: 20) { count, random in
      let group = bytes(3, random)
      return (0..<count).flatMap { _ in group + bytes(3, random) }
    },
  ]

  /// The binary form of a UUID is a key of 16 bytes alone.
  static func binaryUUID(_ random: SeededRandom) -> [UInt8] {
    unsafe withUnsafeBytes(of: uuid(random).uuid) { unsafe Array($0) }
  }
}
