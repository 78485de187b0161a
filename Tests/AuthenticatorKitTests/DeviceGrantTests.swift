import AuthenticatorKit
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Tokens to which a person agrees on another device (RFC 8628).
@Suite("Tokens by another device", .bounded, .requirement("D4"))
struct DeviceGrantTests {
  /// A client, and a core whose waits move the clock.
  private struct Rig {
    let scene: OAuthScene
    let core: VaultCore
    let client: ItemID
    let waits = Waits()

    /// - Parameter answer: To the request that begins.
    init(_ answer: String = Rig.usual) throws {
      let scene = try OAuthScene()
      self.scene = scene
      var environment = VaultEnvironment.testing(clock: scene.clock)
      environment.pause = { [waits] time in
        scene.clock.advance(by: time)
        waits.add(time)
      }
      core = try VaultCore.open(
        at: scene.place.path, protector: scene.place.protector, environment: environment)
      let at = OAuthServer.issuer
      scene.server.answer { request throws(VaultError) in
        switch request.operation {
        case .oauthMetadata:
          return OAuthServer.Reply(
            body: """
              {"issuer":"\(at)","token_endpoint":"\(at)/token","registration_endpoint":"\(at)/register",
               "device_authorization_endpoint":"\(at)/device","revocation_endpoint":"\(at)/revoke"}
              """)
        case .oauthDevice: return OAuthServer.Reply(body: answer)
        default: return nil
        }
      }
      client = try scene.register().id
    }

    static let usual =
      #"{"device_code":"canary-of-a-device-code","user_code":"WDJB-MJHT","verification_uri":"https://as.example/d","#
      + #""verification_uri_complete":"https://as.example/d?c=WDJB-MJHT","expires_in":60,"interval":5}"#

    func begin(key: ItemID? = nil, scope: String? = nil) throws(VaultError) -> DeviceAuthorization {
      try core.beginDeviceAuthorization(for: client, boundTo: key, scope: scope, over: scene.server)
    }

    /// Has the server give these answers to its questions, and then the tokens. `nil`: no answer comes.
    func answer(_ replies: [OAuthServer.Reply?]) {
      let left = Mutex(replies)
      scene.server.answer { request throws(VaultError) in
        guard request.operation == .oauthToken else { return nil }
        let next = left.withLock { $0.isEmpty ? OAuthServer.Reply??.none : .some($0.removeFirst()) }
        guard let next else { return nil }
        guard let reply = next else { throw VaultError(peer: "NETWORK", "lost") }
        return reply
      }
    }
  }

  /// How long was waited before each question, in seconds.
  private final class Waits: Sendable {
    private let all = Mutex(Duration.zero)
    func add(_ time: Duration) { all.withLock { $0 += time } }
    var seconds: Int64 { all.withLock { $0.components.seconds } }
  }

  private static let pending = OAuthServer.Reply.refusal("authorization_pending")
  private static let slower = OAuthServer.Reply.refusal("slow_down")

  /// Verified to fail when `slow_down` is as `authorization_pending`.
  @Test("the server is asked as often as it wants to be, until the person has agreed")
  func agreed() throws {
    let rig = try Rig()
    let key = try rig.scene.makeKey()
    let begun = try rig.begin(key: key, scope: "orders")
    #expect((begun.code, begun.url) == ("WDJB-MJHT", "https://as.example/d"))
    expect(begun.completeURL, equals: "https://as.example/d?c=WDJB-MJHT")
    expect(begun.expires, equals: rig.scene.clock.now().advanced(byMilliseconds: 60_000))
    let asked = try #require(rig.scene.server.requests.last)
    #expect(asked.operation == .oauthDevice && asked.form["scope"] == "orders")
    #expect(asked.header("Authorization") != nil && asked.fields.text("url") == "https://as.example/device")
    rig.answer([Self.pending, Self.slower, nil, Self.pending])
    let count = rig.scene.server.requests.count
    let tokens = try rig.core.finishDeviceAuthorization(begun, over: rig.scene.server)
    // 5, 5, then 10 after slow_down, 15 after a lost answer, 15.
    expect(rig.waits.seconds, equals: 50)
    expect(rig.scene.server.requests.count, equals: count + 5)
    #expect(tokens.type == .dpop && tokens.key == key && tokens.scope == "orders")
    let form = try #require(rig.scene.server.requests.last).form
    #expect(form["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code")
    #expect(form["device_code"] == "canary-of-a-device-code")
    try expect(
      rig.scene.headers(rig.client, in: rig.core).authorization, equals: "DPoP " + OAuthServer.access(2))
    #expect(rig.scene.bytes().range(of: Data("canary".utf8)) == nil)
  }

