import AuthenticatorKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Tokens that are bound to a key", .bounded)
struct BoundTokenTests {
  @Test("a bound token is sent with a proof of its key, for one request each", .requirement("D4", "D5"))
  func bound() throws {
    let scene = try OAuthScene()
    let (client, key) = (try scene.register().id, try scene.makeKey())
    let tokens = try scene.authorize(client, key: key)
    #expect(tokens.type == .dpop && tokens.key == key)
    let asked = try #require(scene.server.requests.last)
    #expect(
      asked.proof["htm"] as? String == "POST" && asked.proof["htu"] as? String == "https://as.example/token")
    #expect(asked.proof["ath"] == nil)
    let one = try scene.headers(client, url: "https://api.example/orders?page=2#top")
    let two = try scene.headers(client, url: "https://api.example/orders")
    #expect(one.authorization == "DPoP " + OAuthServer.access(2) && one.authorization == two.authorization)
    let proof = try #require(one.proof)
    let claims = OAuthServer.claims(proof)
    #expect(claims["htm"] as? String == "GET" && claims["htu"] as? String == "https://api.example/orders")
    #expect((claims["ath"] as? String)?.count == 43)
    #expect(claims["jti"] as? String != OAuthServer.claims(two.proof ?? "")["jti"] as? String)
    _ = try scene.core.refreshTokens(of: client, over: scene.server)
    #expect(scene.server.requests.last?.header("DPoP") != nil)
    try expect(scene.headers(client).authorization, equals: "DPoP " + OAuthServer.access(3))
    try scene.core.writing { transaction throws(VaultError) in try transaction.delete(key) }
    expect(.itemNotFound) { () throws(VaultError) in _ = try scene.headers(client) }
  }

  /// Verified to fail when the nonce of an answer is not stored with the tokens.
  @Test("a nonce is answered once, and remembered for its origin", .requirement("D4", "D5"))
  func nonces() throws {
    let scene = try OAuthScene()
    let (client, key) = (try scene.register().id, try scene.makeKey())
    scene.server.answer { request throws(VaultError) in
      guard request.operation == .oauthToken, request.proof["nonce"] as? String != "n-1" else { return nil }
      return .refusal("use_dpop_nonce", headers: "Date: x\nDPoP-Nonce: n-1\n")
    }
    _ = try scene.authorize(client, key: key)
    let proofs = scene.server.requests.suffix(2).map(\.proof)
    #expect(proofs[0]["nonce"] == nil && proofs[1]["nonce"] as? String == "n-1")
    #expect(proofs[0]["jti"] as? String != proofs[1]["jti"] as? String)
    // The next process knows it, and gets another one with its tokens.
    scene.server.answer { request throws(VaultError) in
      var body = OAuthServer.body(7, type: "DPoP") + "}"
      if request.proof["nonce"] as? String != "n-1" { body = "no nonce" }
      return OAuthServer.Reply(headers: "dpop-nonce: n-2\n", body: body)
    }
    _ = try scene.place.openCore().refreshTokens(of: client, over: scene.server)
    scene.server.answer(nil)
    _ = try scene.place.openCore().requestTokens(for: client, boundTo: key, over: scene.server)
    expect(scene.server.requests.last?.proof["nonce"] as? String, equals: "n-2")
    // Other origins have their own.
    func nonce(_ url: String, given: String? = nil) throws -> String? {
      let proof = try scene.headers(client, url: url, nonce: given).proof
      return OAuthServer.claims(proof ?? "")["nonce"] as? String
    }
    #expect(try nonce("https://api.example/a") == nil)
    try expect(nonce("https://API.example:443/a", given: "api-1"), equals: "api-1")
    #expect(try nonce("https://api.example/b") == "api-1" && nonce("https://as.example/x") == "n-2")
    for bad in ["", "a\"b", "a b", String(repeating: "n", count: 1025)] {
      expect(.malformed) { () throws(VaultError) in _ = try scene.headers(client, nonce: bad) }
    }
    for index in 0..<20 { _ = try nonce("https://h\(index).example/", given: "h-\(index)") }
    #expect(try nonce("https://h19.example/") == "h-19" && nonce("https://api.example/b") == nil)
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when a request stores all nonces as they were before it.
  @Test(
    "nonces that another process notes during a request stay", .requirement("D4"),
    arguments: [200, 400] as [UInt64],
    ["", "dpop-nonce: n-2\n"])
  func noncesMeanwhile(status: UInt64, headers: String) throws {
    let scene = try OAuthScene()
    let (client, key) = (try scene.register().id, try scene.makeKey())
    _ = try scene.authorize(client, key: key)
    let (api, token) = ("https://api.example/a", "https://as.example/token")
    for url in [api, token] { _ = try scene.headers(client, url: url, nonce: "old") }
    let other = try scene.place.openCore()
    scene.server.answer { request throws(VaultError) in
      for url in [api, token] { _ = try scene.headers(client, url: url, nonce: "new", in: other) }
      let body = status == 200 ? OAuthServer.body(7, type: "DPoP") + "}" : #"{"error":"invalid_grant"}"#
      return OAuthServer.Reply(status: status, headers: headers, body: body)
    }
    let error = thrown { () throws(VaultError) in
      _ = try scene.core.refreshTokens(of: client, over: scene.server)
    }
    expect(error?.code, equals: status == 200 ? nil : .expired)
    for (url, nonce) in [(api, "new"), (token, headers.isEmpty ? "new" : "n-2")] {
      let proof = try scene.headers(client, url: url).proof
      expect(OAuthServer.claims(proof ?? "")["nonce"] as? String, equals: nonce, "\(url)")
    }
  }

  /// Verified to fail when an unbound set looks at neither.
  @Test("method and nonce of a request are examined and remembered without a proof, too", .requirement("D5"))
  func unbound() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    _ = try scene.authorize(client)
    expect(.malformed) { () throws(VaultError) in
      _ = try scene.core.authorization(for: client, method: "G T", url: "https://api.example/")
    }
    expect(.malformed) { () throws(VaultError) in _ = try scene.headers(client, nonce: "a\"b") }
    #expect(try scene.headers(client, nonce: "api-1").proof == nil)
    _ = try scene.authorize(client, key: scene.makeKey())
    let proof = try #require(try scene.headers(client).proof)
    expect(OAuthServer.claims(proof)["nonce"] as? String, equals: "api-1")
  }

  @Test("a second demand for a nonce ends the request, and the next one begins with it", .requirement("D4"))
  func secondNonce() throws {
    let scene = try OAuthScene()
    let (client, key) = (try scene.register().id, try scene.makeKey())
    scene.server.answer { request throws(VaultError) in
      .refusal("use_dpop_nonce", headers: "dpop-nonce: n-\(request.id.prefix(4))\n")
    }
    let count = scene.server.requests.count
    expect(.peerFailed) { () throws(VaultError) in
      _ = try scene.core.requestTokens(for: client, boundTo: key, over: scene.server)
    }
    expect(scene.server.requests.count, equals: count + 2)
    let last = try #require(scene.server.requests.last)
    scene.server.answer(nil)
    _ = try scene.core.requestTokens(for: client, boundTo: key, over: scene.server)
    expect(scene.server.requests.last?.proof["nonce"] as? String, equals: "n-\(last.id.prefix(4))")
    // Without a proof there is nothing to put a nonce into.
    scene.server.answer { _ throws(VaultError) in .refusal("use_dpop_nonce", headers: "dpop-nonce: n\n") }
    let before = scene.server.requests.count
    expect(.peerFailed) { () throws(VaultError) in
      _ = try scene.core.requestTokens(for: client, over: scene.server)
    }
    expect(scene.server.requests.count, equals: before + 1)
  }

  @Test(
    "server and client have four ways to agree on a binding, and two of them give tokens", .requirement("D5"))
  func table() throws {
    for (binds, proves, code) in [
      (true, true, nil), (false, false, nil), (false, true, .policy), (true, false, .peerFailed),
    ] as [(Bool, Bool, VaultError.Code?)] {
      let scene = try OAuthScene()
      let (client, key) = (try scene.register().id, try scene.makeKey())
      scene.server.answer { request throws(VaultError) in
        guard request.operation == .oauthToken else { return nil }
        if binds, request.header("DPoP") == nil { return .refusal("invalid_dpop_proof") }
        return OAuthServer.Reply(body: OAuthServer.body(1, type: binds ? "DPoP" : "Bearer") + "}")
      }
      let error = thrown { () throws(VaultError) in
        _ = try scene.core.requestTokens(for: client, boundTo: proves ? key : nil, over: scene.server)
      }
      expect(error?.code, equals: code)
      if let error, binds { #expect(error.message.contains("invalid_dpop_proof")) }
      #expect(try (scene.core.tokenSet(of: client) == nil) == (code != nil))
    }
  }

  /// Verified to fail when a Bearer answer to a proof is stored.
  @Test("a refresh of a bound set never becomes unbound", .requirement("D4", "D5"))
  func staysBound() throws {
    let scene = try OAuthScene()
    let (client, key) = (try scene.register().id, try scene.makeKey())
    _ = try scene.authorize(client, key: key)
    scene.server.answer { _ throws(VaultError) in
      OAuthServer.Reply(body: OAuthServer.body(8, type: "Bearer") + "}")
    }
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.refreshTokens(of: client, over: scene.server)
    }
    try expect(scene.headers(client).authorization, equals: "DPoP " + OAuthServer.access(2))
  }

  @Test("the actor does the same", .requirement("D4", "D5"))
  func actor() async throws {
    let scene = try OAuthScene()
    let vault = try scene.place.open()
    let (clients, tokens) = (ClientRegistrations(vault), TokenSets(vault))
    let client = try await clients.register(OAuthScene.new(), over: scene.server)
    try await expect(clients.named("shop").id, equals: client.id)
    try await expect(clients.list().count, equals: 1)
    let key = try await ClientKey.generate(.p256, NewClientKey(name: "k1"), in: vault)
    let request = try await tokens.begin(for: client.id, boundTo: key.id, scope: "orders")
    let answer = OAuthScene.answer(to: request).bytes.copy()
    try await expect(tokens.finish(request, with: answer, over: scene.server).type, equals: .dpop)
    #expect(try await tokens.refresh(client.id, over: scene.server).canRefresh)
    let headers = try await tokens.authorization(for: client.id, method: "GET", url: "https://api.example/")
    #expect(headers.proof != nil)
    try await expect(tokens.idToken(of: client.id)?.byteCount, equals: 5)
    #expect(try await tokens.current(of: client.id) != nil)
    try await tokens.revoke(client.id, over: scene.server)
    #expect(try await tokens.current(of: client.id) == nil)
    try await expect(tokens.request(for: client.id, over: scene.server).type, equals: .bearer)
    try await clients.remove(client.id)
    #expect(try await clients.list().isEmpty)
  }
}
