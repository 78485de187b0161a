import AuthenticatorKit
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What a server answers is compared with what was asked for.
@Suite("Answers of OAuth servers", .bounded, .requirement("D4"))
struct OAuthAnswerTests {
  private static let redirect = "https://shop.example/back"

  /// Verified to fail when a missing `iss` is as a right one.
  @Test(
    "a server that names itself in redirections must do so in each (RFC 9207)",
    arguments: [(nil, true), ("false", true), ("null", true), ("true", false)] as [(String?, Bool)])
  func issuer(announced: String?, isOptional: Bool) throws {
    let scene = try OAuthScene()
    scene.announce(announced)
    let client = try scene.register().id
    func finish(_ more: String) -> VaultError? {
      thrown { () throws(VaultError) in
        let request = try scene.core.beginAuthorization(for: client)
        let answer = "\(Self.redirect)?code=c&state=\(request.state)\(more)"
        _ = try scene.core.finishAuthorization(
          request, with: SharedSecret(SecretBytes(testing: answer)), over: scene.server)
      }
    }
    let count = scene.server.requests.count
    let missing = finish("")
    expect(missing?.code, equals: isOptional ? nil : .policy)
    expect(scene.server.requests.count, equals: isOptional ? count + 1 : count)
    expect(finish("&iss=https%3A%2F%2Fevil.example")?.code, equals: .policy)
    expect(finish("&iss=")?.code, equals: .policy)
    expect(finish("&iss=https%3A%2F%2Fas.example")?.code, equals: nil)
    // An error of somebody else is no error of the server.
    let refused = finish("&error=access_denied")
    #expect(refused?.message.contains("access_denied") == isOptional)
  }

  @Test("a member of the metadata that must be true or false is nothing else")
  func malformedMetadata() throws {
    for value in ["1", #""true""#, "[]", "{}"] {
      let scene = try OAuthScene()
      scene.announce(value)
      expect(.network) { () throws(VaultError) in try scene.register() }
      #expect(try scene.core.clientRegistrations().isEmpty)
    }
  }

