import SecretMemory
import TestSupport
import Testing
import VaultCrypto

@Suite("Published vectors of HMAC and HKDF", .bounded, .requirement("R6"))
struct DerivationVectorTests {
  struct HMACFile: Decodable {
    struct Case: Decodable {
      var hash: String
      var keyHex: Hex
      var msgHex: Hex
      var macHex: Hex
    }
    var tests: [Case]
  }

  @Test("HMAC gives the codes of RFC 2202 and RFC 4231")
  func hmac() throws {
    let algorithms: [String: HashAlgorithm] = ["SHA1": .sha1, "SHA256": .sha256, "SHA512": .sha512]
    var applied = 0
    let cases = try VectorFiles.read("hmac", as: HMACFile.self).flatMap(\.tests)
    for test in cases {
      guard let algorithm = algorithms[test.hash] else { continue }
      let code = KeyedHMAC(key: SecretBytes(test.keyHex.bytes), algorithm: algorithm)
        .code(for: test.msgHex.bytes)
      // RFC 4231 case 5 prints the first 128 bits only.
      expect(Array(code.prefix(test.macHex.bytes.count)), equals: test.macHex.bytes)
      #expect(test.macHex.bytes.count >= 16)
      applied += 1
    }
    VectorFiles.report("HMAC", applied: applied, of: cases.count)
  }

  struct HKDFFile: Decodable {
    struct Case: Decodable {
      var hash: String
      var key: Hex
      var salt: Hex?
      var info: Hex?
      var byteCount: String
      var derived: Hex

      enum CodingKeys: String, CodingKey {
        case hash, salt, info
        case key = "IKM"
        case byteCount = "L"
        case derived = "OKM"
      }
    }
    var tests: [Case]
  }

  @Test("HKDF-SHA256 gives the keys of RFC 5869")
  func hkdf() throws {
    var applied = 0
    let cases = try VectorFiles.read("kdf", prefix: "rfc5869", as: HKDFFile.self).flatMap(\.tests)
    for test in cases where test.hash == "SHA256" {
      let count = try #require(Int(test.byteCount))
      let key = HKDF.derive(
        from: SecretBytes(test.key.bytes), salt: test.salt?.bytes ?? [], info: test.info?.bytes ?? [],
        byteCount: count)
      expect(key.revealed, equals: test.derived.bytes)
      applied += 1
    }
    VectorFiles.report("HKDF", applied: applied, of: cases.count)
  }
}
