import JOSE
import SecretMemory
import TextFormats
import VaultKit

/// What a server answers to a registration (RFC 7591 §3.2.1).
struct RegistrationAnswer {
  let client: String
  let authentication: ClientAuthentication
  let secret: SharedSecret?
  let secretExpires: Instant?
  /// What the server permits although nothing asked for it.
  let unaskedScope: String?

  /// - Throws: ``VaultError/Code/network``; ``VaultError/Code/policy`` where the server wants another proof, or sends people to
  ///   another address, than was asked for.
  init(_ reply: OAuthReply, to new: NewClientRegistration) throws(VaultError) {
    var members = AnswerMembers()
    try reply.read { (name, reader) throws(TextError) in
      switch name {
      case "client_id", "token_endpoint_auth_method": try members.readText(name, limit: 255, reader)
      case "client_secret":
        try members.readSecret(name, limit: RegistrationRecord.secretBytes.upperBound, reader)
      case "client_secret_expires_at": try members.noteSeconds(name, reader)
      case "redirect_uris":
        try members.readTexts(name, limit: RegistrationRecord.addressBytes.upperBound, reader)
      case "scope": _ = try members.noteScope(name, TokenSetRecord.scopeBytes, reader)
      default: return false
      }
      return true
    }
    try members.check()
    client = try TransportFields.required(
      "client_id", members.text("client_id", RegistrationRecord.nameBytes))
    guard VisibleText.flaw(inName: client) == nil else {
      throw .peerAnswered("'client_id' has characters that do not show")
    }
    let wanted = members.texts["token_endpoint_auth_method"] ?? new.authentication.rawValue
    guard wanted == new.authentication.rawValue else {
      throw VaultError(
        .policy, "the server wants the client to prove itself in another way than was asked for",
        hint: "ask its operator which way it supports, and register with that")
    }
    authentication = new.authentication
    // RFC 7591 §3.2.1 lets the server register something else. Codes would then go to somebody else.
    let addresses = new.redirect.map { [$0] } ?? []
    guard (members.lists["redirect_uris"] ?? addresses).elementsEqual(addresses, by: { $0.isSame(as: $1) })
    else {
      throw VaultError(
        .policy, "the server registered other redirections than the one that was asked for",
        hint: "ask its operator which address it accepts, and register with that")
    }
    unaskedScope = members.texts["scope"]?.words(beyond: new.scope)
    // Some servers give one that nobody asked for.
    secret =
      authentication.needsSecret
      ? try TransportFields.required("client_secret", members.secrets["client_secret"]) : nil
    if let secret {
      guard secret.byteCount > 0, secret.isPrintableASCII else {
        throw .peerAnswered("'client_secret' is empty, or has characters that a secret cannot have")
      }
    }
    if authentication == .clientSecretJWT, let secret, secret.byteCount < Self.leastBytesToSign {
      throw Self.weakSecret
    }
    let end = members.numbers["client_secret_expires_at"] ?? 0
    secretExpires = end == 0 || secret == nil ? nil : Instant(seconds: Int64(end))
  }

  /// What the operator of a server has registered.
  init(_ known: KnownClient, as authentication: ClientAuthentication) {
    (client, self.authentication, secret) = (known.client, authentication, known.secret)
    (secretExpires, unaskedScope) = (nil, nil)
  }

  /// RFC 7518 §3.2.
  static let leastBytesToSign = 32

  static var weakSecret: VaultError {
    VaultError(
      .policy, "the secret of the client has fewer than 32 bytes, which sign nothing",
      hint: "register with client_secret_basic")
  }
}
