import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What only describes tokens never costs them, and what arrives with tokens that cannot be used is revoked.
@Suite("Token answers as they come", .bounded, .requirement("D4"))
struct TokenAnswerTests {
  /// Members that describe the tokens, and the seconds and the scope that are believed of them.
  private static let described: [(String, UInt32?, String?)] = [
    (#""expires_in":"3599""#, 3599, "orders"), (#""expires_in":3600.0"#, 3600, "orders"),
    (#""expires_in":"3600.00""#, 3600, "orders"), (#""expires_in":4294967295"#, .max, "orders"),
    (#""expires_in":-1"#, nil, "orders"), (#""expires_in":"-1""#, nil, "orders"),
    (#""expires_in":3600.5"#, nil, "orders"), (#""expires_in":1e300"#, nil, "orders"),
    (#""expires_in":4294967296"#, nil, "orders"), (#""expires_in":"99999999999999999999""#, nil, "orders"),
    (#""expires_in":"soon""#, nil, "orders"), (#""expires_in":"""#, nil, "orders"),
    (#""expires_in":"1x""#, nil, "orders"), (#""expires_in":[1]"#, nil, "orders"),
    (#""expires_in":{"a":{"b":[]}}"#, nil, "orders"), (#""expires_in":true"#, nil, "orders"),
    (#""expires_in":null"#, nil, "orders"), (#""expires_in":007"#, nil, "orders"),
    (#""scope":["a","b"]"#, nil, "a b"), (#""scope":[]"#, nil, ""), (#""scope":"""#, nil, ""),
    (#""scope":7"#, nil, nil), (#""scope":{"a":1}"#, nil, nil), (#""scope":["a",7]"#, nil, nil),
    (#""scope":"a\u0000b""#, nil, nil), (#""scope":"\ud800""#, nil, nil), (#""scope":true"#, nil, nil),
    (#""scope":"\#(String(repeating: "s", count: 4097))""#, nil, nil), (#""scope":null"#, nil, "orders"),
    (#""id_token":7"#, nil, "orders"), (#""id_token":"""#, nil, "orders"),
    (#""id_token":{"a":"b"}"#, nil, "orders"),
    (#""id_token":"\udfff""#, nil, "orders"),
    (#""x":1,"x":2"#, nil, "orders"), (#""x":"\ud800""#, nil, "orders"),
    (#""x":{"a":1,"a":2}"#, nil, "orders"),
    (#""x":\#(String(repeating: "[", count: 500) + String(repeating: "]", count: 500))"#, nil, "orders"),
    (#""\#(String(repeating: "n", count: 2000))":"]}""#, nil, "orders"), (#""error":null"#, nil, "orders"),
  ]

  /// Verified to fail when one of these is read as the tokens are (31 of them on the code before).
  @Test("what only describes tokens, and is none of that, is as absent", arguments: described)
  func describes(member: String, seconds: UInt32?, scope: String?) throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let head = #"{"access_token":"at-9","token_type":"bEaReR","refresh_token":"rt-9","#
    for body in [head + member + "}", "{" + member + "," + head.dropFirst().dropLast() + "}"] {
      scene.server.answer { _ throws(VaultError) in OAuthServer.Reply(body: body) }
      let tokens = try scene.core.requestTokens(for: client, scope: "orders", over: scene.server)
      expect(
        tokens.expires, equals: seconds.map { scene.clock.now().advanced(byMilliseconds: Int64($0) * 1000) })
      expect(tokens.scope, equals: scope)
      #expect(tokens.canRefresh && !tokens.hasIDToken)
      try expect(scene.headers(client).authorization, equals: "Bearer at-9")
      // A rotated refresh token is the one that is used next.
      scene.server.answer { request throws(VaultError) in
        OAuthServer.Reply(body: OAuthServer.body(1, type: "Bearer") + "}")
      }
      _ = try scene.core.refreshTokens(of: client, over: scene.server)
      expect(scene.server.requests.last?.form["refresh_token"], equals: "rt-9")
    }
    #expect(!scene.server.operations.contains(.oauthRevoke))
  }

  /// Would fail when each of these costs the answer.
  @Test(
    "a byte order mark, a nonce that no proof can have and another status of success do not cost the tokens",
    arguments: [
      ("\u{FEFF}", "", 200), ("", "dpop-nonce: a\ndpop-nonce: b\n", 200), ("", "DPoP-Nonce: \n", 200),
      ("", "dpop-nonce: a\"b\n", 200), ("", "dpop-nonce: \(String(repeating: "n", count: 10_240))\n", 200),
      ("", "", 201), ("", "", 206),
    ] as [(String, String, UInt64)])
  func around(mark: String, headers: String, status: UInt64) throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    scene.server.answer { _ throws(VaultError) in
      OAuthServer.Reply(
        status: status, headers: headers, body: mark + #"{"access_token":"at-9","token_type":"Bearer"}"#)
    }
    _ = try scene.core.refreshTokens(of: client, over: scene.server)
    try expect(scene.headers(client).authorization, equals: "Bearer at-9")
  }

  /// Verified to fail when an empty refresh token is one.
  @Test(
    "a refresh token that is none is as absent, and one with any other text is kept as it is",
    arguments: [
      (#""""#, nil), ("7", nil), ("false", nil), ("null", nil), ("[\"a\"]", nil), (#""a b""#, "a b"),
      (#""\u00e9\n&=+""#, "\u{e9}\n&=+"),
    ] as [(String, String?)])
  func refreshTokens(given: String, kept: String?) throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    scene.server.answer { _ throws(VaultError) in
      OAuthServer.Reply(body: #"{"access_token":"at-9","token_type":"Bearer","refresh_token":\#(given)}"#)
    }
    _ = try scene.core.refreshTokens(of: client, over: scene.server)
    try expect(scene.headers(client).authorization, equals: "Bearer at-9")
    _ = try scene.core.refreshTokens(of: client, over: scene.server)
    expect(scene.server.requests.last?.form["refresh_token"], equals: kept ?? OAuthServer.refresh(2))
  }

  /// A server that rotates has ended the old refresh token. Would fail when the tokens in the answer are only dropped, and when
  /// only whole answers are looked at.
  @Test(
    "tokens that cannot be used are revoked, and no program sends the same again",
    arguments: [
      (#""access_token":"at-9","token_type":"mac","refresh_token":"rt-9""#, ["rt-9", "at-9"]),
      (#""access_token":"at-9","refresh_token":"rt-9""#, ["rt-9", "at-9"]),
      (#""access_token":"at-9","token_type":"DPoP","refresh_token":"rt-9""#, ["rt-9", "at-9"]),
      (#""token_type":"Bearer","refresh_token":"rt-9""#, ["rt-9"]),
      (#""access_token":7,"token_type":"Bearer","refresh_token":"rt-9""#, ["rt-9"]),
      (#""access_token":"at-9","access_token":"b","token_type":"Bearer","refresh_token":"rt-9""#, ["at-9"]),
      (#""refresh_token":"rt-9","access_token":"at-9","token_type":"Bearer"}{"#, ["rt-9", "at-9"]),
      (#""access_token":"at-9","token_type":"mac""#, ["at-9"]), (#""x":1"#, []), ("", []),
    ] as [(String, [String])])
  func unusable(members: String, revoked: [String]) throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let before = try scene.headers(client).authorization
    scene.server.answer { request throws(VaultError) in
      request.operation == .oauthToken ? OAuthServer.Reply(body: "{\(members)}") : nil
    }
    for isRefresh in [true, false] {
      let count = scene.server.requests.count
      let error = thrown { () throws(VaultError) in
        _ =
          try isRefresh
          ? scene.core.refreshTokens(of: client, over: scene.server)
          : scene.core.requestTokens(for: client, over: scene.server)
      }
      #expect(error?.code == .network && error?.recovery.condition == nil, "\(String(describing: error))")
      #expect(error?.message.contains("malformed") == true)
      // Without a new refresh token, the old one may work still, and would end with its access token.
      let expected = isRefresh && !revoked.contains("rt-9") ? [] : revoked
      let sent = scene.server.requests[(count + 1)...].map { $0.form["token"] ?? "" }
      expect(sent, equals: expected)
      let next: Hint = isRefresh && expected.isEmpty ? .refreshOnce : .requestTokens
      expect(error?.advice, equals: next)
    }
    try expect(scene.headers(client).authorization, equals: before)
  }

  /// Would fail when the tokens are dropped.
  @Test("unbound tokens for a request with a key are revoked")
  func unbound() throws {
    let scene = try OAuthScene()
    let (client, key) = (try scene.register().id, try scene.makeKey())
    scene.server.answer { request throws(VaultError) in
      guard request.operation == .oauthToken else { return nil }
      return OAuthServer.Reply(body: #"{"access_token":"at-9","token_type":"Bearer","refresh_token":"rt-9"}"#)
    }
    let error = thrown { () throws(VaultError) in
      _ = try scene.core.requestTokens(for: client, boundTo: key, over: scene.server)
    }
    #expect(error?.code == .policy && error?.message.contains("revoked the new ones") == true)
    expect(error?.advice, equals: .requestUnboundTokens)
    expect(scene.server.requests.suffix(2).map { $0.form["token"] }, equals: ["rt-9", "at-9"])
  }

  /// GitHub answers so. Would fail when a status of 200 is enough, and when a long text costs the word behind it.
  @Test(
    "an error in a success is that error",
    arguments: [
      (#"{"error":"bad_verification_code"}"#, .expired, "(bad_verification_code)"),
      (#"{"error":"incorrect_client_credentials","access_token":"a"}"#, .deviceUnknown, "(incorrect_client"),
      (#"{"error":"invalid_grant","error_description":"it \u001b is"}"#, .expired, "(invalid_grant)"),
      (
        #"{"error_description":"\#(String(repeating: "d", count: 600))","error":"invalid_grant"}"#, .expired,
        "(invalid_grant)"
      ),
      (#"{"error":"AADSTS70008"}"#, .peerFailed, "(AADSTS70008)"),
      (#"{"error":{"code":7}}"#, .peerFailed, "(status 200 of HTTP)"),
    ] as [(String, VaultError.Code, String)])
  func errors(body: String, code: VaultError.Code, words: String) throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    scene.server.answer { _ throws(VaultError) in OAuthServer.Reply(body: body) }
    let error = thrown { () throws(VaultError) in
      _ = try scene.core.refreshTokens(of: client, over: scene.server)
    }
    #expect(error?.code == code && error?.message.contains(words) == true, "\(String(describing: error))")
    #expect(error?.recovery.condition == nil)
    #expect(!scene.server.operations.contains(.oauthRevoke))
  }

  /// Verified to fail when `client_secret_expires_at` is read as the id is.
  @Test(
    "what only describes a registration does not cost it",
    arguments: [
      #""client_secret_expires_at":-1"#, #""client_secret_expires_at":1e300"#,
      #""client_secret_expires_at":"never""#,
      #""client_secret_expires_at":"0""#, #""scope":7"#, #""scope":["a"]"#, #""jwks":{"a":1,"a":2}"#,
    ])
  func registrations(member: String) throws {
    let scene = try OAuthScene()
    scene.server.answer { request throws(VaultError) in
      guard request.operation == .oauthRegister else { return nil }
      return OAuthServer.Reply(status: 201, body: #"{\#(member),"client_id":"c","client_secret":"a b"}"#)
    }
    #expect(try scene.register().isNew)
    _ = try scene.core.requestTokens(for: scene.register().id, over: scene.server)
  }

  /// Auth0 calls itself so. Would fail when the message says only that both differ.
  @Test("a server that calls itself by another address is named, with both addresses")
  func issuer() throws {
    let scene = try OAuthScene()
    var new = OAuthScene.new()
    new.server = "https://as.example/"
    let error = thrown { () throws(VaultError) in try scene.register(new) }
    expect(
      error?.message, equals: "the server calls itself https://as.example, and https://as.example/ was asked")
    #expect(error?.advice == .nameIssuer && error?.recovery.condition == nil)
  }
}
