import JOSE
import SecretMemory
import TestSupport
import Testing
import TextFormats
import VaultCrypto
import VaultTestKit

@Suite("Compact JWS", .bounded)
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
      let key = try SigningKey.forTest(type)
      let other = try SigningKey.forTest(type.isRSA ? .rsa2048 : type, named: "other")
      let algorithm = JWSAlgorithm(of: key.publicKey)
      let text = try key.signed(UnsignedJWS(algorithm, payload: SecretBytes("a payload")))
      let jws = try Token.read(text)
      expect(jws.payload.text, equals: "a payload")
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

  /// Verified to fail when a public key verifies HS256 with its bytes, and when white space before a key hides it.
  @Test("HS256 is never checked with a public key", .requirement("D6"))
  func confusedKey() throws {
    for type in SigningKeyType.allCases {
      let key = try SigningKey.forTest(type)
      let forged = Token.hs256("{\"alg\":\"HS256\"}", "{\"sub\":\"root\"}", key: key.publicKey.spki)
      expect(.keyMismatch) { () throws(JOSEError) in try Token.read(forged).verify(with: key.publicKey) }
      expect(.keyMismatch) { () throws(JOSEError) in
        try JWK(key.publicKey).verify(Token.read(forged))
      }
      // Neither does the key come in as a secret.
      for secret in try [key.publicKey.spki, Array("-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQ\n".utf8)]
        + [Array("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBuD".utf8), Array(JWK(key.publicKey).text().utf8)]
        + Self.disguises(of: key.publicKey)
      {
        #expect {
          _ = try MACKey(SecretBytes(copying: secret))
        } throws: {
          ($0 as? JOSEError)?.isRefusedKey == true
        }
      }
    }
  }

  /// A public key as it may be in a file: after a mark of UTF-8, an empty line or remarks, and as base64 alone.
  private static func disguises(of key: VerifyingKey) throws -> [[UInt8]] {
    let base64 = Base64.text(key.spki)
    let pem = "-----BEGIN PUBLIC KEY-----\n\(base64)\n-----END PUBLIC KEY-----\n"
    return try [
      "\n\(pem)", "\u{FEFF}\(pem)", "Bag Attributes\n    friendlyName: shop\n\(pem)", base64, " \(base64)",
      "\r\n \(JWK(key).text())", "\u{FEFF}{\"keys\":[\(JWK(key).text())]}",
    ].map { Array($0.utf8) }
  }

  /// Verified to fail when a key that the header brings along verifies its token.
  @Test(
    "a token is verified with the key of the caller, whatever its header names or brings", .requirement("D6"))
  func namedKeys() throws {
    let mine = try SigningKey.forTest(.p256)
    let theirs = try SigningKey.forTest(.p256)
    let brought = try JWK(theirs.publicKey).text()
    let header =
      #"{"alg":"ES256","kid":"../../etc/passwd","jku":"https://evil.example/","x5u":"http://127.0.0.1:1/","#
      + #""x5c":["AAAA"],"jwk":\#(brought)}"#
    let input = "\(Token.coded(header)).\(Token.coded("{}"))"
    let forged = try theirs.sign(Array(input.utf8), as: .ecdsaRaw)
    let jws = try Token.read("\(input).\(Base64URL.text(forged))")
    expect(jws.header.keyID, equals: "../../etc/passwd")
    expect(.signatureMismatch) { () throws(JOSEError) in try jws.verify(with: mine.publicKey) }
    let good = try mine.sign(Array(input.utf8), as: .ecdsaRaw)
    try Token.read("\(input).\(Base64URL.text(good))").verify(with: mine.publicKey)
  }

  /// Verified to fail when a signature in DER is taken, too.
  @Test("a signature has the one form of its algorithm", .requirement("D6"))
  func signatureForms() throws {
    for type in SigningKeyType.allCases {
      let key = try SigningKey.forTest(type)
      let algorithm = JWSAlgorithm(of: key.publicKey)
      let input = "\(Token.coded("{\"alg\":\"\(algorithm.rawValue)\"}")).e30"
      let good = try key.sign(Array(input.utf8), as: #require(algorithm.scheme))
      var others = [
        [], good + [0], [0] + good, Array(good.dropLast()), [UInt8](repeating: 0, count: good.count),
      ]
      if type.isECDSA {
        let half = good.count / 2
        others += [
          try key.sign(Array(input.utf8), as: .ecdsaDER),
          [UInt8](repeating: 0, count: half) + good.suffix(half),
          good.prefix(half) + [UInt8](repeating: 0, count: half), [UInt8](repeating: 0xFF, count: good.count),
        ]
      }
      if type == .ed25519 { others.append(Self.addingOrder(to: good)) }
      if type.isRSA { others.append(try key.sign(Array(input.utf8), as: .rsaPSS)) }
      try Token.read("\(input).\(Base64URL.text(good))").verify(with: key.publicKey)
      for other in others {
        let jws = try Token.read("\(input).\(Base64URL.text(other))")
        expect(.signatureMismatch) { () throws(JOSEError) in try jws.verify(with: key.publicKey) }
      }
    }
  }

  /// The signature of Ed25519 with S + L in place of S, which has the same remainder (RFC 8032 §5.1.7).
  private static func addingOrder(to signature: [UInt8]) -> [UInt8] {
    let order: [UInt8] =
      [
        0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14,
      ] + [UInt8](repeating: 0, count: 15) + [0x10]
    var (sum, carry) = (signature, 0)
    for index in 0..<32 {
      carry += Int(sum[32 + index]) + Int(order[index])
      sum[32 + index] = UInt8(carry & 0xFF)
      carry >>= 8
    }
    return sum
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
