import SecretMemory
import Testing
import VaultCrypto

@Suite("The committing seal")
struct CommittingSealTests {
  var key: SecretBytes { SecretBytes([UInt8](repeating: 7, count: 32)) }
  let label = Label("vault/1/test")

  @Test("a seal opens to what was sealed", arguments: [0, 1, 16, 64, 65_536, 65_537, 1 << 20])
  func roundTrip(count: Int) throws {
    let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let sealed = try CommittingSeal.seal(
      plaintext, under: key, label: label, aad: [1, 2], random: SystemRandom())
    #expect(sealed.count == count + CommittingSeal.overhead)
    let opened = try CommittingSeal.open(sealed, under: key, label: label, aad: [1, 2])
    #expect(opened.revealed == plaintext)
  }
}

@Suite("The record seal")
struct RecordSealTests {
  @Test("a seal opens to what was sealed", arguments: [0, 1, 16, 64, 65_536, 65_537, 1 << 20])
  func roundTrip(count: Int) throws {
    let seal = try RecordSeal(
      root: SecretBytes([UInt8](repeating: 7, count: 32)), label: Label("vault/1/test"),
      nonceLabel: Label("vault/1/test-nonce"), generation: 5)
    let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let sealed = try seal.seal(plaintext, aad: [1, 2], random: SystemRandom())
    #expect(sealed.count == count + RecordSeal.overhead)
    #expect(try RecordSeal.generation(of: sealed) == 5)
    #expect(try seal.open(sealed, aad: [1, 2]) == plaintext)
    #expect(try seal.openSecret(sealed, aad: [1, 2]).revealed == plaintext)
  }
}
