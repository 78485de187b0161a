import AuthenticatorKit
import Foundation
import JOSE
import SecretMemory
import Synchronization
import VaultExpectations
import VaultKit
import VaultTestKit

/// A vault with clients of an OAuth server, with a clock that the test moves.
struct OAuthScene {
  let clock = FixedClock()
  let place: TemporaryVault
  let core: VaultCore
  let server = OAuthServer()

  init(passcode: String? = nil) throws {
    place = TemporaryVault(environment: .testing(clock: clock))
    core = try place.makeCore(passcode: passcode)
  }

  static func new(_ name: String = "shop", template: String = "t1") -> NewClientRegistration {
    var new = NewClientRegistration(name, template: template, server: OAuthServer.issuer)
    new.redirect = "https://shop.example/back"
    return new
  }

  @discardableResult
  func register(
    _ new: NewClientRegistration = OAuthScene.new(), in core: VaultCore? = nil
  ) throws(VaultError) -> ClientRegistration {
    try (core ?? self.core).registerClient(new, over: server)
  }

  func makeKey(_ name: String = "k1", _ type: ClientKeyType = .p256) throws(VaultError) -> ItemID {
    try core.generateClientKey(type, NewClientKey(name: name)).item.id
  }

  /// A client with tokens of a person, who agreed.
  func authorize(_ client: ItemID, key: ItemID? = nil) throws(VaultError) -> TokenSet {
    let request = try core.beginAuthorization(for: client, boundTo: key, scope: "orders")
    return try core.finishAuthorization(request, with: Self.answer(to: request), over: server)
  }

  static func answer(to request: AuthorizationRequest, code: String = OAuthServer.code) -> SharedSecret {
    SharedSecret(
      SecretBytes(testing: "https://shop.example/back?code=\(code)&state=\(request.state)"))
  }

  /// The header `Authorization` of a request, and its proof.
  func headers(
    _ client: ItemID, url: String = "https://api.example/orders", nonce: String? = nil,
    in core: VaultCore? = nil
  ) throws(VaultError) -> (authorization: String, proof: String?) {
    let made = try (core ?? self.core).authorization(for: client, method: "GET", url: url, nonce: nonce)
    return (String(decoding: made.authorization.bytesForTesting, as: UTF8.self), made.proof)
  }

  /// The file with its log.
  func bytes() -> Data {
    ["", "-wal"].reduce(into: Data()) { all, end in
      all += (try? Data(contentsOf: URL(fileURLWithPath: place.path + end))) ?? Data()
    }
  }
}

/// True the first time.
final class Once: Sendable {
  private let isOver = Mutex(false)

  func take() -> Bool {
    isOver.withLock { isOver in
      defer { isOver = true }
      return !isOver
    }
  }
}

/// An OAuth server, as a transport to HTTP shows it.
final class OAuthServer: Transport {
  typealias Hook = @Sendable (TransportRequest) throws(VaultError) -> Reply?
  static let issuer = "https://as.example"
  static let code = "code-of-the-person"
  let identity = "/opt/as"

  struct Reply: Sendable {
    var status: UInt64 = 200
    var headers = ""
    var body: String

    var fields: TransportFields {
      var fields = TransportFields(["status": .number(status)])
      fields["headersBase64"] = .secret(Array(headers.utf8))
      if !body.isEmpty { fields["bodyBase64"] = .secret(Array(body.utf8)) }
      return fields
    }

    static func refusal(_ word: String, status: UInt64 = 400, headers: String = "") -> Reply {
      Reply(status: status, headers: headers, body: #"{"error":"\#(word)","error_description":"so it is"}"#)
    }
  }

  private struct State {
    var requests: [TransportRequest] = []
    var hook: Hook?
    var number = 0
    var refresh = ""
  }
  private let state = Mutex(State())

  var requests: [TransportRequest] { state.withLock { $0.requests } }
  var operations: [TransportOperation] { requests.map(\.operation) }

