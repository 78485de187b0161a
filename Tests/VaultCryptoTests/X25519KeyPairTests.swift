import SecretMemory
import TestSupport
import Testing
import VaultCrypto

@Suite("X25519", .bounded)
struct X25519KeyPairTests {
  @Test(
    "a private and a public key give the secrets of RFC 7748 §5.2 and §6.1",
    arguments: [
      (
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
      ),
      (
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
      ),
      (
        "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
        "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
        "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
      ),
      (
        "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
        "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
        "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
      ),
    ])
  func sharedSecrets(scalar: String, coordinate: String, expected: String) throws {
    let secret = try X25519KeyPair.sharedSecret(
      private: SecretBytes(Hex(scalar).bytes), public: Hex(coordinate).bytes)
    try expect(secret.revealed, equals: Hex(expected).bytes)
  }

  @Test("a private key has the public key of RFC 7748 §6.1")
  func publicKey() throws {
    let pair = try X25519KeyPair(
      privateKey: SecretBytes(Hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a").bytes))
    try expect(
      pair.publicKey, equals: Hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a").bytes)
  }

  @Test("two new pairs agree, and no third one with them")
  func agreement() throws {
    let alice = try X25519KeyPair.generate(random: SystemRandom())
    let bob = try X25519KeyPair.generate(random: SystemRandom())
    let eve = try X25519KeyPair.generate(random: SystemRandom())
    let atAlice = try X25519KeyPair.sharedSecret(private: alice.privateKey, public: bob.publicKey)
    let atBob = try X25519KeyPair.sharedSecret(private: bob.privateKey, public: alice.publicKey)
    let atEve = try X25519KeyPair.sharedSecret(private: eve.privateKey, public: alice.publicKey)
    expect(atAlice.revealed, equals: atBob.revealed)
    #expect(atAlice.revealed != atEve.revealed)
  }

  @Test(
    "a public key of small order is refused: its secret would be zero for everybody",
    arguments: [
      "0000000000000000000000000000000000000000000000000000000000000000",
      "0100000000000000000000000000000000000000000000000000000000000000",
      "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
      "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
  func smallOrder(publicKey: String) throws {
    let mine = try X25519KeyPair.generate(random: SystemRandom())
    let theirs = try Hex(publicKey).bytes
    expectError(.invalidKey) { () throws(CryptoError) in
      try X25519KeyPair.sharedSecret(private: mine.privateKey, public: theirs)
    }
  }

  @Test("keys of another length are refused", arguments: [0, 31, 33])
  func lengths(count: Int) throws {
    let bytes = [UInt8](repeating: 9, count: count)
    let mine = try X25519KeyPair.generate(random: SystemRandom())
    expectError(.invalidKey) { () throws(CryptoError) in
      try X25519KeyPair(privateKey: SecretBytes(bytes))
    }
    expectError(.invalidKey) { () throws(CryptoError) in
      try X25519KeyPair.sharedSecret(private: mine.privateKey, public: bytes)
    }
  }
}
