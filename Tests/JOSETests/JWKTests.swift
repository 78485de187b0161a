import Foundation
import JOSE
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultTestKit

@Suite("JWK", .bounded)
struct JWKTests {
  private func key(_ text: String) throws(JOSEError) -> JWK { try JWK(SecretBytes(text)) }

  private func text(_ members: [String: String]) throws -> String {
    String(decoding: try JSONEncoder().encode(members), as: UTF8.self)
  }

  @Test("the thumbprints of RFC 7638 and RFC 9449 are ours", .requirement("D6"))
  func thumbprints() throws {
    let rsa = try Facts.read().thumbprint
    try expect(key(text(rsa.jwk)).thumbprint(), equals: rsa.thumbprint)
    try expect(key(text(rsa.jwk)).keyID, equals: "2011-04-29")
    let proof = try Facts.read().dpop
    try expect(key(text(proof.jwk)).thumbprint(), equals: proof.jkt)
    // Values of openssl: the digest of {"k":"…","kty":"oct"}, and of {"crv":"Ed25519","kty":"OKP","x":"…"} (RFC 8037 A.3).
    #expect(
      try key(#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#)
        .thumbprint()
        == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    let secret = try key(#"{"kty":"oct","k":"AAECAwQFBgcICQoLDA0ODw"}"#)
    let canonical = SHA256.hash(Array(#"{"k":"AAECAwQFBgcICQoLDA0ODw","kty":"oct"}"#.utf8))
    try expect(secret.thumbprint(), equals: Base64URL.text(canonical))
  }

  @Test("a key of each type is written, read back and has the same thumbprint", .requirement("D6"))
  func roundTrips() throws {
    for type in SigningKeyType.allCases {
      let mine = JWK(try SigningKey.forTest(type).publicKey, keyID: "k \"1\"")
      let back = try key(mine.text())
      guard case .publicKey(let a) = mine.material, case .publicKey(let b) = back.material else {
        Issue.record("no public key")
        continue
      }
      #expect(a == b && back.keyID == "k \"1\"")
      #expect(try mine.thumbprint() == back.thumbprint() && mine.thumbprint().count == 43)
    }
  }

  /// Verified to fail when words are compared as characters.
  @Test("a point that is not on its curve, or has another length, is refused", .requirement("D6"))
  func points() throws {
    var members = try Facts.read().dpop.jwk
    for (name, value) in [
      ("y", "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDB"), ("y", members["x"]!), ("x", "AA"),
      ("crv", "P-384"),
      ("x", "AAAA" + members["x"]!), ("crv", "secp256k1"), ("crv", "Ed25519"), ("kty", "RSA"), ("kty", "ec"),
    ] {
      var changed = members
      changed[name] = value
      #expect(throws: JOSEError.self, "\(name) \(value)") { _ = try key(text(changed)) }
    }
    // The sign of the kelvin, which `==` takes for a K.
    #expect(throws: JOSEError.self) {
      _ = try key(
        "{\"kty\":\"O\u{212A}P\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}")
    }
    members["y"] = nil
    expect(.missing("y")) { () throws(JOSEError) in _ = try key(try! text(members)) }
  }

  @Test("RSA keys that sign nothing are refused", .requirement("D6"))
  func rsa() throws {
    let good = try Facts.read().thumbprint.jwk
    for (name, value) in [
      ("e", "AQ"), ("e", "Ag"), ("e", "AAAB"), ("e", ""), ("e", "AQAAAAAAAAAB"), ("e", good["n"]!),
      ("n", String(good["n"]!.prefix(172))),
      ("n", "AAAB"),
      ("n", ""), ("n", "AAAA" + good["n"]!),
    ] {
      var changed = good
      changed[name] = value
      #expect(throws: JOSEError.self, "\(name) \(value)") { _ = try key(text(changed)) }
    }
  }

  /// Verified to fail when members of a private half are skipped like others.
  @Test("a key with its private half is refused, and the error has nothing of it", .requirement("D6"))
  func privateHalves() throws {
    for name in ["d", "p", "q", "dp", "dq", "qi", "oth"] {
      var members = try Facts.read().dpop.jwk
      members[name] = "c2VjcmV0LWNhbmFyeQ"
      #expect {
        _ = try key(text(members))
      } throws: {
        ($0 as? JOSEError)?.isRefusedKey == true && !"\($0)".contains("c2Vj")
      }
    }
  }

  @Test("a key, and a set of keys, has a limit", .requirement("D6"))
  func sizes() throws {
    let long = "{\"kty\":\"oct\",\"x5c\":\"\(String(repeating: "A", count: JOSE.longestToken))\"}"
    expect(.tooLong("the key", limit: JOSE.longestToken)) { () throws(JOSEError) in _ = try key(long) }
    let one = Array(repeating: "{\"kty\":\"oct\",\"k\":\"AA\"}", count: 65).joined(separator: ",")
    #expect(throws: JOSEError.self) { _ = try JWKSet(SecretBytes("{\"keys\":[\(one)]}")) }
  }

  @Test("a token brings no secret key along", .requirement("D6"))
  func secretInHeader() {
    let header = #"{"alg":"HS256","jwk":{"kty":"oct","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}}"#
    #expect {
      _ = try Token.read(Token.raw(header, "{}", [1]))
    } throws: {
      ($0 as? JOSEError)?.isRefusedKey == true
    }
  }

  @Test("a key for encryption, or for another algorithm, verifies nothing", .requirement("D6"))
  func uses() throws {
    let signer = try SigningKey.forTest(.p256)
    let token = try signer.signed(UnsignedJWS(.es256, payload: SecretBytes("x")))
    let plain = try JWK(signer.publicKey).text().dropLast()
    for more in [#","use":"enc""#, #","key_ops":["encrypt"]"#, #","alg":"ES384""#, #","alg":"es256""#] {
      expect(.keyMismatch) { () throws(JOSEError) in try key(plain + more + "}").verify(Token.read(token)) }
    }
    for more in ["", #","use":"sig""#, #","key_ops":["verify","sign"]"#, #","alg":"ES256","x5c":[]"#] {
      try key(plain + more + "}").verify(Token.read(token))
    }
  }
}
