import Foundation
import JOSE
import SecretMemory
import TestSupport
import Testing
import TextFormats
import VaultCrypto
import VaultTestKit

@Suite("DPoP proofs", .bounded, .requirement("D5"))
struct DPoPProofTests {
  private struct Claims: Decodable, Equatable {
    var jti: String?
    var htm: String
    var htu: String
    var iat: Int
    var ath: String?
    var nonce: String?
  }

  private static func claims(_ payload: borrowing SecretBytes) throws -> Claims {
    try JSONDecoder().decode(Claims.self, from: Data(payload.text.utf8))
  }

  private static let now: Int64 = 1_562_262_616

  @Test("the proof of RFC 9449 is read, and verified with the key that it brings along")
  func published() throws {
    let facts = try Facts.read().dpop
    let proof = try Token.read(facts.proof)
    #expect(proof.header.type == "dpop+jwt" && proof.header.algorithm == .es256)
    let key = try #require(proof.header.key)
    try expect(key.thumbprint(), equals: facts.jkt)
    try key.verify(proof)
    let claims = try Self.claims(proof.payload)
    #expect(claims.htm == "POST" && claims.htu == "https://server.example.com/token")
  }

  /// Verified to fail when `htu` keeps its query.
  @Test("a proof names key, method, address, token and nonce, and its key verifies it")
  func members() throws {
    let facts = try Facts.read().dpop
    for type in SigningKeyType.allCases {
      let key = try SigningKey.forTest(type)
      let proof = try DPoPProof(
        method: "GET", url: "HTTPS://API.Example:443/cards/7?secret=1#part", nonce: "n-0S6_WzA2Mj~",
        token: SecretBytes(facts.accessToken))
      let text = try key.signed(proof.unsigned(by: key.publicKey, at: Self.now, random: SystemRandom()))
      let read = try Token.read(text)
      expect(read.header.type, equals: "dpop+jwt")
      let shown = try #require(read.header.key)
      try expect(shown.thumbprint(), equals: JWK(key.publicKey).thumbprint())
      try shown.verify(read)
      var claims = try Self.claims(read.payload)
      try expect(Base64URL.bytes(claims.jti ?? "").count, equals: 16)
      claims.jti = nil
      expect(
        claims,
        equals: Claims(
          htm: "GET", htu: "https://api.example/cards/7", iat: 1_562_262_616, ath: facts.ath,
          nonce: "n-0S6_WzA2Mj~"))
      #expect(!text.contains(facts.accessToken) && !read.payload.text.contains(facts.accessToken))
    }
  }

  @Test("without a token and a nonce, a proof has neither")
  func least() throws {
    let key = try SigningKey.forTest(.p256)
    let proof = try DPoPProof(method: "POST", url: "https://a.example/token")
    let text = try key.signed(proof.unsigned(by: key.publicKey, at: Self.now, random: SystemRandom()))
    let claims = try Self.claims(Token.read(text).payload)
    #expect(claims.ath == nil && claims.nonce == nil)
  }

  @Test(
    "a nonce of 10 KiB, and one with other characters, is refused",
    arguments: [String(repeating: "n", count: 10 << 10), "", "a b", "a\"b", "a\\b", "a\nb", "é", "a\u{7F}"])
  func nonces(nonce: String) {
    #expect(throws: JOSEError.self) {
      _ = try DPoPProof(method: "POST", url: "https://a.example/token", nonce: nonce)
    }
  }

  @Test("a method is a word, and a token is not empty")
  func methods() throws {
    for method in ["", "P OST", "POST\n", "PÖST", String(repeating: "A", count: 33)] {
      #expect(throws: JOSEError.self) { _ = try DPoPProof(method: method, url: "https://a.example/") }
    }
    _ = try DPoPProof(method: "M-SEARCH", url: "https://a.example/")
    #expect(throws: JOSEError.self) {
      _ = try DPoPProof(method: "GET", url: "https://a.example/", token: SecretBytes(""))
    }
  }

  /// 10,000 proofs, or as many as `VAULT_JOSE_ROUNDS` says: 1,000,000 in the long form. Verified to fail when `jti` has 16
  /// random bits.
  @Test("no two proofs have one jti")
  func distinct() throws {
    let rounds = Files.rounds ?? 10_000
    let key = try SigningKey.forTest(.p256)
    let proof = try DPoPProof(method: "POST", url: "https://a.example/token")
    var seen: Set<String> = []
    for _ in 0..<rounds {
      let text = try key.signed(proof.unsigned(by: key.publicKey, at: Self.now, random: SystemRandom()))
      let part = try #require(text.split(separator: ".").dropFirst().first)
      let payload = String(decoding: try Base64URL.bytes(String(part)), as: UTF8.self)
      // {"jti":"22 characters","htm":…
      seen.insert(String(payload.dropFirst(8).prefix(22)))
    }
    expect(seen.count, equals: rounds)
    print("jti: \(seen.count) distinct of \(rounds) proofs")
  }

  @Test("proofs fail, rather than repeat, where the random generator fails")
  func noRandom() throws {
    let key = try SigningKey.forTest(.p256)
    #expect(throws: JOSEError.library(.randomUnavailable)) {
      let proof = try DPoPProof(method: "POST", url: "https://a.example/token")
      _ = try proof.unsigned(by: key.publicKey, at: Self.now, random: NoRandom())
    }
  }
}

