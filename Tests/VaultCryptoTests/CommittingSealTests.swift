import SecretMemory
import TestSupport
import Testing
import VaultCrypto

@Suite("The committing seal", .bounded)
struct CommittingSealTests {
  private let label = Label("vault/1/test")
  private let aad: [UInt8] = Array("item 7".utf8)

  private func key(_ byte: UInt8 = 7) -> SecretBytes { SecretBytes([UInt8](repeating: byte, count: 32)) }

  private func seal(
    _ plaintext: [UInt8], key byte: UInt8 = 7, random: some RandomSource = SystemRandom()
  ) throws(CryptoError) -> [UInt8] {
    try CommittingSeal.seal(plaintext, under: key(byte), label: label, aad: aad, random: random)
  }

  @Test(
    "a seal opens to what was sealed, from 0 bytes to 16 MiB",
    arguments: [0, 1, 15, 16, 17, 64, 4096, 65_536, 65_537, 1 << 20, 16 << 20])
  func roundTrip(count: Int) throws {
    let plaintext = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
      for index in 0..<count { unsafe buffer[index] = UInt8(truncatingIfNeeded: index &* 31) }
      written = count
    }
    let sealed = try seal(plaintext)
    expect(sealed.count, equals: count + CommittingSeal.overhead)
    let opened = try CommittingSeal.open(sealed, under: key(), label: label, aad: aad)
    let isSame = opened.revealed == plaintext  // not inside #expect, which would print 16 MiB
    #expect(isSame)
  }

  @Test("a secret is sealed like the bytes it has")
  func secretPlaintext() throws {
    let sealed = try CommittingSeal.seal(
      SecretBytes([1, 2, 3]), under: key(), label: label, aad: aad, random: SystemRandom())
    try expect(CommittingSeal.open(sealed, under: key(), label: label, aad: aad).revealed, equals: [1, 2, 3])
  }

  @Test("more than 16 MiB is refused, sealed or opened")
  func tooLarge() throws {
    let plaintext = [UInt8](repeating: 0, count: 16 << 20 + 1)
    expectError(.tooLarge) { () throws(CryptoError) in try seal(plaintext) }
    let sealed: [UInt8] =
      [1, 1] + [UInt8](repeating: 0, count: plaintext.count + CommittingSeal.overhead - 2)
    expectError(.malformed) { () throws(CryptoError) in
      try CommittingSeal.open(sealed, under: key(), label: label, aad: aad)
    }
  }

  @Test("each flipped bit of a seal is an error, and the right one for its place")
  func everyBit() throws {
    let sealed = try seal(Array("a secret".utf8))
    for bit in 0..<sealed.count * 8 {
      var changed = sealed
      changed[bit / 8] ^= 1 << (bit % 8)
      let expected: CryptoError =
        switch bit / 8 {
        case 0...1 where changed[bit / 8] == 0: .malformed
        case 0...1: .unsupported(version: changed[0], suite: changed[1])
        case 2..<66: .commitmentMismatch
        default: .tagMismatch
        }
      expectError(expected) { () throws(CryptoError) in
        try CommittingSeal.open(changed, under: key(), label: label, aad: aad)
      }
    }
  }

  @Test("each shortened seal and one with a byte more is an error")
  func everyLength() throws {
    let sealed = try seal(Array("a secret".utf8))
    for count in 0..<sealed.count {
      let expected: CryptoError =
        count < CommittingSeal.overhead ? .malformed : .tagMismatch
      expectError(expected) { () throws(CryptoError) in
        try CommittingSeal.open(Array(sealed[..<count]), under: key(), label: label, aad: aad)
      }
    }
    expectError(.tagMismatch) { () throws(CryptoError) in
      try CommittingSeal.open(sealed + [0], under: key(), label: label, aad: aad)
    }
  }

  @Test("another key, label or associated data is told from damage by the commitment")
  func wrongInputs() throws {
    let sealed = try seal([1, 2, 3])
    expectError(.commitmentMismatch) { () throws(CryptoError) in
      try CommittingSeal.open(sealed, under: key(8), label: label, aad: aad)
    }
    expectError(.commitmentMismatch) { () throws(CryptoError) in
      try CommittingSeal.open(sealed, under: key(), label: Label("vault/1/tesu"), aad: aad)
    }
    for other in [[], aad + [0], Array(aad.dropLast()), aad.reversed()] {
      expectError(.commitmentMismatch) { () throws(CryptoError) in
        try CommittingSeal.open(sealed, under: key(), label: label, aad: other)
      }
    }
  }

  @Test("a ciphertext made to fit many keys opens under one of them at most")
  func partitioningOracle() throws {
    // GCM alone lets an attacker make one ciphertext that many keys accept (Len, Grubbs, Ristenpart 2021). Here the
    // attacker may even take salt, ciphertext and tag from seals of different keys: the commitment names one key.
    let candidates = (0..<64).map { UInt8($0) }
    let seals = try candidates.map { try seal(Array("guess me".utf8), key: $0, random: RepeatingRandom()) }
    for (mine, sealed) in seals.enumerated() {
      let accepting = candidates.filter { candidate in
        (try? CommittingSeal.open(sealed, under: key(candidate), label: label, aad: aad).byteCount) != nil
      }
      expect(accepting, equals: [UInt8(mine)])
    }
    // Grafting another seal's commitment is refused before the cipher runs, whichever key is tried.
    let grafted = Array(seals[0][..<34] + seals[1][34..<66] + seals[0][66...])
    for candidate in candidates {
      expectError(.commitmentMismatch) { () throws(CryptoError) in
        try CommittingSeal.open(grafted, under: key(candidate), label: label, aad: aad)
      }
    }
  }

  @Test("the layout is the one of the specification, step by step")
  func layout() throws {
    let plaintext: [UInt8] = Array("plain".utf8)
    let sealed = try seal(plaintext, random: RepeatingRandom(byte: 9))
    let hedge = KeyedHMAC(key: key()).secretCode { $0.append(Array("vault/1/hedge".utf8)) }
    let salt = KeyedHMAC(key: hedge).code {
      $0.append([UInt8](repeating: 9, count: 32))
      $0.append(SHA256.hash(aad))
      $0.append(SHA256.hash(plaintext))
    }
    let keys = HKDF.derive(
      from: key(), salt: salt, info: label.utf8 + [0, 1, 1] + SHA256.hash(aad), byteCount: 64
    ).revealed
    let cipher = try AESGCM(key: SecretBytes(Array(keys[..<32])))
    let body = try cipher.sealed(plaintext, iv: [UInt8](repeating: 0, count: 12), aad: []).get()
    expect(sealed, equals: [1, 1] + salt + keys[32...] + body)
  }

  @Test("when the random generator fails nothing is sealed")
  func failingRandom() {
    expectError(.randomUnavailable) { () throws(CryptoError) in try seal([1], random: FailingRandom()) }
  }

  @Test("when the random generator repeats, two contents never share a key")
  func repeatingRandom() throws {
    let first = try seal([1, 2, 3, 4], random: RepeatingRandom())
    let again = try seal([1, 2, 3, 4], random: RepeatingRandom())
    let second = try seal([5, 6, 7, 8], random: RepeatingRandom())
    let bound = try CommittingSeal.seal(
      [1, 2, 3, 4], under: key(), label: label, aad: aad + [1], random: RepeatingRandom())
    expect(first, equals: again, "the same content under the same binding tells nothing new")
    #expect(first[2..<34] != second[2..<34], "another plaintext, another salt")
    #expect(first[2..<34] != bound[2..<34], "other associated data, another salt")
    #expect(keystream(first, [1, 2, 3, 4]) != keystream(second, [5, 6, 7, 8]))
    #expect(keystream(first, [1, 2, 3, 4]) != keystream(bound, [1, 2, 3, 4]))
  }

  @Test("10,000 seals of one content are all different")
  func distinct() throws {
    var salts = Set<[UInt8]>()
    for _ in 0..<10_000 { salts.insert(Array(try seal([1])[2..<34])) }
    expect(salts.count, equals: 10_000)
  }

  private func keystream(_ sealed: [UInt8], _ plaintext: [UInt8]) -> [UInt8] {
    zip(sealed[66...], plaintext).map { $0 ^ $1 }
  }
}
