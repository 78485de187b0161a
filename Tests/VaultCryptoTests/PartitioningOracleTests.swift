import SecretMemory
import TestSupport
import Testing
import VaultCrypto

/// One ciphertext that AES-GCM accepts under two keys (Len, Grubbs, Ristenpart: "Partitioning Oracle Attacks", 2021).
/// With such ciphertexts whoever writes to the vault learns a passcode by halves from what opens; the commitment is
/// there to stop it.
@Suite("The partitioning oracle", .bounded)
struct PartitioningOracleTests {
  private let label = Label("vault/1/test")
  private let aad: [UInt8] = []
  private let salt = [UInt8](repeating: 0x33, count: 32)

  /// The 64 bytes that the seal derives from a wrapping key: Ke ‖ Kcom.
  private func derived(_ wrappingKey: [UInt8]) -> [UInt8] {
    HKDF.derive(
      from: SecretBytes(wrappingKey), salt: salt, info: label.utf8 + [0, 1, 1] + SHA256.hash(aad),
      byteCount: 64
    ).revealed
  }

  @Test("a ciphertext that plain AES-GCM opens under two keys opens under the committed one only")
  func twoKeys() throws {
    let first = [UInt8](repeating: 1, count: 32)
    let second = [UInt8](repeating: 2, count: 32)
    let ciphers = try [first, second].map { try GCMInsides(key: Array(derived($0)[..<32])) }
    let colliding = GCMInsides.collision(ciphers[0], ciphers[1])
    for insides in ciphers {
      #expect(try insides.opens(colliding), "the attack itself must work, or nothing is tested")
    }

    let sealed = [1, 1] + salt + Array(derived(first)[32...]) + colliding
    let opened = try CommittingSeal.open(sealed, under: SecretBytes(first), label: label, aad: aad)
    expect(opened.byteCount, equals: 32)
    expectError(.commitmentMismatch) { () throws(CryptoError) in
      try CommittingSeal.open(sealed, under: SecretBytes(second), label: label, aad: aad)
    }
  }
}

/// What an attacker who chose the key knows of AES-GCM under it: the hash key H and the mask of the tag.
private struct GCMInsides {
  let key: [UInt8]
  let hashKey: Field
  let mask: Field

  init(key: [UInt8]) throws {
    self.key = key
    let iv = [UInt8](repeating: 0, count: 12)
    let cipher = try AESGCM(key: SecretBytes(key))
    // The tag of nothing is the mask. A ciphertext block of zeros adds only length · H to it.
    mask = try Field(cipher.sealed([], iv: iv, aad: []).get()[...])
    let keystream = try cipher.sealed([UInt8](repeating: 0, count: 16), iv: iv, aad: []).get()[..<16]
    let zeros = try cipher.sealed(Array(keystream), iv: iv, aad: []).get()
    hashKey = (Field(zeros[16...]) + mask) * Field.lengths(ciphertext: 16).inverse
  }

  func opens(_ sealed: [UInt8]) throws -> Bool {
    let cipher = try AESGCM(key: SecretBytes(key))
    let iv = [UInt8](repeating: 0, count: 12)
    return if case .success = cipher.opened(sealed, iv: iv, aad: []) { true } else { false }
  }

  /// Two blocks and a tag that both keys accept: tag = C1·H³ + C2·H² + L·H + mask, solved for C2.
  static func collision(_ a: GCMInsides, _ b: GCMInsides) -> [UInt8] {
    let lengths = Field.lengths(ciphertext: 32)
    let first = Field(ArraySlice([UInt8](repeating: 0x42, count: 16)))
    let squares = (a.hashKey * a.hashKey, b.hashKey * b.hashKey)
    let cubes = (squares.0 * a.hashKey, squares.1 * b.hashKey)
    let known = first * (cubes.0 + cubes.1) + lengths * (a.hashKey + b.hashKey) + a.mask + b.mask
    let second = known * (squares.0 + squares.1).inverse
    let tag = first * cubes.0 + second * squares.0 + lengths * a.hashKey + a.mask
    return first.bytes + second.bytes + tag.bytes
  }
}

/// An element of GF(2^128) in GCM's bit order (NIST SP 800-38D §6.3).
private struct Field: Equatable {
  var high: UInt64
  var low: UInt64

  init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  init(_ bytes: ArraySlice<UInt8>) {
    let words = [bytes.prefix(8), bytes.dropFirst(8).prefix(8)].map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: words[0], low: words[1])
  }

  static func lengths(ciphertext byteCount: UInt64) -> Field { Field(high: 0, low: byteCount * 8) }

  var bytes: [UInt8] {
    [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
  }

  static func + (a: Field, b: Field) -> Field { Field(high: a.high ^ b.high, low: a.low ^ b.low) }

  static func * (a: Field, b: Field) -> Field {
    var product = Field(high: 0, low: 0)
    var shifted = b
    for bit in 0..<128 {
      let isSet = (bit < 64 ? a.high >> (63 - bit) : a.low >> (127 - bit)) & 1 == 1
      if isSet { product = product + shifted }
      let carries = shifted.low & 1 == 1
      shifted = Field(high: shifted.high >> 1, low: shifted.low >> 1 | shifted.high << 63)
      if carries { shifted.high ^= 0xe1 << 56 }
    }
    return product
  }

  /// a^(2^128 − 2).
  var inverse: Field {
    var result = Field(high: 1 << 63, low: 0)
    var power = self
    for _ in 1..<128 {
      power = power * power
      result = result * power
    }
    return result
  }
}
