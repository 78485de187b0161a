import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultTestKit

@Suite("Signing keys", .bounded)
struct SigningTests {
  static let pairs: [(SigningKeyType, SignatureScheme)] = [
    (.p256, .ecdsaRaw), (.p256, .ecdsaDER), (.ed25519, .ed25519), (.rsa2048, .rsaPKCS1), (.rsa2048, .rsaPSS),
    (.rsa3072, .rsaPKCS1), (.rsa3072, .rsaPSS), (.p384, .ecdsaRaw), (.p384, .ecdsaDER), (.rsa4096, .rsaPKCS1),
  ]

  @Test("what a key signs, its public half accepts, and nothing else", arguments: pairs)
  func roundTrip(type: SigningKeyType, scheme: SignatureScheme) throws {
    let key = try SigningKey.forTest(type)
    let message = Array("pay 12 to Ann".utf8)
    let signature = try key.sign(message, as: scheme)
    try key.publicKey.verify(signature, of: message, as: scheme)
    expectError(.signatureMismatch) { () throws(CryptoError) in
      try key.publicKey.verify(signature, of: Array("pay 92 to Ann".utf8), as: scheme)
    }
    for index in signature.indices {
      var changed = signature
      changed[index] ^= 1
      expectError(.signatureMismatch) { () throws(CryptoError) in
        try key.publicKey.verify(changed, of: message, as: scheme)
      }
    }
    for other in [[], Array(signature.dropLast()), signature + [0]] {
      expectError(.signatureMismatch) { () throws(CryptoError) in
        try key.publicKey.verify(other, of: message, as: scheme)
      }
    }
  }

  @Test(
    "a key outlives export and import, and the structure is PKCS#8 as OpenSSL writes it", arguments: pairs)
  func pkcs8(type: SigningKeyType, scheme: SignatureScheme) throws {
    let key = try SigningKey.forTest(type)
    let exported = try key.exportPKCS8()
    let again = try SigningKey(pkcs8: exported)
    try again.checkConsistency()
    expect(again.type, equals: type)
    expect(again.publicKey, equals: key.publicKey)
    try expect(again.exportPKCS8().revealed, equals: exported.revealed)
    try key.publicKey.verify(again.sign([1], as: scheme), of: [1], as: scheme)
  }

  /// Verified to fail when the point of the structure is taken without a comparison.
  @Test(
    "a structure in which one byte differs is refused, or is the same key", arguments: SigningKeyType.allCases
  )
  func altered(type: SigningKeyType) throws {
    let key = try SigningKey.forTest(type)
    let pkcs8 = try key.exportPKCS8().revealed
    let scheme: SignatureScheme = type.isRSA ? .rsaPKCS1 : type == .ed25519 ? .ed25519 : .ecdsaRaw
    try key.publicKey.verify(SigningKey(pkcs8: SecretBytes(pkcs8)).sign([1], as: scheme), of: [1], as: scheme)
    for index in stride(from: 0, to: pkcs8.count, by: type.isRSA ? 97 : 1) {
      var changed = pkcs8
      changed[index] ^= 1
      guard let other = try? SigningKey(pkcs8: SecretBytes(changed)), !type.isRSA else { continue }
      // Any seed of Ed25519 is a key; elsewhere the halves would differ.
      #expect(type == .ed25519 && index >= 16 || other.publicKey == key.publicKey, "\(index)")
    }
  }

  @Test("an empty message is signed too", arguments: pairs)
  func emptyMessage(type: SigningKeyType, scheme: SignatureScheme) throws {
    let key = try SigningKey.forTest(type)
    try key.publicKey.verify(key.sign([], as: scheme), of: [], as: scheme)
  }

  @Test(
    "raw ECDSA signatures have one length, also when r or s begins with zeros",
    arguments: [(SigningKeyType.p256, 64), (.p384, 96)])
  func rawLength(type: SigningKeyType, byteCount: Int) throws {
    let key = try SigningKey.generate(type, random: SystemRandom())
    for number in 0..<600 {
      let message = Array("\(number)".utf8)
      let signature = try key.sign(message, as: .ecdsaRaw)
      expect(signature.count, equals: byteCount)
      try key.publicKey.verify(signature, of: message, as: .ecdsaRaw)
    }
  }

  @Test("Ed25519 gives the signature of RFC 8032 §7.1, test 2")
  func ed25519Vector() throws {
    let seed = try Hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb").bytes
    let pkcs8 = try SecretBytes(Hex("302e020100300506032b657004220420").bytes + seed)
    let key = try SigningKey(pkcs8: pkcs8)
    try expect(
      key.sign([0x72], as: .ed25519),
      equals: Hex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
          + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
      ).bytes)
    try expect(
      key.publicKey.spki.suffix(32),
      equals: Hex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c").bytes)
    try expect(key.exportPKCS8().revealed, equals: pkcs8.revealed)
  }

