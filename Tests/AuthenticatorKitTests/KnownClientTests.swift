import AuthenticatorKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Clients of servers that register nobody by themselves.
@Suite("Clients that are registered already", .bounded, .requirement("D2"))
struct KnownClientTests {
  private static let at = OAuthServer.issuer

  private static func new(_ name: String = "shop", _ way: ClientAuthentication = .clientSecretPost)
    -> NewClientRegistration
  {
    var new = OAuthScene.new(name, template: "id-7")
    new.authentication = way
    return new
  }

  private static func known(_ secret: String? = "canary-of-a-known-secret") -> KnownClient {
    KnownClient("id-7", secret: secret.map { SharedSecret(SecretBytes(testing: $0)) })
  }

  private static var endpoints: ServerEndpoints {
    var endpoints = ServerEndpoints(token: at + "/token")
    (endpoints.authorization, endpoints.revocation) = (at + "/authorize", at + "/revoke")
    return endpoints
  }

  /// Verified to fail when the secret is not stored.
  @Test("such a client is kept without a registration, and gets tokens")
  func kept() throws {
    let scene = try OAuthScene()
    let made = try scene.core.addClient(Self.new(), Self.known(), over: scene.server)
    #expect((made.isNew, made.client, made.issuer) == (true, "id-7", Self.at))
    expect(scene.server.operations, equals: [.oauthMetadata])
    _ = try scene.authorize(made.id)
    let form = try #require(scene.server.requests.last).form
    #expect(form["client_id"] == "id-7" && form["client_secret"] == "canary-of-a-known-secret")
    let again = try scene.core.addClient(Self.new(), Self.known(), over: scene.server)
    #expect((again.isNew, again.id) == (false, made.id))
    #expect(scene.bytes().range(of: Data("canary".utf8)) == nil)
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when the issuer is not compared.
  @Test("the issuer of its server is compared, as for a registration")
  func issuer() throws {
    let scene = try OAuthScene()
    var new = Self.new()
    new.server = "https://other.example"
    let known = Self.known()
    for endpoints in [nil, Self.endpoints] {
      expect(.network) { () throws(VaultError) in
        _ = try scene.core.addClient(new, known, at: endpoints, over: scene.server)
      }
    }
    #expect(try scene.core.clientRegistrations().isEmpty)
  }

  /// Verified to fail when the metadata is needed, and when a page of another kind counts as metadata.
  @Test(
    "the addresses of a server that does not describe itself are given",
    arguments: [(404, ""), (403, "{}"), (400, #"{"error":"x"}"#), (200, "<html>"), (302, "")]
      as [(UInt64, String)])
  func endpoints(status: UInt64, body: String) throws {
    let scene = try OAuthScene()
    scene.server.answer { request throws(VaultError) in
      request.operation == .oauthMetadata ? OAuthServer.Reply(status: status, body: body) : nil
    }
    let known = Self.known()
    let error = thrown { () throws(VaultError) in
      _ = try scene.core.addClient(Self.new(), known, over: scene.server)
    }
    #expect(error != nil && (status != 404 || error?.advice == .nameEndpoints))
    let made = try scene.core.addClient(Self.new(), known, at: Self.endpoints, over: scene.server)
    expect(made.issuer, equals: Self.at)
    _ = try scene.authorize(made.id)
    try scene.core.revokeTokens(of: made.id, over: scene.server)
    expect(scene.server.requests.last?.fields.text("url"), equals: Self.at + "/revoke")
  }

  /// Verified to fail when the given addresses win.
  @Test("where a server describes itself all the same, both must say the same")
  func agrees() throws {
    let scene = try OAuthScene()
    let known = Self.known()
    for change in [\ServerEndpoints.authorization, \.revocation, \.deviceAuthorization] {
      var endpoints = Self.endpoints
      endpoints[keyPath: change] = "https://evil.example/x"
      expect(.policy) { () throws(VaultError) in
        _ = try scene.core.addClient(Self.new(), known, at: endpoints, over: scene.server)
      }
    }
    let evil = ServerEndpoints(token: "https://evil.example/x")
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.addClient(Self.new(), known, at: evil, over: scene.server)
    }
    #expect(try scene.core.clientRegistrations().isEmpty)
    #expect(try scene.core.addClient(Self.new(), known, at: Self.endpoints, over: scene.server).isNew)
    // A server that is down has said nothing.
    scene.server.answer { _ throws(VaultError) in OAuthServer.Reply(status: 503, body: "") }
    expect(.network) { () throws(VaultError) in
      var other = Self.new("other")
      other.template = "id-8"
      _ = try scene.core.addClient(other, known, at: Self.endpoints, over: scene.server)
    }
  }

  @Test("what cannot be a client, a secret or an address is refused without a request")
  func malformed() throws {
    let scene = try OAuthScene()
    let cases: [(KnownClient, ClientAuthentication, VaultError.Code)] = [
      (KnownClient(""), .none, .malformed), (KnownClient("a\u{200B}"), .none, .malformed),
      (KnownClient(String(repeating: "c", count: 256)), .none, .malformed),
      (Self.known(nil), .clientSecretBasic, .malformed), (Self.known(), .none, .malformed),
      (Self.known(""), .clientSecretPost, .malformed), (Self.known("a\nb"), .clientSecretPost, .malformed),
      (Self.known(String(repeating: "s", count: 1025)), .clientSecretPost, .malformed),
      (Self.known("short"), .clientSecretJWT, .policy),
    ]
    for (known, way, code) in cases {
      expect(code) { () throws(VaultError) in
        _ = try scene.core.addClient(Self.new("shop", way), known, over: scene.server)
      }
    }
    for address in ["http://as.example/token", "https://as.example/token#x", "as.example", ""] {
      let endpoints = ServerEndpoints(token: address)
      expect(.malformed) { () throws(VaultError) in
        _ = try scene.core.addClient(Self.new(), Self.known(), at: endpoints, over: scene.server)
      }
    }
    #expect(scene.server.requests.isEmpty)
  }

  @Test("a public client and one with a key need no secret")
  func withoutSecret() throws {
    let scene = try OAuthScene()
    let open = try scene.core.addClient(Self.new("a", .none), KnownClient("id-1"), over: scene.server)
    _ = try scene.authorize(open.id)
    expect(scene.server.requests.last?.form["client_id"], equals: "id-1")
    var signed = Self.new("b", .privateKeyJWT)
    (signed.template, signed.key) = ("id-2", try scene.makeKey("auth"))
    let client = try scene.core.addClient(signed, KnownClient("id-2"), over: scene.server)
    _ = try scene.core.requestTokens(for: client.id, over: scene.server)
    #expect(scene.server.requests.last?.form["client_assertion"] != nil)
  }

  /// Verified to fail when the message has no way out.
  @Test("a server that registers nobody says what to do")
  func noRegistration() throws {
    let scene = try OAuthScene()
    scene.server.answer { _ throws(VaultError) in
      OAuthServer.Reply(
        body: #"{"issuer":"\#(OAuthServer.issuer)","token_endpoint":"\#(OAuthServer.issuer)/t"}"#)
    }
    let error = thrown { () throws(VaultError) in try scene.register() }
    #expect(error?.code == .unsupported && error?.advice == .giveClient)
  }
}
