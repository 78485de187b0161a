import SecretMemory
import TestSupport
import Testing
import VaultKeys

/// Verified to fail when a word counts by its letters.
@Suite("The strength of a secret", .bounded, .requirement("U13"))
struct SecretStrengthTests {
  private func bits(_ text: String) -> Int {
    SecretStrength(of: SecretBytes(copying: Array(text.utf8))).bitCount
  }

  @Test(
    "what people choose counts by its parts",
    arguments: [
      ("", 0), ("1", 3), ("password", 11), ("Password", 12), ("Passw0rd!", 32), ("P@ssw0rd!2024", 56),
      ("correct horse", 22),
      ("correct horse battery staple", 44), ("CorrectHorseBatteryStaple", 48), ("123456", 5),
      ("aaaaaaaaaaaaaaaa", 5),
      ("abcdefgh", 5), ("correcthorsebatterystaple", 41), ("1987", 7), ("summer2024", 18), ("!!!!", 5),
      ("dog dog dog dog dog dog", 22),
      ("a long passcode", 26),
    ] as [(String, Int)])
  func parts(text: String, expected: Int) { expect(bits(text), equals: expected) }

  @Test("six words are good, five are not, in any spelling", arguments: [" ", "-", "_", "."])
  func words(separator: String) {
    let words = ["crane", "lemon", "ocean", "piano", "tiger", "wagon"]
    #expect(
      !SecretStrength(of: SecretBytes(copying: Array(words.joined(separator: separator).utf8))).isGuessable)
    #expect(bits(words.dropLast().joined(separator: separator)) < SecretStrength.enoughBits)
    #expect(
      bits(words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()) >= SecretStrength.enoughBits)
  }

  @Test("what a program draws by chance is not taken for words", arguments: 0..<20)
  func random(round: UInt64) {
    var generator = Xorshift(state: round &* 0x9E37_79B9_7F4A_7C15 | 1)
    func draw(_ alphabet: String, _ count: Int) -> String {
      let characters = Array(alphabet)
      return String((0..<count).map { _ in characters.randomElement(using: &generator)! })
    }
    let letters = "abcdefghijklmnopqrstuvwxyz"
    #expect(bits(draw(letters + letters.uppercased() + "0123456789", 24)) >= SecretStrength.enoughBits)
    #expect(bits(draw("0123456789abcdef", 32)) >= SecretStrength.enoughBits)
    #expect(bits(draw("0123456789", 22)) >= SecretStrength.enoughBits)
  }

  @Test("any bytes are measured", arguments: [1, 3, 4, 255, 1024])
  func anyBytes(count: Int) {
    for byte: UInt8 in [0, 0x20, 0x30, 0x41, 0x61, 0x80, 0xFF] {
      let strength = SecretStrength(of: SecretBytes(copying: [UInt8](repeating: byte, count: count)))
      #expect(strength.bitCount < 13)
    }
  }
}

private struct Xorshift: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
