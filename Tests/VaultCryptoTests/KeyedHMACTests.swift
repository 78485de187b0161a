import SecretMemory
import TestSupport
import Testing
import VaultCrypto

@Suite("Keyed hashing and derivation", .bounded)
struct KeyedHMACTests {
  private let rfc4226Key = Array("12345678901234567890".utf8)

  @Test("the truncated codes are those of RFC 4226 appendix D")
  func truncatedCodes() {
    let code = KeyedHMAC(key: SecretBytes(rfc4226Key), algorithm: .sha1)
    let expected: [UInt32] = [
      1_284_755_224, 1_094_287_082, 137_359_152, 1_726_969_429, 1_640_338_314, 868_254_676, 1_918_287_922,
      82_162_583, 673_399_871, 645_520_489,
    ]
    for (counter, value) in expected.enumerated() {
      expect(code.truncatedCode(forCounter: UInt64(counter)), equals: value)
    }
  }

  @Test(
    "the code of a counter is that of its eight bytes, for every hash function",
    arguments: HashAlgorithm.allCases)
  func counterCodes(algorithm: HashAlgorithm) {
    var generator = SeededGenerator()
    for round in 0..<2000 {
      let key = (0..<round % 150).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let counter = round < 3 ? [0, 1, .max][round] : UInt64.random(in: 0 ... .max, using: &generator)
      let keyed = KeyedHMAC(key: SecretBytes(key), algorithm: algorithm)
      let whole = keyed.code(for: (0..<8).map { UInt8(truncatingIfNeeded: counter >> (56 - 8 * $0)) })
      var direct = [UInt8](repeating: 0, count: algorithm.digestByteCount)
      unsafe direct.withUnsafeMutableBytes { unsafe keyed.write(to: $0, counter: counter) }
      expect(direct, equals: whole)
      let offset = Int(whole[whole.count - 1] & 0x0f)
      let truncated = whole[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
      expect(keyed.truncatedCode(forCounter: counter), equals: truncated)
    }
  }

  @Test("a message in parts has the code of the whole", arguments: HashAlgorithm.allCases)
  func parts(algorithm: HashAlgorithm) {
    let keyed = KeyedHMAC(key: SecretBytes([1, 2, 3]), algorithm: algorithm)
    let message = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
    for cut in [0, 1, 63, 64, 65, 127, 128, 129, 300] {
      let code = keyed.code {
        $0.append(Array(message[..<cut]))
        $0.append(SecretBytes(Array(message[cut...])))
      }
      expect(code, equals: keyed.code(for: message))
      let secret = keyed.secretCode { $0.append(message) }
      expect(secret.revealed, equals: code)
    }
  }

  @Test("SHA-256 gives the values of FIPS 180-4, whole and in parts")
  func sha256() throws {
    let abc = try Hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad").bytes
    let empty = try Hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855").bytes
    expect(SHA256.hash(Array("abc".utf8)), equals: abc)
    expect(SHA256.hash([]), equals: empty)
    var incremental = SHA256.Incremental()
    expect(incremental.finish(), equals: empty)
    incremental.append(Array("a".utf8))
    incremental.append(Array("bc".utf8))
    expect(incremental.finish(), equals: abc)
  }

  @Test("a derived key is the beginning of a longer one, and each label gives another")
  func hkdf() {
    let key = SecretBytes([UInt8](repeating: 1, count: 32))
    let long = HKDF.derive(from: key, info: [1], byteCount: HKDF.maximumByteCount).revealed
    expect(long.count, equals: 8160)
    for count in [0, 1, 31, 32, 33, 64, 100] {
      expect(HKDF.derive(from: key, info: [1], byteCount: count).revealed, equals: Array(long[..<count]))
    }
    let first = HKDF.derive(from: key, label: Label("vault/1/a")).revealed
    let second = HKDF.derive(from: key, label: Label("vault/1/b")).revealed
    #expect(first != second)
    expect(first, equals: HKDF.derive(from: key, info: Array("vault/1/a".utf8), byteCount: 32).revealed)
  }

  @Test("two keys are derived from as their bytes in a row")
  func twoKeys() {
    let joined = HKDF.derive(
      from: SecretBytes([1, 2]), and: SecretBytes([3]), salt: [9], info: [1], byteCount: 40)
    let whole = HKDF.derive(from: SecretBytes([1, 2, 3]), salt: [9], info: [1], byteCount: 40)
    expect(joined.revealed, equals: whole.revealed)
  }
}
