public import SecretMemory
public import VaultKit

/// The tokens that an OAuth server gave a client: everything but the tokens themselves.
public struct TokenSet: Sendable, Identifiable {
  /// How the access token is sent.
  @nonexhaustive
  public enum TokenType: String, Sendable, Hashable {
    /// As it is: each program that has it can use it (RFC 6750).
    case bearer = "Bearer"
    /// With a proof of the key that it is bound to (RFC 9449): worth nothing without the key.
    case dpop = "DPoP"
  }

  /// The item that stores it.
  public let id: ItemID
  /// The registration of the client.
  public let registration: ItemID
  /// How the access token is sent.
  public let type: TokenType
  /// What the access token permits, in the words of the server; `nil` where neither side named it.
  public let scope: String?
  /// When the access token expires, by the wall clock; `nil` where the server did not say.
  public let expires: Instant?
  /// Whether there is a refresh token.
  public let canRefresh: Bool
  /// Whether there is an id token (OpenID Connect).
  public let hasIDToken: Bool
  /// The client key that the access token is bound to; `nil` for ``TokenType/bearer``.
  public let key: ItemID?
  /// What the server permits beyond the scope that was asked for, in the words of the server; `nil` where that is nothing, and where
  /// this call asked for no tokens. A refresh asks for the scope of the tokens before.
  public let unaskedScope: String?

  init(_ stored: StoredTokens, beyond asked: String? = nil) {
    let record = stored.record
    unaskedScope = record.scope?.words(beyond: asked)
    (id, registration) = (stored.item.id, record.registration)
    type = record.type == .dpop ? .dpop : .bearer
    (scope, expires, key) = (record.scope, record.expires, record.key)
    (canRefresh, hasIDToken) = (record.refresh != nil, record.id != nil)
  }
}

/// What a request needs to be let in: its headers. For one request alone where there is a proof.
public struct RequestAuthorization: ~Copyable, Sendable {
  /// The value of the header `Authorization`: the type and the access token.
  public let authorization: SecretBytes
  /// The value of the header `DPoP`; `nil` for tokens that are not bound.
  public let proof: String?
}

extension String {
  /// The words of a scope that another one does not have; `nil` where it has all of them, and where there is no other one.
  func words(beyond asked: String?) -> String? {
    guard let asked = asked?.split(separator: " ") else { return nil }
    let more = split(separator: " ").filter { word in !asked.contains { $0.utf8.elementsEqual(word.utf8) } }
    return more.isEmpty ? nil : more.joined(separator: " ")
  }
}

/// A token set between the gate and its use.
struct StoredTokens: Sendable {
  let item: Item
  let record: TokenSetRecord
}
