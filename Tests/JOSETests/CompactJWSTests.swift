import JOSE
import SecretMemory
import TestSupport
import Testing
import TextFormats
import VaultCrypto

@Suite("Compact JWS")
struct CompactJWSTests {
  private static let key = Array("0123456789abcdef0123456789abcdef".utf8)

  private static func macKey() throws(JOSEError) -> MACKey { try MACKey(SecretBytes(copying: key)) }

  @Test("the example of RFC 7515 A.1 is read and verified, and fails with another byte", .requirement("D6"))
  func rfc7515() throws {
    let facts = try Facts.read().hs256
    let secret = try Base64URL.bytes(facts.keyJwkK)
    let jws = try Token.read(facts.jws)
    #expect(jws.header.algorithm == .hs256 && jws.header.type == "JWT")
    try jws.verify(with: MACKey(SecretBytes(copying: secret)))
    let claims = try JWTClaims(jws.payload)
    #expect(claims.issuer == "joe" && claims.expiry == 1_300_819_380)
    try claims.checkTimes(at: 1_300_819_379)
    expect(.expired) { () throws(JOSEError) in try claims.checkTimes(at: 1_300_819_380) }

    var other = secret
    other[5] ^= 1
    expect(.signatureMismatch) { () throws(JOSEError) in
      try jws.verify(with: try MACKey(SecretBytes(copying: other)))
    }
  }

  /// Verified to fail when the payload alone is verified.
  @Test("a token of each algorithm is verified by its key, and by no other", .requirement("D6"))
  func roundTrips() throws {
    for type in SigningKeyType.allCases {
      let key = try SigningKey.make(type)
      let other = try SigningKey.make(type)
      let algorithm = try JWSAlgorithm(of: key.publicKey)
      let text = try key.signed(UnsignedJWS(algorithm, payload: SecretBytes("a payload")))
      let jws = try Token.read(text)
      #expect(jws.payload.text == "a payload")
      try jws.verify(with: key.publicKey)
      expect(.signatureMismatch) { () throws(JOSEError) in try jws.verify(with: other.publicKey) }
      expect(.keyMismatch) { () throws(JOSEError) in try jws.verify(with: Self.macKey()) }
    }
    let text = try UnsignedJWS(.hs256, payload: SecretBytes("a payload")).signed(with: Self.macKey()).text
    try Token.read(text).verify(with: Self.macKey())
  }

  @Test("each changed character makes a token that is refused", .requirement("D6"))
  func altered() throws {
    let token = try UnsignedJWS(.hs256) { Field("exp", 12) }.signed(with: Self.macKey()).text
    for index in token.indices {
      var changed = token
      changed.replaceSubrange(index...index, with: token[index] == "A" ? "B" : "A")
      #expect(throws: JOSEError.self) { try Token.read(changed).verify(with: Self.macKey()) }
    }
  }

  /// Verified to fail when `none` is one of the unknown algorithms, and only in lower case.
  @Test(
    "the algorithm none is refused in every spelling, with and without a signature", .requirement("D6"),
    arguments: ["none", "None", "NONE", "nOnE"])
  func unsecured(name: String) {
    for signature in [[], [1, 2, 3]] as [[UInt8]] {
      expect(.unsecured) { () throws(JOSEError) in
        _ = try Token.read(Token.raw("{\"alg\":\"\(name)\"}", "{}", signature))
      }
    }
  }