private struct NoRandom: RandomSource {
  func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) { throw .randomUnavailable }
}

@Suite("The address in a proof", .bounded, .requirement("D5"))
struct HTTPTargetTests {
  /// Verified to fail when a port is compared as it is written.
  @Test(
    "has neither query nor fragment, and is normalized",
    arguments: [
      ("https://a.example/token?x=1", "https://a.example/token"),
      ("https://a.example/token#y", "https://a.example/token"),
      ("https://a.example?x=/y", "https://a.example/"), ("https://a.example#/?", "https://a.example/"),
      ("HTTP://A.Example:80/B%2fc", "http://a.example/B%2fc"), ("https://a:8443/", "https://a:8443/"),
      ("https://a:/x", "https://a/x"), ("https://[2001:DB8::1]:443/x", "https://[2001:db8::1]/x"),
      ("https://[::1]/x", "https://[::1]/x"), ("http://a.example:443/", "http://a.example:443/"),
      ("https://a.example/x:y@z?", "https://a.example/x:y@z"), ("https://a:0443/x", "https://a/x"),
      ("https://a:08443/x", "https://a:8443/x"), ("https://a/%7Ex?%23", "https://a/%7Ex"),
      ("https://127.0.0.1/~a;b=c,d/!$&'()*+", "https://127.0.0.1/~a;b=c,d/!$&'()*+"),
      ("https://a_b.example/?q=<%zz>", "https://a_b.example/"),
    ])
  func normal(url: String, expected: String) throws {
    try expect(HTTPTarget(url).text, equals: expected)
  }

  /// Verified to fail when host and path are not examined.
  @Test(
    "is refused if it is none, or has a name or a password",
    arguments: [
      "", "a.example/token", "ftp://a.example/", "https://", "https:///token", "https://user@a.example/",
      "https://user:word@a.example/", "https://a b/", "https://a\n/", "https://ä.example/", "https://a:port/",
      "https://a:123456/", "https://[::1/", "https://::1/", "https://a\\b/", "file:///etc/passwd",
      "https://a:65536/", "https://a%2fb/", "https://%61.example/", "https://[fe80::1%25lo]/",
      "https://a/b/../c", "https://a/./c", "https://a/b/%2E.", "https://a:443:443/", "https://[::1]b/",
      "https://[]/", "https://[garbage]/", "https://]/", "https://a\"b/", "https://a<b>/", "https://a,b/",
      "https://a/%zz", "https://a/%4", "https://a/%", "https://a/b\"c", "https://a/<b>", "https://a/[b]",
      "https://a/b|c",
      "https://a/" + String(repeating: "x", count: 2048),
    ])
  func refused(url: String) {
    #expect(throws: JOSEError.self) { _ = try HTTPTarget(url) }
  }
}

@Suite("Client assertions", .bounded, .requirement("D6"))
struct ClientAssertionTests {
  private static let now: Int64 = 1_700_000_000

  /// Verified to fail when `sub` is left out, and when `exp` is `iat` and 301 s.
  @Test("iss and sub are the client, the server is the audience, and it lives at most 300 s")
  func members() throws {
    for type in SigningKeyType.allCases {
      let key = try SigningKey.forTest(type)
      let assertion = try ClientAssertion(
        client: "shop", audience: "https://as.example", life: 300, keyID: "k1")
      let token = try Token.read(
        key.signed(assertion.unsigned(by: key.publicKey, at: Self.now, random: SystemRandom())))
      #expect(token.header.keyID == "k1" && token.header.type == "JWT" && token.header.key == nil)
      try token.verify(with: key.publicKey)
      let claims = try JWTClaims(token.payload)
      #expect(
        claims.issuer == "shop" && claims.subject == "shop" && claims.audience == ["https://as.example"])
      #expect(claims.issued == 1_700_000_000 && claims.expiry == 1_700_000_300)
      try expect(Base64URL.bytes(claims.id ?? "").count, equals: 16)
    }
  }

  @Test("with a secret that both have, it is HS256")
  func secret() throws {
    let key = try MACKey(SecretBytes(String(repeating: "s", count: 32)))
    let assertion = try ClientAssertion(client: "shop", audience: "https://as.example")
    let token = try Token.read(
      assertion.unsignedForSecret(at: Self.now, random: SystemRandom()).signed(with: key).text)
    #expect(token.header.algorithm == .hs256 && token.header.keyID == nil)
    try token.verify(with: key)
    try expect(JWTClaims(token.payload).expiry, equals: 1_700_000_060)
  }

  @Test("another life, and names that are empty or long, are refused")
  func refused() {
    for life in [0, -1, 301, .max] as [Int64] {
      #expect(throws: JOSEError.self) { _ = try ClientAssertion(client: "a", audience: "b", life: life) }
    }
    for (client, audience) in [("", "b"), ("a", ""), (String(repeating: "a", count: 1025), "b")] {
      #expect(throws: JOSEError.self) { _ = try ClientAssertion(client: client, audience: audience) }
    }
  }
}