  /// Would fail when only the server says when it ends.
  @Test("nobody who agrees in time ends it, also if the server never says so")
  func expired() throws {
    let rig = try Rig()
    let begun = try rig.begin()
    let server = rig.scene.server
    server.answer { _ throws(VaultError) in .refusal("authorization_pending") }
    let count = server.requests.count
    let error = thrown { () throws(VaultError) in
      _ = try rig.core.finishDeviceAuthorization(begun, over: server)
    }
    #expect(error?.code == .expired && error?.advice == .requestTokens)
    expect(rig.waits.seconds, equals: 60)
    expect(server.requests.count, equals: count + 12)
    #expect(try rig.core.tokenSet(of: rig.client) == nil)
  }

  @Test(
    "what the person and the server refuse ends it at once",
    arguments: [
      ("access_denied", .policy), ("expired_token", .expired), ("invalid_grant", .expired),
      ("invalid_client", .deviceUnknown), ("new_word", .peerFailed),
    ] as [(String, VaultError.Code)])
  func refused(word: String, code: VaultError.Code) throws {
    let rig = try Rig()
    let begun = try rig.begin()
    for status in [400, 200] as [UInt64] {
      rig.answer([.refusal(word, status: status)])
      let count = rig.scene.server.requests.count
      expect(code) { () throws(VaultError) in
        _ = try rig.core.finishDeviceAuthorization(begun, over: rig.scene.server)
      }
      expect(rig.scene.server.requests.count, equals: count + 1)
    }
  }

  /// Verified to fail when a malformed answer is asked for again.
  @Test("a malformed answer ends it, and a busy server is asked again later")
  func malformedTokens() throws {
    let rig = try Rig()
    let begun = try rig.begin()
    rig.answer([OAuthServer.Reply(status: 503, body: ""), OAuthServer.Reply(body: "{")])
    let error = thrown { () throws(VaultError) in
      _ = try rig.core.finishDeviceAuthorization(begun, over: rig.scene.server)
    }
    #expect(error?.code == .network && error?.recovery.condition == nil)
    expect(rig.waits.seconds, equals: 15)
  }

  /// Verified to fail when an interval is waited for as it is, and when what describes an answer costs it.
  @Test(
    "times that a server names have bounds, and the older name of the address is known",
    arguments: [
      (#""interval":0,"expires_in":"60""#, 1, 60),
      (#""interval":99999,"expires_in":4294967295"#, 300, 86_400),
      (#""interval":"7","expires_in":-1"#, 7, 600), (#""interval":null"#, 5, 600),
    ] as [(String, Int64, Int64)])
  func bounds(members: String, interval: Int64, life: Int64) throws {
    let rig = try Rig(
      #"{"device_code":"d","user_code":"c","verification_url":"https://as.example/d",\#(members)}"#)
    let begun = try rig.begin()
    #expect(begun.url == "https://as.example/d" && begun.completeURL == nil)
    expect(begun.expires.seconds - rig.scene.clock.now().seconds, equals: life)
    rig.answer([])
    _ = try rig.core.finishDeviceAuthorization(begun, over: rig.scene.server)
    expect(rig.waits.seconds, equals: interval)
  }

  @Test(
    "an answer that a person could not use begins nothing",
    arguments: [
      "", "{}", #"{"device_code":"d","user_code":"c"}"#,
      #"{"user_code":"c","verification_uri":"https://a.example"}"#,
      #"{"device_code":"d","user_code":"c","verification_uri":"http://a.example"}"#,
      #"{"device_code":"d","user_code":"\u202e","verification_uri":"https://a.example"}"#,
      #"{"device_code":"d","user_code":"","verification_uri":"https://a.example"}"#,
    ])
  func malformed(answer: String) throws {
    let rig = try Rig(answer)
    expect(.network) { () throws(VaultError) in _ = try rig.begin() }
  }

  @Test("a server without it is refused before a request, and one that refuses is heard")
  func unsupported() throws {
    let scene = try OAuthScene()
    let client = try scene.register().id
    let count = scene.server.requests.count
    expect(.unsupported) { () throws(VaultError) in
      _ = try scene.core.beginDeviceAuthorization(for: client, over: scene.server)
    }
    expect(scene.server.requests.count, equals: count)
    let rig = try Rig(#"{"error":"unauthorized_client"}"#)
    expect(.policy) { () throws(VaultError) in _ = try rig.begin() }
  }

  /// Verified to fail when a wait does not look at the end of its call.
  @Test("the end of the call ends the wait, and nothing is stored")
  func cancelled() async throws {
    let rig = try Rig()
    let begun = try rig.begin()
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    let waits = Atomic(0)
    var environment = VaultEnvironment.testing(clock: rig.scene.clock)
    environment.pause = { _ in if waits.add(1, ordering: .relaxed).newValue == 3 { context.invalidate() } }
    let core = try VaultCore.open(
      at: rig.scene.place.path, protector: rig.scene.place.protector, environment: environment)
    let count = rig.scene.server.requests.count
    expect(.appCancelled) { () throws(VaultError) in
      _ = try core.finishDeviceAuthorization(begun, over: rig.scene.server, context: context)
    }
    #expect(waits.load(ordering: .relaxed) == 3 && rig.scene.server.requests.count == count)
    #expect(try core.tokenSet(of: rig.client) == nil)
  }
}
