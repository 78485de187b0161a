package import SecretMemory
import TextFormats
package import VaultKit

/// What a token endpoint gives (RFC 6749 §5.1).
///
/// An access token and its type must be right. What only describes them never costs them: where it is malformed, it is as absent.
package struct TokenAnswer {
  package let access: SharedSecret
  let type: TokenSetRecord.TokenType
  package let refresh: SharedSecret?
  let id: SharedSecret?
  /// What the tokens permit; `nil` where the server does not say, and where it cannot be read.
  package let scope: String?
  /// Whether the server says what they permit, in a form that cannot be read. Then it is not what was asked for.
  let hasUnreadableScope: Bool
  /// For how many seconds the access token is valid.
  package let lifeSeconds: UInt64?

  /// Reads the body of a reply alone.
  package init(body: consuming SecretBytes, isProved: Bool) throws(VaultError) {
    var fields = TransportFields()
    fields["status"] = .number(200)
    fields["bodyBase64"] = .secret(TransportSecret(body))
    try self.init(GivenTokens(OAuthReply(fields)), isProved: isProved)
  }

  /// - Parameter isProved: Whether the request had a proof.
  /// - Throws: ``VaultError/Code/network``; ``VaultError/Code/policy`` for tokens that are not bound although there was a proof.
  init(_ given: GivenTokens, isProved: Bool) throws(VaultError) {
    if let flaw = given.flaw { throw flaw }
    access = try TransportFields.required("access_token", given.access)
    guard access.isVisibleASCII else {
      throw .peerAnswered("'access_token' has characters that a token cannot have")
    }
    (refresh, id) = (given.refresh, given.members.secrets["id_token"])
    (scope, hasUnreadableScope) = (given.members.texts["scope"], given.hasUnreadableScope)
    lifeSeconds = given.members.numbers["expires_in"]
    switch given.members.texts["token_type"]?.lowercased() {
    case "dpop" where isProved: type = .dpop
    case "bearer" where !isProved: type = .bearer
    case "bearer": throw Self.unbound
    case "dpop": throw .peerAnswered("its tokens are bound to a key, and no key was shown")
    default: throw .peerAnswered("'token_type' is neither Bearer nor DPoP")
    }
  }

  /// What is stored as the scope of the tokens.
  ///
  /// - Parameter asked: What the answer is about, where it says nothing else (RFC 6749 §5.1).
  func scope(asked: String?) -> String? { scope ?? (hasUnreadableScope ? nil : asked) }

  /// RFC 9449 §5: a client for which the binding matters discards such an answer. A caller that names a key says that it does.
  private static var unbound: VaultError {
    VaultError(
      .policy, "the server does not bind its tokens to the key, so they are discarded",
      hint: .requestUnboundTokens)
  }
}

/// The tokens in an answer, whatever else is in it. Those that cannot be used are revoked: what is not stored must not work.
struct GivenTokens {
  private(set) var members = AnswerMembers()
  private(set) var hasUnreadableScope = false
  /// Why the answer is none.
  private(set) var flaw: VaultError?

  init(_ reply: OAuthReply) {
    var members = AnswerMembers()
    var canReadScope = true
    do throws(VaultError) {
      try reply.read { (name, reader) throws(TextError) in
        switch name {
        case "access_token", "refresh_token", "id_token": try members.noteSecret(name, reader)
        case "token_type": try members.noteText(name, 1...64, reader)
        case "scope": canReadScope = try members.noteScope(name, TokenSetRecord.scopeBytes, reader)
        case "expires_in": try members.noteSeconds(name, reader)
        default: return false
        }
        return true
      }
    } catch { flaw = error }
    (self.members, hasUnreadableScope) = (members, !canReadScope)
  }

  var access: SharedSecret? { members.secrets["access_token"] }
  var refresh: SharedSecret? { members.secrets["refresh_token"] }
}
