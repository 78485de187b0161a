import AuthenticatorKit
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Token sets", .bounded)
struct TokenSetTests {
  @Test("a person's tokens are got with PKCE, used, refreshed and revoked", .requirement("D4"))
  func life() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    #expect(try scene.core.tokenSet(of: client) == nil)
    let request = try scene.core.beginAuthorization(for: client, scope: "orders cards")
    let query = try #require(URLComponents(string: request.url)?.queryItems).reduce(into: [:]) {
      $0[$1.name] = $1.value
    }
    #expect(request.url.hasPrefix("https://as.example/authorize?response_type=code&client_id=client-1&"))
    #expect(query["scope"] == "orders cards" && query["state"] == request.state && request.state.count == 22)
    #expect(query["code_challenge_method"] == "S256" && query["code_challenge"]?.count == 43)
    let tokens = try scene.core.finishAuthorization(
      request, with: OAuthScene.answer(to: request), over: scene.server)
    #expect(tokens.type == .bearer && tokens.canRefresh && tokens.hasIDToken && tokens.key == nil)
    expect(tokens.scope, equals: "orders cards")
    expect(tokens.expires, equals: scene.clock.now().advanced(byMilliseconds: 3_600_000))
    let sent = try #require(scene.server.requests.last).form
    #expect(sent["grant_type"] == "authorization_code" && sent["code"] == OAuthServer.code)
    #expect(sent["redirect_uri"] == "https://shop.example/back" && sent["code_verifier"]?.count == 43)
    try expect(scene.headers(client).authorization, equals: "Bearer " + OAuthServer.access(2))
    try expect(scene.core.idToken(of: client)?.bytesForTesting, equals: Array("i.d.2".utf8))
    let refreshed = try scene.core.refreshTokens(of: client, over: scene.server)
    #expect(refreshed.id == tokens.id && refreshed.scope == "orders cards")
    expect(scene.server.requests.last?.form["refresh_token"], equals: OAuthServer.refresh(2))
    try expect(scene.headers(client).authorization, equals: "Bearer " + OAuthServer.access(3))
    try scene.core.revokeTokens(of: client, over: scene.server)
    let revoked = scene.server.requests.suffix(2).map(\.form)
    expect(revoked.map { $0["token"] }, equals: [OAuthServer.refresh(3), OAuthServer.access(3)])
    expect(revoked.map { $0["token_type_hint"] }, equals: ["refresh_token", "access_token"])
    #expect(try scene.core.tokenSet(of: client) == nil)
    expect(.itemNotFound) { () throws(VaultError) in _ = try scene.headers(client) }
    try expect(scene.core.verify().problems, equals: [])
    #expect(scene.bytes().range(of: Data("canary".utf8)) == nil)
  }

  // MARK: Answers

  private static let badAnswers = [
    "", "[]", "{", "x", "{}", #"{"access_token":"a"}"#, #"{"token_type":"Bearer"}"#,
    #"{"access_token":"","token_type":"Bearer"}"#, #"{"access_token":"a b","token_type":"Bearer"}"#,
    #"{"access_token":"a\nb","token_type":"Bearer"}"#, #"{"access_token":7,"token_type":"Bearer"}"#,
    #"{"access_token":"a","token_type":"mac"}"#, #"{"access_token":"a","token_type":"DPoP"}"#,
    #"{"access_token":null,"token_type":"Bearer"}"#, #"{"access_token":"a","token_type":null}"#,
    #"{"access_token":"a","access_token":"b","token_type":"Bearer"}"#,
    #"{"access_token":"a","token_type":"Bearer"}{}"#,
    #"{"access_token":"\#(String(repeating: "a", count: 65_537))","token_type":"Bearer"}"#,
    #"{"access_token":"a","token_type":"Bearer","x":\#(String(repeating: "[", count: 10_000))"#,
  ]

  @Test("an answer that cannot be meant stores nothing", .requirement("D4"))
  func malformed() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let before = try scene.headers(client).authorization
    for body in Self.badAnswers {
      scene.server.answer { _ throws(VaultError) in OAuthServer.Reply(body: body) }
      expect(.network) { () throws(VaultError) in
        _ = try scene.core.refreshTokens(of: client, over: scene.server)
      }
    }
    try expect(scene.headers(client).authorization, equals: before)
    scene.server.answer { _ throws(VaultError) in
      OAuthServer.Reply(body: #"{"access_token":"a","token_type":"bEARER"}"#)
    }
    let last = try scene.core.refreshTokens(of: client, over: scene.server)
    #expect(last.expires == nil && !last.hasIDToken && last.canRefresh && last.scope == "orders")
  }

  /// Verified to fail when a member that is null is one of the wrong type.
  @Test("a member that is null is as absent", .requirement("D4"))
  func nullMembers() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    for (refresh, next) in [("null", OAuthServer.refresh(2)), (#""rt-new""#, "rt-new")] {
      let body =
        #"{"access_token":"a","token_type":"Bearer","refresh_token":\#(refresh),"scope":null,"id_token":null,"#
        + #""expires_in":null}"#
      scene.server.answer { _ throws(VaultError) in OAuthServer.Reply(body: body) }
      let tokens = try scene.core.refreshTokens(of: client, over: scene.server)
      #expect(tokens.scope == "orders" && tokens.expires == nil && !tokens.hasIDToken)
      _ = try scene.core.refreshTokens(of: client, over: scene.server)
      expect(scene.server.requests.last?.form["refresh_token"], equals: next)
    }
  }

  @Test("what the server refuses comes with its word and its way out", .requirement("D4"))
  func refusals() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    for (reply, code, words) in [
      (.refusal("invalid_grant"), .expired, "(invalid_grant): so it is"),
      (.refusal("invalid_client", status: 401), .deviceUnknown, "(invalid_client)"),
      (.refusal("unauthorized_client"), .policy, "(unauthorized_client)"),
      (.refusal("invalid_scope"), .policy, "(invalid_scope)"),
      (.refusal("invalid_dpop_proof", status: 403), .peerFailed, "(invalid_dpop_proof)"),
      (.refusal("use_dpop_nonce", headers: "dpop-nonce: n\n"), .peerFailed, "(use_dpop_nonce)"),
      (.refusal("something_new"), .peerFailed, "(something_new)"),
      (.refusal("temporarily_unavailable"), .network, "(temporarily_unavailable)"),
      (.refusal("Evil \\u001b[31m"), .peerFailed, "(status 400 of HTTP)"),
      (OAuthServer.Reply(status: 500, body: "<html>"), .network, "(status 500 of HTTP)"),
      (OAuthServer.Reply(status: 403, body: "{"), .peerFailed, "(status 403 of HTTP)"),
      (OAuthServer.Reply(status: 400, body: ""), .expired, "(status 400 of HTTP)"),
      (OAuthServer.Reply(status: 302, body: ""), .peerFailed, "redirects"),
    ] as [(OAuthServer.Reply, VaultError.Code, String)] {
      scene.server.answer { _ throws(VaultError) in reply }
      let error = thrown { () throws(VaultError) in
        _ = try scene.core.refreshTokens(of: client, over: scene.server)
      }
      #expect(error?.code == code && error?.message.contains(words) == true, "\(String(describing: error))")
      #expect(error?.hint != nil)
    }
    try expect(scene.headers(client).authorization, equals: "Bearer " + OAuthServer.access(2))
    scene.server.answer(nil)
    _ = try scene.core.refreshTokens(of: client, over: scene.server)
  }

  /// Verified to fail when the time that a server names is not the condition of its next try.
  @Test("a server that is busy says once when to try again", .requirement("D4", "D9"))
  func busy() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    for (headers, condition, hint) in [
      ("retry-after: 7\n", .after(.seconds(7)), nil), ("", .whenOnline, "try again later"),
    ] as [(String, RetryCondition, String?)] {
      scene.server.answer { _ throws(VaultError) in
        OAuthServer.Reply(status: 503, headers: headers, body: "")
      }
      let error = thrown { () throws(VaultError) in
        _ = try scene.core.requestTokens(for: client, over: scene.server)
      }
      expect(error?.recovery, equals: .retryable(condition))
      expect(error?.hint, equals: hint)
    }
  }

  @Test("without a refresh token nothing is sent", .requirement("D4"))
  func noRefreshToken() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    let tokens = try scene.core.requestTokens(for: client, scope: "jobs", over: scene.server)
    #expect(!tokens.canRefresh && scene.server.requests.last?.form["scope"] == "jobs")
    let count = scene.server.requests.count
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.refreshTokens(of: client, over: scene.server)
    }
    expect(scene.server.requests.count, equals: count)
  }

  @Test("an access token whose time is over is not handed out, whatever the clock says", .requirement("D4"))
  func expiry() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    scene.clock.advance(by: .seconds(3599))
    _ = try scene.headers(client)
    scene.clock.advance(by: .seconds(1))
    expect(.expired) { () throws(VaultError) in _ = try scene.headers(client) }
    _ = try scene.core.refreshTokens(of: client, over: scene.server)
    _ = try scene.headers(client)
  }

  // MARK: Several processes

  /// Verified to fail when the tokens that the server gave meanwhile are only dropped.
  @Test(
    "tokens that were revoked or deleted during a refresh do not come back, and the server revokes the new ones",
    .requirement("D4"), arguments: [true, false])
  func revokedMeanwhile(isDeleted: Bool) throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let other = try scene.place.openCore()
    let server = scene.server
    server.answer { request throws(VaultError) in
      guard request.operation == .oauthToken else { return nil }
      if isDeleted {
        try other.removeRegistration(client)
      } else {
        try other.revokeTokens(of: client, over: server)
      }
      return nil
    }
    let error = thrown { () throws(VaultError) in _ = try scene.core.refreshTokens(of: client, over: server) }
    #expect(error?.code == .wrongState && error?.message.contains("revoked the new ones") == true)
    let revoked = server.requests.suffix(2).map(\.form)
    expect(revoked.map { $0["token"] }, equals: [OAuthServer.refresh(3), OAuthServer.access(3)])
    #expect(try scene.core.items(matching: Query(.tokenSet)).isEmpty)
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when the tokens are only dropped.
  @Test(
    "tokens that arrive after their registration was deleted are revoked", .requirement("D4"),
    arguments: [true, false])
  func unregisteredMeanwhile(isOfPerson: Bool) throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    let other = try scene.place.openCore()
    let server = scene.server
    server.answer { request throws(VaultError) in
      if request.operation == .oauthToken { try other.removeRegistration(client) }
      return nil
    }
    let error = thrown { () throws(VaultError) in
      _ =
        try isOfPerson
        ? scene.authorize(client) : scene.core.requestTokens(for: client, over: server)
    }
    #expect(error?.code == .wrongState && error?.message.contains("revoked the new ones") == true)
    expect(server.operations.last, equals: .oauthRevoke)
    expect(server.requests.last?.form["token"], equals: OAuthServer.access(2))
    #expect(try scene.core.items(matching: Query(.tokenSet)).isEmpty)
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test("new tokens that the server does not revoke after such a refresh are reported", .requirement("D4"))
  func notRevokedMeanwhile() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let other = try scene.place.openCore()
    let server = scene.server
    server.answer { request throws(VaultError) in
      guard request.operation == .oauthToken else { return OAuthServer.Reply(status: 503, body: "") }
      server.answer { _ throws(VaultError) in OAuthServer.Reply(status: 503, body: "") }
      try other.removeRegistration(client)
      return OAuthServer.Reply(body: OAuthServer.body(9, type: "Bearer") + "}")
    }
    let error = thrown { () throws(VaultError) in _ = try scene.core.refreshTokens(of: client, over: server) }
    #expect(error?.code == .wrongState && error?.message.contains("did not revoke") == true)
    expect(server.operations.last, equals: .oauthRevoke)
  }

  /// Verified to fail when what a failed commit leaves behind is only dropped.
  @Test(
    "tokens that cannot be stored are revoked", .requirement("D4"),
    arguments: ["person", "client", "refresh"])
  func notStored(way: String) throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    if way == "refresh" { _ = try scene.authorize(client) }
    let (server, path) = (scene.server, scene.place.path)
    server.answer { request throws(VaultError) in
      // A vault whose file is gone cannot be written.
      if request.operation == .oauthToken { unsafe unlink(path) }
      return nil
    }
    let error = thrown { () throws(VaultError) in
      switch way {
      case "person": _ = try scene.authorize(client)
      case "client": _ = try scene.core.requestTokens(for: client, over: server)
      default: _ = try scene.core.refreshTokens(of: client, over: server)
      }
    }
    #expect(error?.message.contains("could not be stored") == true, "\(String(describing: error))")
    #expect(error?.message.contains("revoked the new ones") == true)
    expect(server.operations.last, equals: .oauthRevoke)
    expect(server.requests.last?.form["token"], equals: OAuthServer.access(way == "refresh" ? 3 : 2))
  }

  /// Verified to fail when the access token is revoked, with which a server may end the refresh token.
  @Test("a refresh token that stays valid is not revoked when nothing can be stored", .requirement("D4"))
  func notStoredNorRotated() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let (server, path) = (scene.server, scene.place.path)
    server.answer { _ throws(VaultError) in
      unsafe unlink(path)
      return OAuthServer.Reply(body: OAuthServer.body(9, type: "Bearer") + "}")
    }
    let error = thrown { () throws(VaultError) in _ = try scene.core.refreshTokens(of: client, over: server) }
    #expect(error != nil && !server.operations.contains(.oauthRevoke))
  }

  /// Verified to fail when the new tokens are revoked whatever is stored, and when only refresh tokens are compared.
  @Test(
    "a token that newer tokens have too is not revoked", .requirement("D4"),
    arguments: [(9, 9), (9, 8), (8, 9)])
  func sameToken(access: Int, refresh: Int) throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let server = scene.server
    func reply(_ access: Int, _ refresh: Int) -> OAuthServer.Reply {
      let token = #","refresh_token":"\#(OAuthServer.refresh(refresh))""#
      return OAuthServer.Reply(body: OAuthServer.body(access, type: "Bearer", more: token) + "}")
    }
    let (given, stored) = (reply(access, refresh), reply(9, 9))
    server.answer { request throws(VaultError) in
      server.answer { _ throws(VaultError) in stored }
      try scene.core.delete(Query(.tokenSet))
      _ = try scene.authorize(client)
      return given
    }
    let error = thrown { () throws(VaultError) in _ = try scene.core.refreshTokens(of: client, over: server) }
    #expect(error?.code == .wrongState && error?.message.contains("newer ones are stored") == true)
    #expect(!server.operations.contains(.oauthRevoke))
    try expect(scene.core.tokenSet(of: client)?.canRefresh, equals: true)
  }

  @Test("tokens that the server did not revoke stay, and so do newer ones", .requirement("D4"))
  func notRevoked() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    scene.server.answer { _ throws(VaultError) in OAuthServer.Reply(status: 503, body: "") }
    expect(.network) { () throws(VaultError) in try scene.core.revokeTokens(of: client, over: scene.server) }
    #expect(try scene.core.tokenSet(of: client) != nil)
    scene.server.answer { request throws(VaultError) in
      request.form["token_type_hint"] == "access_token" ? .refusal("unsupported_token_type") : nil
    }
    try scene.core.revokeTokens(of: client, over: scene.server)
    #expect(try scene.core.tokenSet(of: client) == nil)
    scene.server.answer(nil)
    _ = try scene.authorize(client)
    let (other, server) = (try scene.place.openCore(), scene.server)
    server.answer { request throws(VaultError) in
      if request.form["token_type_hint"] == "refresh_token" {
        _ = try other.refreshTokens(of: client, over: server)
      }
      return nil
    }
    expect(.wrongState) { () throws(VaultError) in try scene.core.revokeTokens(of: client, over: server) }
    #expect(try scene.core.tokenSet(of: client) != nil)
  }

  @Test("a locked vault sends nothing, and unlocks where it can", .requirement("D4"))
  func locked() throws {
    let scene = try OAuthScene(passcode: "1234 is long")
    let client = try scene.register().id
    _ = try scene.authorize(client)
    let count = scene.server.requests.count
    let other = try scene.place.openCore()
    expect(.locked) { () throws(VaultError) in _ = try scene.headers(client, in: other) }
    expect(.locked) { () throws(VaultError) in
      _ = try other.refreshTokens(of: client, over: scene.server)
    }
    expect(scene.server.requests.count, equals: count)
    // A set is in no backup, and no generic call reads it.
    let set = try #require(try scene.core.items(matching: Query(.tokenSet)).first)
    #expect(set.access.thisDeviceOnly && set.name == nil)
    expect(.policy) { () throws(VaultError) in _ = try scene.core.secret(of: set.id) }
  }
}
