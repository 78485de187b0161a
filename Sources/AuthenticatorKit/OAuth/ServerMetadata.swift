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
    issuer = try TransportFields.required("issuer", members.texts["issuer"])
    // RFC 8414 §3.3: another server could send its tokens to this one, or ours to it.
    guard issuer.isSame(as: address.issuer) else {
      throw .peerAnswered("it calls itself by another address than the one that was asked")
    }
    tokenEndpoint = try TransportFields.required(
      "token_endpoint", Self.endpoint("token_endpoint", members))
    authorizationEndpoint = try Self.endpoint(Self.optional[0], members)
    registrationEndpoint = try Self.endpoint(Self.optional[1], members)
    revocationEndpoint = try Self.endpoint(Self.optional[2], members)
    namesIssuer = members.flags[Self.issuerParameter] ?? false
  }

  private static let issuerParameter = "authorization_response_iss_parameter_supported"

  private static let optional = [
    "authorization_endpoint", "registration_endpoint", "revocation_endpoint",
  ]

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
      if reply.status == 200 { return try ServerMetadata(reply, of: address) }
      last = reply
      guard reply.status == 404 else { break }
    }
    throw .oauth(last!, of: "to describe itself")
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