  /// Answers in place of the server, where it returns a reply.
  func answer(_ hook: Hook?) { state.withLock { $0.hook = hook } }

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    let hook = state.withLock { state in
      state.requests.append(request)
      return state.hook
    }
    if let reply = try hook?(request) { return TransportAnswer(reply.fields) }
    return TransportAnswer(reply(to: request).fields)
  }

  private func reply(to request: TransportRequest) -> Reply {
    switch request.operation {
    case .oauthMetadata:
      return Reply(
        body: """
          {"issuer":"\(Self.issuer)","token_endpoint":"\(Self.issuer)/token",
           "authorization_endpoint":"\(Self.issuer)/authorize","registration_endpoint":"\(Self.issuer)/register",
           "revocation_endpoint":"\(Self.issuer)/revoke","scopes_supported":["orders"]}
          """)
    case .oauthRegister:
      let number = next()
      let way = request.json["token_endpoint_auth_method"] as? String ?? ""
      return Reply(
        status: 201,
        body: """
          {"client_id":"client-\(number)","client_secret":"canary-of-a-client-secret-\(number)-8f2b1c",
           "client_secret_expires_at":0,"token_endpoint_auth_method":"\(way)"}
          """)
    case .oauthToken: return tokens(request)
    default: return Reply(body: "")
    }
  }

  private func next() -> Int {
    state.withLock { state in
      state.number += 1
      return state.number
    }
  }

  /// Tokens with a number, and a new refresh token each time; the one before is used up.
  private func tokens(_ request: TransportRequest) -> Reply {
    let form = request.form
    let isKnown = state.withLock {
      form["grant_type"] != "refresh_token" || form["refresh_token"] == $0.refresh
    }
    guard isKnown else { return .refusal("invalid_grant") }
    let number = next()
    var body = Self.body(number, type: request.header("DPoP") == nil ? "Bearer" : "DPoP")
    if form["grant_type"] == "client_credentials" { return Reply(body: body + "}") }
    state.withLock { $0.refresh = Self.refresh(number) }
    body += #","refresh_token":"\#(Self.refresh(number))""#
    return Reply(body: body + "}")
  }

  static func access(_ number: Int) -> String { "canary-of-an-access-token-\(number)" }
  static func refresh(_ number: Int) -> String { "canary-of-a-refresh-token-\(number)" }
  static func body(_ number: Int, type: String, more: String = "") -> String {
    #"{"access_token":"\#(access(number))","token_type":"\#(type)","expires_in":3600,"id_token":"i.d.\#(number)""#
      + more
  }
}

extension TransportRequest {
  /// The lines of headers with this name.
  func header(_ name: String) -> String? {
    let lines = text(of: "headersBase64")?.split(separator: "\n") ?? []
    return lines.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
  }

  var form: [String: String] {
    var found: [String: String] = [:]
    for part in (text(of: "bodyBase64") ?? "").split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      found[String(pair[0])] = String(pair[1]).removingPercentEncoding
    }
    return found
  }

  var json: [String: Any] { (try? OAuthServer.object(text(of: "bodyBase64") ?? "")) ?? [:] }

  /// The claims of its proof.
  var proof: [String: Any] { header("DPoP").map(OAuthServer.claims) ?? [:] }
}

extension OAuthServer {
  static func object(_ text: String) throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
  }

  /// The payload of a JWT, unverified.
  static func claims(_ token: String) -> [String: Any] {
    let parts = token.split(separator: ".")
    guard parts.count == 3, let bytes = try? Base64URL.bytes(String(parts[1])) else { return [:] }
    return (try? object(String(decoding: bytes, as: UTF8.self))) ?? [:]
  }

  static func header(_ token: String) -> [String: Any] {
    let parts = token.split(separator: ".")
    guard parts.count == 3, let bytes = try? Base64URL.bytes(String(parts[0])) else { return [:] }
    return (try? object(String(decoding: bytes, as: UTF8.self))) ?? [:]
  }
}
