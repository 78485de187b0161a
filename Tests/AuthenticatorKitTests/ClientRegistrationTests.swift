import AuthenticatorKit
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Client registrations", .bounded)
struct ClientRegistrationTests {
  @Test("a client is registered once, and again after it was deleted", .requirement("D2"))
  func once() throws {
    let scene = try OAuthScene()
    let made = try scene.register()
    #expect((made.isNew, made.client, made.issuer) == (true, "client-1", OAuthServer.issuer))
    let again = try scene.register()
    #expect((again.isNew, again.id, again.client) == (false, made.id, "client-1"))
    expect(scene.server.operations, equals: [.oauthMetadata, .oauthRegister])
    let request = scene.server.requests[1]
    expect(request.fields.text("url"), equals: "https://as.example/register")
    #expect(
      request.json["software_id"] as? String == "t1" && request.json["client_name"] as? String == "shop")
    expect(request.json["redirect_uris"] as? [String], equals: ["https://shop.example/back"])
    expect(request.json["grant_types"] as? [String], equals: ["authorization_code", "refresh_token"])
    _ = try scene.authorize(made.id)
    try scene.core.removeRegistration(made.id)
    #expect(try scene.core.items(matching: Query(.tokenSet)).isEmpty)
    try expect(scene.register().client, equals: "client-3")
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when the second commit adds its own registration, under a name of its own.
  @Test("of two processes that register at once, the first commit wins", .requirement("D2"))
  func race() throws {
    let scene = try OAuthScene()
    let other = try scene.place.openCore()
    let server = scene.server
    let isFirst = Once()
    server.answer { request throws(VaultError) in
      if request.operation == .oauthRegister, isFirst.take() {
        _ = try other.registerClient(OAuthScene.new(), over: server)
      }
      return nil
    }
    let slow = try scene.register()
    #expect((slow.isNew, slow.client) == (false, "client-1"))
    expect(server.operations.count { $0 == .oauthRegister }, equals: 2)
    try expect(scene.core.clientRegistrations().map(\.client), equals: ["client-1"])
    #expect(
      try scene.core.auditEntries().contains {
        $0.operation == .clientRegistered && $0.detail?.contains("client-2") == true
      })
  }

  @Test("another item of the name, and another name for the template, are refused without a request")
  func duplicates() throws {
    let scene = try OAuthScene()
    _ = try scene.core.add(NewItem(.genericPassword, name: "old"), secret: SecretBytes(testing: "x"))
    let made = try scene.register()
    for new in [
      OAuthScene.new("old"), OAuthScene.new("shop", template: "t2"), OAuthScene.new("other"),
    ] {
      expect(.duplicateItem) { () throws(VaultError) in try scene.register(new) }
    }
    expect(scene.server.requests.count, equals: 2)
    var elsewhere = OAuthScene.new("other")
    elsewhere.server = "https://other.example"
    // The document of another server than the one that was asked.
    expect(.network) { () throws(VaultError) in try scene.register(elsewhere) }
    try expect(scene.core.clientRegistrations().map(\.id), equals: [made.id])
  }

  @Test("the metadata of a server is found by its issuer and by its address", .requirement("D2"))
  func addresses() throws {
    for (server, document, issuer) in [
      ("https://a.example", "https://a.example/.well-known/oauth-authorization-server", "https://a.example"),
      (
        "https://a.example/x/y", "https://a.example/.well-known/oauth-authorization-server/x/y",
        "https://a.example/x/y"
      ),
      ("https://a.example/x/.well-known/openid-configuration", nil, "https://a.example/x"),
      ("https://a.example/.well-known/oauth-authorization-server/x", nil, "https://a.example/x"),
    ] {
      let scene = try OAuthScene()
      scene.server.answer { request throws(VaultError) in
        guard request.operation == .oauthMetadata else { return nil }
        return OAuthServer.Reply(
          body:
            #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/t","registration_endpoint":"\#(issuer)/r"}"#
        )
      }
      var new = OAuthScene.new()
      new.server = server
      try expect(scene.register(new).issuer, equals: issuer)
      #expect(scene.server.requests[0].fields.text("url") == document ?? server)
    }
    let scene = try OAuthScene()
    scene.server.answer { request throws(VaultError) in
      request.fields.text("url")?.hasSuffix("authorization-server") == true
        ? OAuthServer.Reply(status: 404, body: "") : nil
    }
    #expect(try scene.register().isNew)
    expect(
      scene.server.requests[1].fields.text("url"),
      equals: "https://as.example/.well-known/openid-configuration")
    for server in ["http://as.example", "https://as.example?x", "https://as.example#x", "as.example", ""] {
      var new = OAuthScene.new("bad")
      new.server = server
      expect(.malformed) { () throws(VaultError) in try scene.register(new) }
    }
  }

  /// Verified to fail without the check.
  @Test("a redirection has an absolute address without a fragment", .requirement("D2"))
  func redirections() throws {
    let scene = try OAuthScene()
    for redirect in [
      "foo", "", "/back", "//shop.example/back", "https://shop.example/back#x", "https:", "https:/back",
      "https://", "https://a b/", "http://shop.example:x/", "https://shop.example/<>", "1app:/back", ":/back",
      "app:", "app:/b\u{e9}", "app:/b\nc", "\u{212A}app:/b",
      "https://shop.example/" + String(repeating: "a", count: 2048),
    ] {
      var new = OAuthScene.new()
      new.redirect = redirect
      let error = thrown { () throws(VaultError) in try scene.register(new) }
      expect(error?.code, equals: .malformed, "\(redirect)")
    }
    #expect(scene.server.requests.isEmpty)
    for (index, redirect) in [
      "com.example.app:/cb", "http://127.0.0.1:8080/", "http://[::1]:9/", "https://shop.example/b%20k?a=b",
      "urn:ietf:wg:oauth:2.0:oob",
    ].enumerated() {
      var new = OAuthScene.new("c\(index)", template: "x\(index)")
      new.redirect = redirect
      #expect(try scene.register(new).isNew, "\(redirect)")
    }
  }

  @Test("an answer that cannot be meant stores nothing", .requirement("D2"))
  func malformed() throws {
    let good = #""client_id":"c","client_secret":"s-71c9","client_secret_expires_at":0"#
    let cases: [(String, VaultError.Code)] = [
      ("{}", .network), (#"{"client_id":"c"}"#, .network),
      (#"{"client_id":"","client_secret":"s"}"#, .network),
      (#"{"client_id":7,"client_secret":"s"}"#, .network), ("{\(good),\"client_id\":\"d\"}", .network),
      ("[\(good)]", .network), ("{\(good)} x", .network), ("", .network), ("{\(good)", .network),
      (#"{"client_id":"c","client_secret":"a\u0000b"}"#, .network),
      (#"{"client_id":"\#(String(repeating: "c", count: 256))","client_secret":"s"}"#, .network),
      ("{\(good),\"token_endpoint_auth_method\":\"none\"}", .policy),
      ("{\(good),\"x\":\(String(repeating: "[", count: 10_000))", .network),
    ]
    let scene = try OAuthScene()
    for (body, code) in cases {
      scene.server.answer { request throws(VaultError) in
        request.operation == .oauthRegister ? OAuthServer.Reply(status: 201, body: body) : nil
      }
      expect(code) { () throws(VaultError) in try scene.register() }
    }
    for (reply, code) in [
      (OAuthServer.Reply(status: 301, headers: "location: https://evil.example\n", body: ""), .peerFailed),
      (OAuthServer.Reply(status: 503, headers: "retry-after: 7\n", body: "busy"), .network),
      (.refusal("invalid_redirect_uri"), .policy), (.refusal("invalid_token", status: 401), .policy),
    ] as [(OAuthServer.Reply, VaultError.Code)] {
      scene.server.answer { request throws(VaultError) in
        request.operation == .oauthRegister ? reply : nil
      }
      let error = thrown { () throws(VaultError) in try scene.register() }
      #expect(error?.code == code && error?.retryAfter == (reply.status == 503 ? .seconds(7) : nil))
    }
    #expect(try scene.core.clientRegistrations().isEmpty)
  }

  @Test("a member that is null is as absent", .requirement("D2"))
  func nullMembers() throws {
    let scene = try OAuthScene()
    scene.server.answer { request throws(VaultError) in
      guard request.operation == .oauthRegister else { return nil }
      return OAuthServer.Reply(
        status: 201,
        body: """
          {"client_id":"c","client_secret":"s","client_secret_expires_at":null,
           "token_endpoint_auth_method":null,"jwks":null}
          """)
    }
    #expect(try scene.register().isNew)
  }

  @Test("the secret of a client is in the vault alone, and goes to its own transport alone")
  func secret() throws {
    let scene = try OAuthScene()
    let made = try scene.register()
    let bytes = scene.bytes()
    #expect(bytes.range(of: Data("canary-of-a-client-secret".utf8)) == nil)
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.secret(of: made.id)
    }
    let other = ScriptedTransport("/opt/other") { _ throws(VaultError) in
      throw VaultError(peer: "OTHER", "asked")
    }
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.requestTokens(for: made.id, over: other)
    }
    #expect(other.requests.isEmpty)
  }

  @Test("the secret of a client that has expired is not sent")
  func expiredSecret() throws {
    let scene = try OAuthScene()
    let end = scene.clock.now().seconds + 60
    scene.server.answer { request throws(VaultError) in
      guard request.operation == .oauthRegister else { return nil }
      return OAuthServer.Reply(
        body: #"{"client_id":"c","client_secret":"s-71c9","client_secret_expires_at":\#(end)}"#)
    }
    let made = try scene.register()
    scene.clock.advance(by: .seconds(59))
    _ = try scene.core.requestTokens(for: made.id, over: scene.server)
    scene.clock.advance(by: .seconds(1))
    let count = scene.server.requests.count
    expect(.expired) { () throws(VaultError) in
      _ = try scene.core.requestTokens(for: made.id, over: scene.server)
    }
    expect(scene.server.requests.count, equals: count)
  }

  @Test("each way to prove who the client is sends what it must, and no more", .requirement("D6"))
  func authentications() throws {
    for way in ClientAuthentication.allCases {
      let scene = try OAuthScene()
      var new = OAuthScene.new()
      new.authentication = way
      if way == .privateKeyJWT { new.key = try scene.makeKey("auth") }
      let made = try scene.register(new)
      expect(scene.server.requests[1].json["token_endpoint_auth_method"] as? String, equals: way.rawValue)
      #expect((scene.server.requests[1].json["jwks"] != nil) == (way == .privateKeyJWT))
      _ = try scene.core.requestTokens(for: made.id, over: scene.server)
      let request = try #require(scene.server.requests.last)
      let secret = "canary-of-a-client-secret-1-8f2b1c"
      let basic = "Basic " + Data("client-1:\(secret)".utf8).base64EncodedString()
      #expect(request.header("Authorization") == (way == .clientSecretBasic ? basic : nil))
      #expect(request.form["client_secret"] == (way == .clientSecretPost ? secret : nil))
      #expect(request.form["client_id"] == (way == .clientSecretBasic ? nil : "client-1"))
      let assertion = request.form["client_assertion"]
      #expect((assertion != nil) == [.clientSecretJWT, .privateKeyJWT].contains(way))
      guard let assertion else { continue }
      let (header, claims) = (OAuthServer.header(assertion), OAuthServer.claims(assertion))
      #expect(header["alg"] as? String == (way == .privateKeyJWT ? "ES256" : "HS256"))
      #expect(claims["iss"] as? String == "client-1" && claims["sub"] as? String == "client-1")
      expect(claims["aud"] as? String, equals: "https://as.example/token")
      #expect(request.form["client_assertion_type"]?.hasSuffix("jwt-bearer") == true)
    }
  }

  /// Verified to fail when both assertions are for the token endpoint.
  @Test("a server that wants an assertion for its revocation endpoint gets one", .requirement("D6"))
  func revocations() throws {
    for way in [ClientAuthentication.clientSecretJWT, .privateKeyJWT] {
      let scene = try OAuthScene()
      var new = OAuthScene.new()
      new.authentication = way
      if way == .privateKeyJWT { new.key = try scene.makeKey("auth") }
      let client = try scene.register(new).id
      _ = try scene.core.requestTokens(for: client, over: scene.server)
      scene.server.answer { request throws(VaultError) in
        Self.audience(request) == "https://as.example/revoke" ? nil : OAuthServer.Reply(status: 401, body: "")
      }
      let count = scene.server.requests.count
      try scene.core.revokeTokens(of: client, over: scene.server)
      let audiences = scene.server.requests[count...].map(Self.audience)
      expect(audiences, equals: ["https://as.example/token", "https://as.example/revoke"])
    }
  }

  private static func audience(_ request: TransportRequest) -> String? {
    request.form["client_assertion"].flatMap { OAuthServer.claims($0)["aud"] as? String }
  }
}
