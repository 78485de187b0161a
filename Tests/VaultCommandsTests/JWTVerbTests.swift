import Foundation
import TestSupport
import Testing

@Suite("Tokens and proofs at the command line", .bounded, .requirement("D6"))
struct JWTVerbTests {
  private static let claims = #"{"iss":"shop","aud":["https://as.example","b"],"exp":4102444800,"jti":"t-1"}"#

  private func newTool(_ options: String...) throws -> Tool {
    let tool = try Tool()
    try expect(tool("init", "--no-passcode").exit, equals: 0)
    let run = try tool.run(["key", "generate", "shop"] + options)
    expect(run.exit, equals: 0, "\(run.errors)")
    return tool
  }

  private func sign(_ tool: Tool, _ claims: String = Self.claims, _ options: String...) throws -> Tool.Run {
    try tool.run(["jwt", "sign", "shop"] + options, input: Array(claims.utf8))
  }

  private func verify(_ tool: Tool, _ token: String, _ options: String...) throws -> Tool.Run {
    try tool.run(["jwt", "verify", "shop"] + options, input: Array(token.utf8))
  }

  /// The members of the header and of the payload.
  private func parts(_ token: String) throws -> (header: [String: Any], payload: [String: Any]) {
    let parts = try token.split(separator: ".").prefix(2).map { part in
      let text = part.replacing("-", with: "+").replacing("_", with: "/")
      let data = try #require(
        Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4)))
      return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
    return (parts[0], parts[1])
  }

  @Test(
    "a token of each type of key is verified, and its claims are printed",
    arguments: ["p256", "p384", "ed25519", "rsa2048"])
  func types(type: String) throws {
    let tool = try newTool("--type", type)
    let signed = try sign(tool, Self.claims, "--kid", "k1")
    #expect(signed.exit == 0 && signed.errors.isEmpty)
    let algorithms = ["p256": "ES256", "p384": "ES384", "ed25519": "EdDSA", "rsa2048": "RS256"]
    let header = try parts(signed.text).header
    #expect(header["alg"] as? String == algorithms[type] && header["kid"] as? String == "k1")
    #expect(header["typ"] as? String == "JWT" && header.count == 3)
    let verified = try verify(tool, signed.text, "--audience", "b", "--issuer", "shop", "--expect-jti", "t-1")
    #expect(verified.text == Self.claims && verified.errors.isEmpty)
    let json = try verify(tool, signed.text, "--json").json
    #expect(json["valid"] as? Bool == true && json["claims"] as? String == Self.claims)
  }

  /// Verified to fail when the expected names are not compared.
  @Test("each flaw of a token has its exit code")
  func flaws() throws {
    let tool = try newTool()
    let token = try sign(tool).text.trimmingCharacters(in: .newlines)
    try expect(verify(tool, token).exit, equals: 0)
    for (option, value) in [("--audience", "B"), ("--issuer", "Shop"), ("--expect-jti", "t-2")] {
      let run = try verify(tool, token, option, value)
      #expect(run.exit == 9 && run.text.isEmpty, "\(option): \(run.errors)")
    }
    let expired = try sign(tool, #"{"exp":1}"#)
    try expect(verify(tool, expired.text).exit, equals: 7)
    let other = try newTool()
    try expect(verify(other, token).exit, equals: 3)
    let none = "eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDB9."
    try expect(verify(tool, none).exit, equals: 3)
    for broken in [
      "", "a.b", token + ".x.y", token + "=", String(repeating: "A", count: 1 << 20) + ".e30.QQ",
    ] {
      let run = try verify(tool, broken)
      #expect(
        run.exit == 12 && run.text.isEmpty && run.errors.split(separator: "\n").count <= 2, "\(run.errors)")
    }
    try expect(verify(tool, try sign(tool, "{}").text).exit, equals: 12)
    let early = try sign(tool, #"{"exp":4102444800,"nbf":4102444700}"#)
    expect(9, try verify(tool, early.text), "not valid yet")
    expect(12, try verify(tool, try sign(tool, #"{"exp":4102444800}"#).text, "--expect-jti", "t-1"), "'jti'")
  }

  /// Verified to fail when the type is not compared.
  @Test("a token of another type is refused, unless its type is named (RFC 8725 §3.11)")
  func typ() throws {
    let tool = try newTool()
    for (made, expected, exit) in [
      ("JWT", nil, 0), ("jwt", nil, 0), ("application/jwt", nil, 0), ("dpop+jwt", nil, 9), ("at+jwt", nil, 9),
      ("at+jwt", "at+jwt", 0), ("application/at+jwt", "AT+JWT", 0), ("JWT", "at+jwt", 9), ("x/jwt", nil, 9),
      ("application/x/jwt", "x/jwt", 9),
    ] as [(String, String?, Int32)] {
      let token = try sign(tool, Self.claims, "--typ", made)
      let run = try tool.run(
        ["jwt", "verify", "shop"] + (expected.map { ["--typ", $0] } ?? []), input: Array(token.text.utf8))
      #expect(run.exit == exit && run.text.isEmpty == (exit != 0), "\(made): \(run.errors)")
      #expect(run.errors.contains("'typ'") == (exit != 0))
    }
  }

  /// Verified to fail when claims are printed as they are.
  @Test("hidden characters of claims are printed as escapes, which mean the same")
  func hiddenClaims() throws {
    let tool = try newTool()
    let claims = "{\"exp\":4102444800,\"sub\":\"a\u{9B}31m\u{202E}b\u{7F}\u{1F600}\u{E9}\u{E0041}\"}"
    let token = try sign(tool, claims)
    for options in [[], ["--json"]] {
      let run = try tool.run(["jwt", "verify", "shop"] + options, input: Array(token.text.utf8))
      #expect(!run.text.unicodeScalars.contains { ["\u{9B}", "\u{202E}", "\u{E0041}"].contains($0) })
      let text = options.isEmpty ? run.text : try #require(run.json["claims"] as? String)
      let read = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      expect(read?["sub"] as? String, equals: "a\u{9B}31m\u{202E}b\u{7F}\u{1F600}\u{E9}\u{E0041}")
    }
  }

  /// Verified to fail when the hint is the one for servers that answer with HS256.
  @Test("what this version does not have is 15, with the way out")
  func unsupported() throws {
    let tool = try newTool()
    for (header, hint) in [
      (#"{"alg":"ES256","crit":["b64"],"b64":false}"#, "leave out crit"),
      (#"{"alg":"ES512"}"#, "sign with ES256"),
    ] {
      let encoded = Data(header.utf8).base64EncodedString().replacing("=", with: "")
      expect(15, try verify(tool, encoded + ".e30.QQ"), hint)
    }
  }

  /// Verified to fail when an empty name is signed.
  @Test("the name and the type of a header are not empty")
  func emptyNames() throws {
    let tool = try newTool()
    expect(12, try sign(tool, Self.claims, "--kid", ""), "(kid)")
    expect(12, try sign(tool, Self.claims, "--typ", ""), "(typ)")
  }

  @Test(
    "claims that no reader takes are not signed",
    arguments: [
      "", "[]", "{", "{\"exp\":\"1\"}", "{\"exp\":1e300}", "{\"exp\":1,\"exp\":2}", "{\"aud\":7}", "{}{}",
    ])
  func refusedClaims(claims: String) throws {
    let tool = try newTool()
    let run = try sign(tool, claims)
    #expect(run.exit == 12 && run.text.isEmpty, "\(run.errors)")
    #expect(run.errors.contains("claim") && !run.errors.contains("token"), "\(run.errors)")
  }

  @Test("claims of more than 128 KiB are refused in words about their text, and those of 128 KiB are signed")
  func longClaims() throws {
    let tool = try newTool()
    let room = String(repeating: " ", count: (128 << 10) - 2)
    try expect(sign(tool, "{\(room)}").exit, equals: 0)
    expect(
      12, try sign(tool, "{ \(room)}"), "the text of the claims is too long, at most 128 KiB are allowed")
    expect(1, try tool("jwt", "sign", "nothing", input: [1]), "'vaultctl key list' shows the names")
    expect(
      12, try tool("jwt", "dpop", "shop", "--method", "(", "--url", "https://a.example"),
      "such as GET or POST")
  }

  /// Verified to fail when the query stays in `htu`.
  @Test("a proof names the request, the nonce and the hash of the token, and never the token")
  func proof() throws {
    let tool = try newTool()
    let url = "https://API.example:443/cards?pin=1#x"
    let run = try tool(
      "jwt", "dpop", "shop", "--method", "GET", "--url", url, "--nonce", "n-1", "--token-fd", "3", "--json",
      secrets: [3: "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU\n"])
    expect(run.exit, equals: 0, "\(run.errors)")
    let proof = try #require(try run.json["proof"] as? String)
    let (header, payload) = try parts(proof)
    #expect(header["typ"] as? String == "dpop+jwt" && header["alg"] as? String == "ES256")
    #expect((header["jwk"] as? [String: String])?["kty"] == "EC")
    #expect(payload["htm"] as? String == "GET" && payload["htu"] as? String == "https://api.example/cards")
    expect(payload["nonce"] as? String, equals: "n-1")
    expect(payload["ath"] as? String, equals: "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
    #expect((payload["jti"] as? String)?.count == 22 && payload["iat"] is Int)
    #expect((try run.json["thumbprint"] as? String)?.count == 43)
    #expect(try tool("jwt", "dpop", "shop", "--method", "GET", "--url", url).text != proof + "\n")
  }

  @Test("a long token is taken, and what is no request or no token is refused")
  func refusedProofs() throws {
    let tool = try newTool()
    let request = ["jwt", "dpop", "shop", "--method", "GET", "--url", "https://a.example/"]
    try expect(
      tool.run(request + ["--token-fd", "3"], secrets: [3: String(repeating: "t", count: 20_000)]).exit,
      equals: 0)
    for token in ["", "\n", "a\0b", String(repeating: "t", count: 70_000)] {
      try expect(tool.run(request + ["--token-fd", "3"], secrets: [3: token]).exit, equals: 12)
    }
    for words in [
      ["--method", "GET", "--url", "ftp://a"], ["--method", "G ET", "--url", "https://a/"],
      ["--method", "GET", "--url", "https://u:p@a/"],
      ["--method", "GET", "--url", "https://a/", "--nonce", String(repeating: "n", count: 10 << 10)],
    ] {
      let run = try tool.run(["jwt", "dpop", "shop"] + words)
      #expect(run.exit == 12 && run.text.isEmpty, "\(words): \(run.errors)")
    }
    try expect(tool("jwt", "dpop", "shop", "--method", "GET").exit, equals: 2)
    try expect(tool("jwt", "dpop", "nobody", "--method", "GET", "--url", "https://a/").exit, equals: 1)
  }
}
