public import VaultKit

/// What an answer must belong to: the request that your server signed, and the session in which it was sent.
public struct CardChallengeRequest: Sendable, Equatable {
  /// The `jti` of the request. The answer names it as its audience.
  public let id: String
  /// Who answers: `iss` of the answer.
  public let issuer: String
  /// The session of the checkout (`ConsumerSessionId`).
  public let session: String

  /// A request; every name is compared byte for byte.
  ///
  /// - Throws: ``VaultError/Code/malformed`` for a name that has not 1 to 255 bytes, or a character that does not show.
  public init(id: String, issuer: String, session: String) throws(VaultError) {
    for name in [id, issuer, session] {
      guard ResponseRecord.nameBytes.contains(name.utf8.count), VisibleText.flaw(in: name) == nil else {
        throw VaultError(
          .malformed,
          "a request, its issuer and its session have names of 1 to 255 bytes whose characters show",
          hint: "give them as your server got them")
      }
    }
    (self.id, self.issuer, self.session) = (id, issuer, session)
  }

  init(_ record: ResponseRecord) throws(VaultError) {
    try self.init(id: record.request, issuer: record.issuer, session: record.session)
  }
}