  /// Verified to fail when a public key verifies HS256 with its bytes.
  @Test("HS256 is never checked with a public key", .requirement("D6"))
  func confusedKey() throws {
    for type in SigningKeyType.allCases {
      let key = try SigningKey.make(type)
      let forged = Token.hs256("{\"alg\":\"HS256\"}", "{\"sub\":\"root\"}", key: key.publicKey.spki)
      expect(.keyMismatch) { () throws(JOSEError) in try Token.read(forged).verify(with: key.publicKey) }
      expect(.keyMismatch) { () throws(JOSEError) in
        try JWK(key.publicKey).verify(Token.read(forged))
      }
      // Neither does the key come in as a secret.
      for secret in [key.publicKey.spki, Array("-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQ\n".utf8)]
        + [Array("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBuD".utf8), Array(try JWK(key.publicKey).text().utf8)]
      {
        #expect {
          _ = try MACKey(SecretBytes(copying: secret))
        } throws: {
          ($0 as? JOSEError)?.isRefusedKey == true
        }
      }
    }
  }

  @Test("a key of HS256 has 32 bytes or more", .requirement("D6"))
  func shortKeys() throws {
    for count in [0, 1, 16, 31] {
      #expect(throws: JOSEError.self) { _ = try MACKey(SecretBytes(zeroes: count)) }
    }
    for count in [32, 64, 65, 200] { _ = try MACKey(SecretBytes(zeroes: count)) }
  }

  /// Verified to fail when the first three parts are read, whatever follows.
  @Test("a token has two dots", .requirement("D6"), arguments: [0, 1, 3, 4, 5, 100])
  func dots(count: Int) throws {
    let parts = [Token.coded("{\"alg\":\"HS256\"}")] + Array(repeating: "QQ", count: count)
    #expect {
      _ = try Token.read(parts.joined(separator: "."))
    } throws: {
      ($0 as? JOSEError)?.isMalformed == true
    }
  }

  @Test("a header of 1 MiB, and a token of 1 MiB, are refused before they are decoded", .requirement("D6"))
  func sizes() throws {
    let long = String(repeating: "A", count: 1 << 20)
    expect(.tooLong("the token", limit: JOSE.longestToken)) { () throws(JOSEError) in
      _ = try Token.read("\(long).QQ.QQ")
    }
    let longish = String(repeating: "!", count: JOSE.longestHeader + 1)
    expect(.tooLong("the header", limit: JOSE.longestHeader)) { () throws(JOSEError) in
      _ = try Token.read("\(longish).QQ.QQ")
    }
    _ = try Token.read("\(Token.coded("{\"alg\":\"HS256\"}")).\(long.prefix(200_000)).QQ")
  }

  @Test(
    "a header that must be understood, and is not, is refused", .requirement("D6"),
    arguments: [
      #""crit":["exp"]"#, #""crit":[]"#, #""crit":"b64""#, #""b64":false,"crit":["b64"]"#, #""b64":false"#,
      #""b64":true"#, #""zip":"DEF""#,
    ])
  func critical(member: String) {
    expect(.criticalHeader) { () throws(JOSEError) in
      _ = try Token.read(Token.raw("{\"alg\":\"HS256\",\(member)}", "{}", [1]))
    }
  }

  @Test("an algorithm that is not ours is refused as such", .requirement("D6"))
  func unknown() {
    for name in ["RS512", "PS256", "ES256K", "HS384", "hs256", "ES521", "RSA1_5", "", "HS256 "] {
      expect(.unsupportedAlgorithm) { () throws(JOSEError) in
        _ = try Token.read(Token.raw("{\"alg\":\"\(name)\"}", "{}", [1]))
      }
    }
  }

  static let brokenHeaders: [String] = [
    "", "{", "[]", "\"HS256\"", "null", "{\"alg\":null}", "{\"alg\":[\"HS256\"]}", "{\"alg\":\"HS256\"} {}",
    "{\"alg\":\"HS256\",}", "{\"alg\":\"HS256\",\"alg\":\"HS256\"}", "{\"alg\":\"none\",\"alg\":\"HS256\"}",
    "{\"alg\":\"HS256\",\"a\\u006cg\":\"none\"}", "{\"alg\":\"HS256\",\"x\":{\"a\":1,\"a\":2}}",
    "{\"alg\":\"HS256\",\"typ\":7}", "{\"alg\":\"HS256\",\"kid\":{}}", "\u{FEFF}{\"alg\":\"HS256\"}",
    "{\"alg\":\"HS256\",\"x\":01}", "{\"alg\":\"HS256\",\"x\":NaN}", "{'alg':'HS256'}",
    "{\"alg\":\"HS256\",\"x\":" + String(repeating: "[", count: 10_000) + "}",
    "{\"alg\":\"HS256\",\"x\":" + String(repeating: "{\"a\":", count: 2_000) + "1}",
    "{\"alg\":\"HS256\",\"x\":\"\\ud800\"}", "{\"alg\":\"HS256\",\"x\":\"a\nb\"}",
  ]

  /// Verified to fail when a second member of one name replaces the first.
  @Test("a header that is not one object of JSON is refused", .requirement("D6"), arguments: brokenHeaders)
  func brokenHeader(header: String) {
    #expect {
      _ = try Token.read(Token.raw(header, "{}", [1]))
    } throws: { error in
      guard let error = error as? JOSEError, !error.message.contains("\n") else { return false }
      return error.isMalformed || error == .missing("alg")
    }
  }

  @Test("a header without an algorithm is refused, and bytes that are not UTF-8", .requirement("D6"))
  func noAlgorithm() throws {
    expect(.missing("alg")) { () throws(JOSEError) in _ = try Token.read(Token.raw("{}", "{}", [1])) }
    let bytes = Base64URL.text(Array("{\"alg\":\"HS256\",\"x\":\"".utf8) + [0xC0, 0x80] + Array("\"}".utf8))
    #expect(throws: JOSEError.self) { _ = try Token.read("\(bytes).e30.QQ") }
  }

  @Test("no error has a word of the token", .requirement("D6"))
  func errors() {
    let canary = "canary-\u{1B}[31m-4711"
    for header in [
      "{\"alg\":\"\(canary)\"}", "{\"alg\":\"HS256\",\"\(canary)\":1,\"\(canary)\":2}",
      "{\"alg\":\"HS256\",\"kid\":\"\(canary)", "{\"alg\":\"HS256\",\"\(canary)\":\(canary)}",
    ] {
      #expect {
        _ = try Token.read(Token.raw(header, "{}", [1]))
      } throws: {
        !"\($0) \(($0 as? JOSEError)?.message ?? canary)".contains("4711")
      }
    }
  }
}