  /// Verified to fail when a status of 200 is enough.
  @Test(
    "an answer with an error gives nothing, whatever its status and whatever else is in it",
    arguments: [#""invalid_grant""#, #""something_new""#, #""""#, "7", "[]"])
  func errors(error: String) throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let before = try scene.headers(client).authorization
    scene.server.answer { request throws(VaultError) in
      let tokens = OAuthServer.body(99, type: "Bearer", more: #","error":\#(error)}"#)
      let client = #"{"client_id":"c","client_secret":"s","error":\#(error)}"#
      switch request.operation {
      case .oauthToken: return OAuthServer.Reply(body: tokens)
      case .oauthRegister: return OAuthServer.Reply(status: 201, body: client)
      case .oauthRevoke: return OAuthServer.Reply(body: #"{"error":\#(error)}"#)
      default: return nil
      }
    }
    let (core, server) = (scene.core, scene.server)
    let refusals = [
      thrown { () throws(VaultError) in _ = try core.refreshTokens(of: client, over: server) },
      thrown { () throws(VaultError) in _ = try core.requestTokens(for: client, over: server) },
      thrown { () throws(VaultError) in _ = try scene.authorize(client) },
      thrown { () throws(VaultError) in try scene.register(OAuthScene.new("other", template: "t2")) },
      thrown { () throws(VaultError) in try core.revokeTokens(of: client, over: server) },
    ]
    for refusal in refusals {
      #expect(refusal?.message.contains("refuses") == true, "\(refusal?.message ?? "none")")
    }
    try expect(scene.headers(client).authorization, equals: before)
    try expect(core.clientRegistrations().count, equals: 1)
  }

  /// Verified to fail when the addresses are not compared.
  @Test(
    "a server that registers other redirections registers nothing",
    arguments: [
      (#"["https://evil.example/back"]"#, .policy),
      (#"["https://shop.example/back","https://evil.example/back"]"#, .policy), ("[]", .policy),
      (#"["https://shop.example/Back"]"#, .policy), (#""https://shop.example/back""#, .network),
      ("[7]", .network), (#"["https://shop.example/back"]"#, nil), ("null", nil),
    ] as [(String, VaultError.Code?)])
  func redirections(answer: String, code: VaultError.Code?) throws {
    let scene = try OAuthScene()
    scene.register(answering: #""redirect_uris":\#(answer)"#)
    let error = thrown { () throws(VaultError) in try scene.register() }
    expect(error?.code, equals: code)
    try expect(scene.core.clientRegistrations().isEmpty, equals: code != nil)
  }

  /// Verified to fail when the time is not looked at.
  @Test("a client secret that has expired already is not stored", arguments: [-1, 0, 1])
  func expiredSecret(secondsLeft: Int64) throws {
    let scene = try OAuthScene()
    let end = scene.clock.now().seconds + secondsLeft
    scene.register(answering: #""client_secret_expires_at":\#(end)"#)
    let error = thrown { () throws(VaultError) in try scene.register() }
    expect(error?.code, equals: secondsLeft > 0 ? nil : .policy)
    try expect(scene.core.clientRegistrations().isEmpty, equals: secondsLeft <= 0)
  }

  /// Verified to fail when the scope of the answer is not compared with the one that was asked for.
  @Test("a scope beyond the one that was asked for is named")
  func scopes() throws {
    let scene = try OAuthScene()
    var new = OAuthScene.new()
    new.scope = "orders"
    scene.register(answering: #""scope":"admin orders pay""#)
    let registered = try scene.register(new)
    expect(registered.unaskedScope, equals: "admin pay")
    try expect(scene.register(new).unaskedScope, equals: nil)
    for (asked, answered, more) in [
      ("orders", "orders", nil), ("orders read", "orders", nil), ("orders", "orders admin", "admin"),
      ("orders", "Orders", "Orders"), (nil, "admin", nil), ("orders", nil, nil),
    ] as [(String?, String?, String?)] {
      let scope = answered.map { #","scope":"\#($0)""# } ?? ""
      scene.server.answer { _ throws(VaultError) in
        OAuthServer.Reply(
          body: OAuthServer.body(7, type: "Bearer", more: #","refresh_token":"r"\#(scope)}"#))
      }
      let tokens = try scene.core.requestTokens(for: registered.id, scope: asked, over: scene.server)
      expect(tokens.unaskedScope, equals: more)
      try expect(scene.core.tokenSet(of: registered.id)?.unaskedScope, equals: nil)
    }
    scene.server.answer { _ throws(VaultError) in
      OAuthServer.Reply(body: OAuthServer.body(8, type: "Bearer", more: #","scope":"orders more"}"#))
    }
    try expect(scene.core.refreshTokens(of: registered.id, over: scene.server).unaskedScope, equals: "more")
  }
}

extension OAuthScene {
  /// Has the metadata say whether the server names itself in redirections.
  fileprivate func announce(_ value: String?) {
    guard let value else { return }
    let at = OAuthServer.issuer
    server.answer { request throws(VaultError) in
      guard request.operation == .oauthMetadata else { return nil }
      return OAuthServer.Reply(
        body: """
          {"issuer":"\(at)","token_endpoint":"\(at)/token","authorization_endpoint":"\(at)/authorize",
           "registration_endpoint":"\(at)/register","authorization_response_iss_parameter_supported":\(value)}
          """)
    }
  }

  /// Has registrations answered with one more member.
  fileprivate func register(answering member: String) {
    server.answer { request throws(VaultError) in
      guard request.operation == .oauthRegister else { return nil }
      return OAuthServer.Reply(status: 201, body: #"{"client_id":"c","client_secret":"s",\#(member)}"#)
    }
  }
}
