import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCrypto

/// Project Wycheproof's vectors, which hold the mistakes that others made. They are not part of the package:
/// `VAULT_WYCHEPROOF` names their directory.
@Suite("Wycheproof", .bounded, .requirement("R6"))
struct WycheproofTests {
  struct File<Group: Decodable>: Decodable {
    var testGroups: [Group]
  }

  enum Verdict: String, Decodable {
    case valid
    case invalid
    case acceptable
  }

  private static func groups<Group: Decodable>(_ name: String, of type: Group.Type) throws -> [Group] {
    try JSONDecoder().decode(File<Group>.self, from: wycheproof(name)).testGroups
  }

  struct AEADGroup: Decodable {
    struct Case: Decodable {
      var tcId: Int
      var key: Hex
      var iv: Hex
      var aad: Hex
      var msg: Hex
      var ct: Hex
      var tag: Hex
      var result: Verdict
    }
    var keySize: Int
    var ivSize: Int
    var tagSize: Int
    var tests: [Case]
  }

  @Test("AES-256-GCM with our IV and tag length")
  func aesGCM() throws {
    let groups = try WycheproofTests.groups("aes_gcm_test", of: AEADGroup.self)
    let ours = groups.filter { $0.keySize == 256 && $0.ivSize == 96 && $0.tagSize == 128 }.flatMap(\.tests)
    for test in ours {
      let cipher = try AESGCM(key: SecretBytes(test.key.bytes))
      let opened = cipher.opened(test.ct.bytes + test.tag.bytes, iv: test.iv.bytes, aad: test.aad.bytes)
      switch test.result {
      case .valid:
        expect(opened, equals: .success(test.msg.bytes), "case \(test.tcId)")
        let sealed = cipher.sealed(test.msg.bytes, iv: test.iv.bytes, aad: test.aad.bytes)
        expect(sealed, equals: .success(test.ct.bytes + test.tag.bytes), "case \(test.tcId)")
      default: expect(opened, equals: .failure(.tagMismatch), "case \(test.tcId)")
      }
    }
    VectorFiles.report("wycheproof AES-GCM", applied: ours.count, of: groups.flatMap(\.tests).count)
  }

  struct HKDFGroup: Decodable {
    struct Case: Decodable {
      var tcId: Int
      var ikm: Hex
      var salt: Hex
      var info: Hex
      var size: Int
      var okm: Hex
      var result: Verdict
    }
    var tests: [Case]
  }

  @Test("HKDF-SHA256")
  func hkdf() throws {
    let groups = try WycheproofTests.groups("hkdf_sha256_test", of: HKDFGroup.self)
    let cases = groups.flatMap(\.tests)
    // What the file calls invalid is more than 255 blocks, a precondition here.
    let ours = cases.filter { $0.size <= HKDF.maximumByteCount }
    for test in ours {
      let key = HKDF.derive(
        from: SecretBytes(test.ikm.bytes), salt: test.salt.bytes, info: test.info.bytes, byteCount: test.size)
      #expect((key.revealed == test.okm.bytes) == (test.result == .valid), "case \(test.tcId)")
    }
    VectorFiles.report("wycheproof HKDF-SHA256", applied: ours.count, of: cases.count)
  }

  struct MACGroup: Decodable {
    struct Case: Decodable {
      var tcId: Int
      var key: Hex
      var msg: Hex
      var tag: Hex
      var result: Verdict
    }
    var tagSize: Int
    var tests: [Case]
  }

  @Test(
    "HMAC",
    arguments: [
      ("hmac_sha1_test", HashAlgorithm.sha1), ("hmac_sha256_test", .sha256), ("hmac_sha512_test", .sha512),
    ])
  func hmac(file: String, algorithm: HashAlgorithm) throws {
    let groups = try WycheproofTests.groups(file, of: MACGroup.self)
    var applied = 0
    for group in groups {
      for test in group.tests {
        let code = KeyedHMAC(key: SecretBytes(test.key.bytes), algorithm: algorithm).code(for: test.msg.bytes)
        let isEqual = Array(code.prefix(group.tagSize / 8)) == test.tag.bytes
        #expect(isEqual == (test.result == .valid), "case \(test.tcId)")
        applied += 1
      }
    }
    VectorFiles.report("wycheproof \(file)", applied: applied, of: groups.flatMap(\.tests).count)
  }

  struct SignatureGroup: Decodable {
    struct Case: Decodable {
      var tcId: Int
      var msg: Hex
      var sig: Hex
      var result: Verdict
    }
    var publicKeyDer: Hex
    var tests: [Case]
  }

  @Test(
    "signatures",
    arguments: [
      ("ecdsa_secp256r1_sha256_test", SignatureScheme.ecdsaDER),
      ("ecdsa_secp256r1_sha256_p1363_test", .ecdsaRaw),
      ("ed25519_test", .ed25519),
      ("rsa_signature_2048_sha256_test", .rsaPKCS1),
      ("rsa_pss_2048_sha256_mgf1_32_test", .rsaPSS),
    ])
  func signatures(file: String, scheme: SignatureScheme) throws {
    let groups = try WycheproofTests.groups(file, of: SignatureGroup.self)
    var applied = 0
    for group in groups {
      let key = try VerifyingKey(spki: group.publicKeyDer.bytes)
      for test in group.tests where test.result != .acceptable {
        let verified = Result { () throws(CryptoError) in
          try key.verify(test.sig.bytes, of: test.msg.bytes, as: scheme)
        }
        switch (verified, test.result) {
        case (.success, .valid), (.failure(.signatureMismatch), .invalid): applied += 1
        default: Issue.record("case \(test.tcId) is \(test.result), we say \(verified)")
        }
      }
    }
    VectorFiles.report("wycheproof \(file)", applied: applied, of: groups.flatMap(\.tests).count)
  }
}
