import AuthenticatorKit
import Foundation
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A thief who knows what a key looks like finds the PIN: only the right one gives such a key (docs/security/invariants.md).
@Suite("Keys that may be behind a camouflaged PIN", .bounded, .requirement("R24"))
struct MaskableKeyTests {
  private static func isRandom(_ key: [UInt8]) -> Bool {
    unsafe MaskableKey.isRandom(key.span.bytes)
  }

  /// Verified to fail when 12 bits are enough for text.
  @Test("no random key of 20 bytes is refused, of a million")
  func random() {
    let random = SeededRandom(seed: SeededGenerator.seedOfRun)
    var refused = 0
    for _ in 0..<1_000_000 where !Self.isRandom(Patterns.bytes(20, random)) { refused += 1 }
    expect(refused, equals: 0)
  }

  /// Of the keys with 16 bytes, one in eight has the form of a UUID.
  ///
  @Test("of random keys of other lengths few are refused", arguments: [10, 12, 16, 24, 32, 64, 128])
  func lengths(count: Int) {
    let random = SeededRandom(seed: SeededGenerator.seedOfRun)
    let refused = (0..<20_000).count { _ in !Self.isRandom(Patterns.bytes(count, random)) }
    #expect(refused <= (count == 16 ? 20_000 / 7 : 20), "\(refused) of 20,000")
  }

  /// Verified to fail when all letters of UTF-8 count as equally likely.
  @Test("a key with a pattern is refused, at every length", arguments: Patterns.all)
  func pattern(pattern: Patterns) {
    let random = SeededRandom(seed: SeededGenerator.seedOfRun)
    for count in [10, 12, 16, 20, 24, 32, 40, 64] where count >= pattern.fewest {
      for _ in 0..<200 {
        let key = Array(pattern.make(count, random).prefix(count))
        #expect(!Self.isRandom(key), "\(pattern.name), \(count) bytes: \(key)")
      }
    }
  }

  /// Verified to fail when the version is not looked at.
  @Test("a UUID of any version is refused")
  func uuid() {
    let random = SeededRandom(seed: SeededGenerator.seedOfRun)
    for _ in 0..<1000 { #expect(!Self.isRandom(Patterns.binaryUUID(random))) }
  }

  /// Verified to fail when the activation does not ask.
  @Test("it is refused at each entrance, and nothing is stored")
  func entrances() throws {
    let key = Array("1234567890123456789".utf8) + [0]
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let uri = try rig.uri(key)
    expect(.policy) { () throws(VaultError) in
      _ = try rig.core.addOTP(uri, named: "bank", pin: pin, context: rig.context("8306"))
    }
    let suite = NewOCRACredential(try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08"), name: "bank")
    expect(.policy) { () throws(VaultError) in
      _ = try rig.core.addOCRA(suite, key: SecretBytes(copying: key), pin: pin, context: rig.context("8306"))
    }
    #expect(try rig.core.items(matching: Query(.otp)).isEmpty)
    let scene = try ActivationScene(mode: 1)
    let guarding = try scene.rig.camouflaged()
    scene.server.change { $0.credential = ActivationServer.credential(key: key) }
    try scene.start()
    expect(.policy) { () throws(VaultError) in
      try scene.finish(pin: guarding, scene.rig.context("8306"))
    }
    try expect(scene.state(), equals: .started)
  }

  /// One PIN that is taken for the other gives it away: the code tells which it is.
  ///
  /// Verified to fail when the suite is not looked at.
  @Test("a suite with a PIN of its own is not put behind a camouflaged PIN")
  func suite() throws {
    let rig = try PINRig()
    let (camouflaged, checked) = (try rig.camouflaged(), try rig.checked())
    let new = NewOCRACredential(try OCRASuite("OCRA-1:HOTP-SHA1-6:QN08-PSHA1"), name: "bank")
    func add(behind pin: ItemID) throws(VaultError) {
      _ = try rig.core.addOCRA(
        new, key: SecretBytes(copying: PINRig.rawKey), pin: pin, context: rig.context("8306"))
    }
    expect(.policy) { () throws(VaultError) in try add(behind: camouflaged) }
    try add(behind: checked)
    let scene = try ActivationScene(mode: 1)
    let guarding = try scene.rig.camouflaged()
    scene.server.change {
      $0.credential = ActivationServer.credential("ocra", ["suite": .text("OCRA-1:HOTP-SHA1-6:QN08-PSHA1")])
    }
    try scene.start()
    expect(.policy) { () throws(VaultError) in
      try scene.finish(pin: guarding, scene.rig.context("8306"))
    }
  }
}

/// Keys of a kind that is not random, by its name.
struct Patterns: Sendable, CustomTestStringConvertible {
  let name: String
  /// From how many bytes on it shows.
  var fewest = 10
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

  static let all = texts + numbers + repetitions

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
    Patterns(name: "a UUID in text") { _, random in Array(uuid(random).uuidString.utf8) },
    Patterns(name: "numbers of 32 bits", fewest: 20) { count, random in
      let start = UInt32(truncatingIfNeeded: random.next() >> 40)
      return (0..<UInt32(count)).flatMap { number in
        (0..<4).map { UInt8((start + number) >> (24 - 8 * $0) & 0xFF) }
      }
    },
  ]

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
  ]

  /// The binary form of a UUID is a key of 16 bytes alone.
  static func binaryUUID(_ random: SeededRandom) -> [UInt8] {
    unsafe withUnsafeBytes(of: uuid(random).uuid) { unsafe Array($0) }
  }
}