  @Test("the same random bytes make the same key; a generator that fails makes none")
  func randomness() throws {
    for type in [SigningKeyType.p256, .p384, .ed25519] {
      let first = try SigningKey.generate(type, random: RepeatingRandom())
      let second = try SigningKey.generate(type, random: RepeatingRandom())
      let other = try SigningKey.generate(type, random: RepeatingRandom(byte: 3))
      expect(first.publicKey, equals: second.publicKey)
      #expect(first.publicKey != other.publicKey)
      expectError(.randomUnavailable) { () throws(CryptoError) in
        try SigningKey.generate(type, random: FailingRandom())
      }
    }
    // Zero and what is above the order of the curve are no keys, however often they are drawn.
    for (type, byte) in [(SigningKeyType.p256, UInt8(0xff)), (.p256, 0), (.p384, 0xff), (.p384, 0)] {
      expectError(.randomUnavailable) { () throws(CryptoError) in
        try SigningKey.generate(type, random: RepeatingRandom(byte: byte))
      }
    }
  }

  @Test("what is no key of ours is refused")
  func notAKey() throws {
    let key = try SigningKey.generate(.p256, random: SystemRandom())
    let good = try key.exportPKCS8().revealed
    let x25519 = try Hex("302e020100300506032b656e04220420").bytes + [UInt8](repeating: 9, count: 32)
    for bytes in [[], [0x30], good + [0], Array(good.dropLast()), x25519] {
      expectError(.invalidKey) { () throws(CryptoError) in try SigningKey(pkcs8: SecretBytes(bytes)) }
    }
    let spki = key.publicKey.spki
    for bytes in [[], [0x30], spki + [0], Array(spki.dropLast()), good] {
      expectError(.invalidKey) { () throws(CryptoError) in try VerifyingKey(spki: bytes) }
    }
    var offCurve = spki
    offCurve[offCurve.count - 1] ^= 1
    expectError(.invalidKey) { () throws(CryptoError) in try VerifyingKey(spki: offCurve) }
  }

  @Test("a public key on a curve has one form", arguments: [SigningKeyType.p256, .p384, .ed25519])
  func oneForm(type: SigningKeyType) throws {
    let spki = try SigningKey.generate(type, random: SystemRandom()).publicKey.spki
    try expect(VerifyingKey(spki: spki).type, equals: type)
    guard case .point(let point) = try VerifyingKey(spki: spki).components() else {
      Issue.record("\(type) has no point")
      return
    }
    // 6 and 7 begin a hybrid point; 2 and 3 a compressed one, which is shorter.
    let head = spki.count - point.count
    let refused = type == .ed25519 ? 8 * head : 8 * spki.count
    for bit in 0..<refused {
      var changed = spki
      changed[bit / 8] ^= 1 << (bit % 8)
      expectError(.invalidKey) { () throws(CryptoError) in try VerifyingKey(spki: changed) }
    }
    if type != .ed25519 {
      for form: UInt8 in [0, 2, 3, 6, 7] {
        var changed = spki
        changed[head] = form
        expectError(.invalidKey) { () throws(CryptoError) in try VerifyingKey(spki: changed) }
      }
    }
  }

  @Test("a coordinate is below the prime of its field")
  func smallCoordinates() throws {
    let y = try Hex("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4").bytes
    let prime = try Hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff").bytes
    let x = [UInt8](repeating: 0, count: 32)
    try expect(VerifyingKey(.p256, point: [4] + x + y).type, equals: .p256)
    for point in [[4] + prime + y, [4] + x + x] {
      expectError(.invalidKey) { () throws(CryptoError) in try VerifyingKey(.p256, point: point) }
    }
  }

  @Test("many threads sign with one key at once without harm", arguments: [SigningKeyType.p256, .ed25519])
  func threads(type: SigningKeyType) async throws {
    final class Shared: Sendable {
      let key: SigningKey
      init(_ type: SigningKeyType) throws { key = try SigningKey.generate(type, random: SystemRandom()) }
    }
    let shared = try Shared(type)
    let scheme: SignatureScheme = type == .p256 ? .ecdsaRaw : .ed25519
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<50 {
            let message = [UInt8(task), UInt8(round)]
            try shared.key.publicKey.verify(shared.key.sign(message, as: scheme), of: message, as: scheme)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
