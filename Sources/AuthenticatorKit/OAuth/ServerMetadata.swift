import JOSE
import SecretMemory
import TextFormats
import VaultKit

/// What an OAuth server says of itself (RFC 8414).
struct ServerMetadata {
  let issuer: String
  let tokenEndpoint: String
  let authorizationEndpoint: String?
  let registrationEndpoint: String?
  let revocationEndpoint: String?
  let deviceEndpoint: String?
  /// Whether it names itself in each redirection (RFC 9207 §3).
  let namesIssuer: Bool

  /// - Parameter address: Whose document it is.
  /// - Throws: ``VaultError/Code/network``, also for the document of another server.
  init(_ reply: OAuthReply, of address: ServerAddress) throws(VaultError) {
    var members = AnswerMembers()
    try reply.read { (name, reader) throws(TextError) in
      if name == Self.issuerParameter {
        try members.readFlag(name, reader)
        return true
      }
      guard ["issuer", "token_endpoint"].contains(name) || Self.optional.contains(name) else { return false }
      try members.readText(name, limit: 2048, reader)
      return true
    }
    try members.check()
    issuer = try TransportFields.required(
      "issuer", members.text("issuer", RegistrationRecord.addressBytes))
    // RFC 8414 §3.3: another server could send its tokens to this one, or ours to it.
    guard issuer.isSame(as: address.issuer) else {
      throw VaultError(
        .network, "the server calls itself \(issuer), and \(address.issuer) was asked", hint: .nameIssuer
      ).final()
    }
    tokenEndpoint = try TransportFields.required(
      "token_endpoint", Self.endpoint("token_endpoint", members))
    authorizationEndpoint = try Self.endpoint(Self.optional[0], members)
    registrationEndpoint = try Self.endpoint(Self.optional[1], members)
    revocationEndpoint = try Self.endpoint(Self.optional[2], members)
    deviceEndpoint = try Self.endpoint(Self.optional[3], members)
    namesIssuer = members.flags[Self.issuerParameter] ?? false
  }

  private static let issuerParameter = "authorization_response_iss_parameter_supported"

  private static let optional = [
    "authorization_endpoint", "registration_endpoint", "revocation_endpoint", "device_authorization_endpoint",
  ]

  /// What a person says of a server that does not describe itself.
  init(_ issuer: String, _ endpoints: ServerEndpoints) {
    (self.issuer, tokenEndpoint) = (issuer, endpoints.token)
    (authorizationEndpoint, registrationEndpoint) = (endpoints.authorization, nil)
    (revocationEndpoint, deviceEndpoint) = (endpoints.revocation, endpoints.deviceAuthorization)
    namesIssuer = false
  }

  /// Whether what a person says of the server is what it says itself.
  func agrees(with given: ServerEndpoints) -> Bool {
    let pairs = [
      (given.token, tokenEndpoint), (given.authorization, authorizationEndpoint),
      (given.revocation, revocationEndpoint), (given.deviceAuthorization, deviceEndpoint),
    ]
    return pairs.allSatisfy { given, own in given.map { own?.isSame(as: $0) ?? false } ?? true }
  }

  private static func endpoint(_ name: String, _ members: AnswerMembers) throws(VaultError) -> String? {
    guard let text = members.texts[name] else { return nil }
    guard ServerAddress.isEndpoint(text) else {
      throw .peerAnswered("'\(name)' is not an https address without a fragment")
    }
    return text
  }
}

/// The address of an OAuth server that a person gives: its issuer, or its document.
struct ServerAddress {
  /// What the server must call itself.
  let issuer: String
  /// Where its document can be, in the order in which it is asked for.
  let documents: [String]

  /// - Throws: ``VaultError/Code/malformed``.
  init(_ url: String) throws(VaultError) {
    guard Self.isEndpoint(url), !url.contains("?") else {
      throw VaultError(
        .malformed, "the address of the server is not https, or has a query or a fragment",
        hint: "give its issuer, such as https://as.example, or the address of its metadata")
    }
    let start = url.dropFirst("https://".count).firstIndex(of: "/") ?? url.endIndex
    let (origin, path) = (String(url[..<start]), String(url[start...]))
    let mark = "/.well-known/"
    guard let place = path.indices.first(where: { path[$0...].hasPrefix(mark) }) else {
      issuer = url
      let bare = path.hasSuffix("/") ? String(path.dropLast()) : path
      documents = [
        origin + mark + "oauth-authorization-server" + bare, origin + bare + mark + "openid-configuration",
      ]
      return
    }
    // OpenID puts the mark after the path of the issuer, RFC 8414 before it.
    let after = path[place...].dropFirst(mark.count).firstIndex(of: "/").map { String(path[$0...]) } ?? ""
    issuer = origin + path[..<place] + after
    documents = [url]
  }

  /// Whether a request can be sent to an address.
  static func isEndpoint(_ text: String) -> Bool {
    text.lowercased().hasPrefix("https://") && !text.contains("#") && (try? HTTPTarget(text)) != nil
  }
}

extension VaultCore {
  /// Has the server describe itself.
  ///
  /// - Throws: ``VaultError/Code/network``, and the errors of the server.
  func serverMetadata(
    at address: ServerAddress, over transport: any Transport, context: AuthenticationContext?
  ) throws(VaultError) -> ServerMetadata {
    var last: OAuthReply?
    for document in address.documents {
      let reply = try send(.oauthMetadata, to: document, over: transport, context: context)
      if reply.isSuccess { return try ServerMetadata(reply, of: address) }
      last = reply
      guard reply.status == 404 else { break }
    }
    let refusal = VaultError.oauth(last!, of: "to describe itself")
    guard last!.status == 404 else { throw refusal }
    throw refusal.advising(
      .nameEndpoints)
  }

  /// The same of a server whose addresses a person gives. Where it describes itself all the same, both must say the same.
  ///
  /// - Throws: ``VaultError/Code/policy`` where they do not.
  func serverMetadata(
    at address: ServerAddress, or given: ServerEndpoints?, over transport: any Transport,
    context: AuthenticationContext?
  ) throws(VaultError) -> ServerMetadata {
    guard let given else { return try serverMetadata(at: address, over: transport, context: context) }
    for document in address.documents {
      let reply = try send(.oauthMetadata, to: document, over: transport, context: context)
      guard reply.status < 500, reply.status != 429 else { throw .oauth(reply, of: "to describe itself") }
      guard reply.isSuccess, reply.isObject else { continue }
      let found = try ServerMetadata(reply, of: address)
      guard found.agrees(with: given) else {
        throw VaultError(
          .policy, "the server describes itself, with other addresses than those that were given",
          hint: "leave the addresses out")
      }
      return found
    }
    return ServerMetadata(address.issuer, given)
  }

  /// One request to an OAuth server, and its reply.
  func send(
    _ operation: TransportOperation, to url: String, headers: OAuthHeaders = OAuthHeaders(),
    body: consuming SecretBytes? = nil, over transport: any Transport, context: AuthenticationContext?
  ) throws(VaultError) -> OAuthReply {
    var fields = TransportFields()
    fields["url"] = .text(url)
    if let lines = headers.copy() { fields["headersBase64"] = .secret(TransportSecret(lines)) }
    if let body = consume body { fields["bodyBase64"] = .secret(TransportSecret(body)) }
    return try OAuthReply(exchange(operation, fields, over: transport, context: context))
  }
}
