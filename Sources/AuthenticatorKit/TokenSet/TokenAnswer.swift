import SecretMemory
import TextFormats
import VaultKit

/// What a token endpoint gives (RFC 6749 §5.1).
struct TokenAnswer {
  let access: SharedSecret
  let type: TokenSetRecord.TokenType
  let refresh: SharedSecret?
  let id: SharedSecret?
  let scope: String?
  /// For how many seconds the access token is valid.
  let lifeSeconds: UInt64?

  /// - Parameter isProved: Whether the request had a proof.
  /// - Throws: ``VaultError/Code/network``; ``VaultError/Code/policy`` for tokens that are not bound although there was a proof.
  init(_ reply: OAuthReply, isProved: Bool) throws(VaultError) {
    var members = AnswerMembers()
    try reply.read { (name, reader) throws(TextError) in
      switch name {
      case "access_token", "refresh_token", "id_token":
        try members.readSecret(name, limit: TokenSetRecord.tokenBytes.upperBound, reader)
      case "token_type": try members.readText(name, limit: 32, reader)
      case "scope": try members.readText(name, limit: TokenSetRecord.scopeBytes.upperBound, reader)
      case "expires_in": try members.readSeconds(name, reader)
      default: return false
      }
      return true
    }
    try members.check()
    let bytes = TokenSetRecord.tokenBytes
    access = try TransportFields.required("access_token", members.token("access_token", bytes))
    (refresh, id) = (try members.token("refresh_token", bytes), try members.token("id_token", bytes))
    scope = try members.text("scope", TokenSetRecord.scopeBytes)
    lifeSeconds = members.numbers["expires_in"]
    switch members.texts["token_type"]?.lowercased() {
    case "dpop" where isProved: type = .dpop
    case "bearer" where !isProved: type = .bearer
    case "bearer": throw Self.unbound
    case "dpop": throw .peerAnswered("its tokens are bound to a key, and no key was shown")
    default: throw .peerAnswered("'token_type' is neither Bearer nor DPoP")
    }
  }

  /// RFC 9449 §5: a client for which the binding matters discards such an answer. A caller that names a key says that it does.
  private static var unbound: VaultError {
    VaultError(
      .policy, "the server does not bind its tokens to the key, so they are discarded",
      hint: Hint(.requestUnboundTokens, saying: "ask without a key, if tokens that anybody can use will do"))
  }
}
