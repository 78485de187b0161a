import SecretMemory
import TestSupport
import Testing
import VaultCrypto

@Suite("The record seal", .bounded)
struct RecordSealTests {
  private let aad: [UInt8] = Array("row 7".utf8)

  private func make(
    root: UInt8 = 7, label: Label = Label("vault/1/test"), nonceLabel: Label = Label("vault/1/test-nonce"),
    generation: UInt32 = 5
  ) throws(CryptoError) -> RecordSeal {
    try RecordSeal(
      root: SecretBytes([UInt8](repeating: root, count: 32)), label: label, nonceLabel: nonceLabel,
      generation: generation)
  }

  @Test(
    "a seal opens to what was sealed, from 0 bytes to 16 MiB, as bytes, as a secret and into a buffer",
    arguments: [0, 1, 15, 16, 17, 64, 4096, 65_536, 65_537, 1 << 20, 16 << 20])
  func roundTrip(count: Int) throws {
    let record = try make()
    let plaintext = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
      for index in 0..<count { unsafe buffer[index] = UInt8(truncatingIfNeeded: index &* 31) }
      written = count
    }
    let sealed = try record.seal(plaintext, aad: aad, random: SystemRandom())
    expect(sealed.count, equals: count + RecordSeal.overhead)
    try expect(RecordSeal.generation(of: sealed), equals: 5)
    let isSame = try record.open(sealed, aad: aad) == plaintext  // not inside #expect: 16 MiB
    let isSameSecret = try record.openSecret(sealed, aad: aad).revealed == plaintext
    #expect(isSame && isSameSecret)
  }

  @Test("sealing and opening append to a buffer and leave what stands before")
  func intoBuffer() throws {
    let record = try make()
    let plaintext: [UInt8] = [1, 2, 3]
    let sealed = try SecretBytes(capacity: 100) { (output) throws(CryptoError) in
      output.append(0xee)
      unsafe try record.seal(plaintext.span.bytes, aad: aad.span.bytes, random: SystemRandom(), into: &output)
    }.revealed
    expect(sealed.count, equals: 1 + 3 + RecordSeal.overhead)
    expect(sealed[0], equals: 0xee)
    let seal = Array(sealed[1...])
    let opened = try SecretBytes(capacity: 100) { (output) throws(CryptoError) in
      output.append(0xdd)
      unsafe try record.open(seal.span.bytes, aad: aad.span.bytes, into: &output)
    }
    expect(opened.revealed, equals: [0xdd, 1, 2, 3])
  }

  // Fails when the room is not written, or is left out of what the cipher is fed.
  @Test("associated data behind room for the header opens the same seals, and no other")
  func behindRoom() throws {
    let record = try make()
    let sealed = try record.seal(Array("a record".utf8), aad: aad, random: SystemRandom())
    func opened(_ sealed: [UInt8], _ aad: [UInt8]) throws(CryptoError) -> [UInt8] {
      let bytes = [UInt8](repeating: 0xAA, count: RecordSeal.roomBeforeAAD) + aad
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
      defer { unsafe memory.deallocate() }
      unsafe memory.copyBytes(from: bytes)
      return try SecretBytes(capacity: 100) { (output) throws(CryptoError) in
        try unsafe record.open(sealed.span.bytes, aadBehindRoom: memory, into: &output)
      }.revealed
    }
    try expect(opened(sealed, aad), equals: Array("a record".utf8))
    expectError(.tagMismatch) { () throws(CryptoError) in try opened(sealed, aad + [0]) }
    for bit in 0..<sealed.count * 8 {
      var changed = sealed
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: CryptoError.self) { try opened(changed, aad) }
    }
  }

  @Test("more than 16 MiB is refused, sealed or opened")
  func tooLarge() throws {
    let record = try make()
    let plaintext = [UInt8](repeating: 0, count: 16 << 20 + 1)
    expectError(.tooLarge) { () throws(CryptoError) in
      try record.seal(plaintext, aad: aad, random: SystemRandom())
    }
    let sealed: [UInt8] = [1, 2] + [UInt8](repeating: 0, count: plaintext.count + RecordSeal.overhead - 2)
    expectError(.malformed) { () throws(CryptoError) in try record.open(sealed, aad: aad) }
  }

  @Test("each flipped bit of a seal is an error")
  func everyBit() throws {
    let record = try make()
    let sealed = try record.seal(Array("a record".utf8), aad: aad, random: SystemRandom())
    for bit in 0..<sealed.count * 8 {
      var changed = sealed
      changed[bit / 8] ^= 1 << (bit % 8)
      let expected: CryptoError =
        switch bit / 8 {
        case 0...1 where changed[bit / 8] == 0: .malformed
        case 0...1: .unsupported(version: changed[0], suite: changed[1])
        default: .tagMismatch
        }
      expectError(expected) { () throws(CryptoError) in try record.open(changed, aad: aad) }
      expectError(expected) { () throws(CryptoError) in try record.openSecret(changed, aad: aad) }
    }
  }

  @Test("each shortened seal and one with a byte more is an error")
  func everyLength() throws {
    let record = try make()
    let sealed = try record.seal(Array("a record".utf8), aad: aad, random: SystemRandom())
    for count in 0..<sealed.count {
      let expected: CryptoError = count < RecordSeal.overhead ? .malformed : .tagMismatch
      expectError(expected) { () throws(CryptoError) in try record.open(Array(sealed[..<count]), aad: aad) }
    }
    expectError(.tagMismatch) { () throws(CryptoError) in try record.open(sealed + [0], aad: aad) }
  }

  @Test("another root, label, generation or associated data does not open it")
  func wrongInputs() throws {
    let sealed = try make().seal([1, 2, 3], aad: aad, random: SystemRandom())
    let others = [
      try make(root: 8), try make(label: Label("vault/1/other")), try make(generation: 6),
    ]
    for other in others {
      expectError(.tagMismatch) { () throws(CryptoError) in try other.open(sealed, aad: aad) }
    }
    for other in [[], aad + [0], Array(aad.dropLast()), aad.reversed()] {
      expectError(.tagMismatch) { () throws(CryptoError) in try make().open(sealed, aad: other) }
    }
  }

  @Test("the generation is authenticated, not only compared")
  func boundGeneration() throws {
    // The same keys under two generations: the header alone must make the difference.
    var sealed = try make(generation: 5).seal([1], aad: aad, random: SystemRandom())
    sealed[5] = 6
    expectError(.tagMismatch) { () throws(CryptoError) in try make(generation: 6).open(sealed, aad: aad) }
  }

  @Test("a seal of suite 1 is refused by name")
  func otherSuite() throws {
    let committing = try CommittingSeal.seal(
      [1], under: SecretBytes([UInt8](repeating: 7, count: 32)), label: Label("vault/1/test"), aad: aad,
      random: SystemRandom())
    expectError(.unsupported(version: 1, suite: 1)) { () throws(CryptoError) in
      try make().open(committing, aad: aad)
    }
  }

  @Test("the layout is the one of the specification, step by step")
  func layout() throws {
    let plaintext: [UInt8] = Array("plain".utf8)
    let sealed = try make().seal(plaintext, aad: aad, random: RepeatingRandom(byte: 9))
    let root = SecretBytes([UInt8](repeating: 7, count: 32))
    let nonceKey = HKDF.derive(from: root, label: Label("vault/1/test-nonce"))
    let nonce = Array(
      KeyedHMAC(key: nonceKey).code {
        $0.append([UInt8](repeating: 9, count: 32))
        $0.append(SHA256.hash(aad))
        $0.append(SHA256.hash(plaintext))
      }[..<12])
    let header: [UInt8] = [1, 2, 0, 0, 0, 5]
    let cipher = try AESGCM(key: HKDF.derive(from: root, label: Label("vault/1/test")))
    let body = try cipher.sealed(plaintext, iv: nonce, aad: header + aad).get()
    expect(sealed, equals: header + nonce + body)
  }

  @Test("when the random generator fails nothing is sealed")
  func failingRandom() throws {
    let record = try make()
    expectError(.randomUnavailable) { () throws(CryptoError) in
      try record.seal([1], aad: aad, random: FailingRandom())
    }
  }

  @Test("when the random generator repeats, two contents never share a nonce")
  func repeatingRandom() throws {
    let record = try make()
    let first = try record.seal([1, 2, 3, 4], aad: aad, random: RepeatingRandom())
    let again = try record.seal([1, 2, 3, 4], aad: aad, random: RepeatingRandom())
    let second = try record.seal([5, 6, 7, 8], aad: aad, random: RepeatingRandom())
    let bound = try record.seal([1, 2, 3, 4], aad: aad + [1], random: RepeatingRandom())
    expect(first, equals: again, "the same content under the same binding tells nothing new")
    #expect(first[6..<18] != second[6..<18], "another plaintext, another nonce")
    #expect(first[6..<18] != bound[6..<18], "other associated data, another nonce")
  }

  /// That they are gone from memory is looked at in `CipherLeakTests`.
  @Test("ciphers that were released are made again, as often as one likes, and the count of writes goes on")
  func released() throws {
    let record = try make()
    var seals: [[UInt8]] = []
    for round in UInt8(0)..<4 {
      record.releaseCiphers()
      seals.append(try record.seal([round], aad: aad, random: SystemRandom()))
      if round % 2 == 0 { record.releaseCiphers() }
      for (number, seal) in seals.enumerated() {
        try expect(record.open(seal, aad: aad), equals: [UInt8(number)])
      }
      record.releaseCiphers()
      record.releaseCiphers()
    }
    expect(record.writes, equals: 4)
    expectError(.tagMismatch) { () throws(CryptoError) in _ = try record.open(seals[0], aad: aad + [1]) }
    try expect(record.open(seals[0], aad: aad), equals: [0])
  }

  @Test("10,000 seals of one content have 10,000 nonces")
  func distinct() throws {
    let record = try make()
    var nonces = Set<[UInt8]>()
    for _ in 0..<10_000 {
      nonces.insert(Array(try record.seal([1], aad: aad, random: SystemRandom())[6..<18]))
    }
    expect(nonces.count, equals: 10_000)
  }

  @Test("a key refuses the write after 2^31, and still opens")
  func writeLimit() throws {
    let record = try RecordSeal(
      root: SecretBytes([7]), label: Label("vault/1/test"), nonceLabel: Label("vault/1/test-nonce"),
      generation: 5, writes: 1 << 31 - 2)
    let first = try record.seal([1], aad: aad, random: SystemRandom())
    _ = try record.seal([2], aad: aad, random: SystemRandom())
    expectError(.writeLimitReached) { () throws(CryptoError) in
      try record.seal([3], aad: aad, random: SystemRandom())
    }
    expect(record.writes, equals: 1 << 31)
    try expect(record.open(first, aad: aad), equals: [1])
  }

  @Test("many threads seal and open with one key at once without harm")
  func threads() async throws {
    let record = try make()
    let aad = aad
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask {
          try (0..<500).allSatisfy { round in
            let plaintext = [UInt8](repeating: UInt8(task), count: round % 100)
            let sealed = try record.seal(plaintext, aad: aad, random: SystemRandom())
            return try record.open(sealed, aad: aad) == plaintext
          }
        }
      }
      for try await isGood in group { #expect(isGood) }
    }
  }
}
