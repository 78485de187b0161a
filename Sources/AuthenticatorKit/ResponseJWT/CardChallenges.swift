public import SecretMemory
public import VaultKit

// Read in this order:
//
// - `CardChallenges`: what an application uses. `CardLookup`: whether a challenge is begun. `CardChallengeRequest`,
//   `CardAnswer`, `CardOutcome`: what it sees.
// - `ResponseToken.swift`: how the token of an answer is read. `VaultCore+CardChallenges.swift`: how it is stored.
//   `ServerKey.swift`: the server's side.
// - Below: the module JOSE, and in VaultFormat `ResponseRecord`.

/// The challenges of card payments (3-D Secure) on the side of the person who pays: the session and the answer are kept until the
/// answer expires.
///
/// ```swift
/// let challenges = CardChallenges(vault)
/// try await challenges.begin(order, named: "order-7", after: lookup)
/// let answer = try await challenges.receive(token, for: "order-7")
/// if answer.outcome.isForServer { toServer(try await challenges.tokenForServer(of: "order-7")) }
/// ```
///
/// The answer is compared with the request: another one is refused, and nothing is stored. **Nothing here says that an answer is
/// true**, because its key must be on no device: ``ServerKey`` does, on the server.
public struct CardChallenges: Sendable {
  private let vault: Vault

  /// The challenges of a vault.
  public init(_ vault: Vault) { self.vault = vault }

  /// Begins a challenge: stores its session, until the answer comes or the time is over.
  ///
  /// - Parameters:
  ///   - request: What was sent.
  ///   - name: The vault-wide name, 1–255 bytes. An expired challenge of this name is replaced.
  ///   - lookup: What the lookup of the card says.
  ///   - seconds: How long the challenge is kept without an answer, 1 to 86,400.
  ///   - context: Gives the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/policy`` if the lookup asks for no challenge, ``VaultError/Code/duplicateItem``,
  ///   ``VaultError/Code/malformed``, ``VaultError/Code/locked``. Nothing is stored then.
  @discardableResult
  public func begin(
    _ request: CardChallengeRequest, named name: String, after lookup: CardLookup, seconds: Int64 = 7200,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> CardChallenge {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.beginChallenge(request, named: name, after: lookup, seconds: seconds, context: context)
    }
  }

  /// Stores the answer of a challenge, and says what it says. The challenge is then kept until the answer expires.
  ///
  /// - Parameters:
  ///   - token: The token as it was received, without a line end, at most 65,536 bytes. Empty: the answer came without one,
  ///     which is a ``CardOutcome/failure`` without a token.
  ///   - name: The challenge.
  ///   - context: Gives the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/policy`` for the answer to another request, session or issuer; ``VaultError/Code/expired``;
  ///   ``VaultError/Code/wrongState`` for a second answer; ``VaultError/Code/malformed``, ``VaultError/Code/unsupported``,
  ///   ``VaultError/Code/authenticationFailed`` for a token that nothing signs; ``VaultError/Code/itemNotFound``. Nothing is
  ///   stored then.
  public func receive(
    _ token: consuming SecretBytes, for name: String, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> CardAnswer {
    let token = SharedSecret(token)
    return try await vault.asking(context) { core, context throws(VaultError) in
      try core.receiveAnswer(token, to: name, context: context)
    }
  }

  /// A challenge with its answer.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``; ``VaultError/Code/expired`` for a day after its end.
  public func details(
    of name: String, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> CardChallengeDetails {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.challengeDetails(named: name, context: context)
    }
  }

  /// The token that your server verifies.
  ///
  /// - Throws: ``VaultError/Code/policy`` for an outcome that is not sent (``CardOutcome/isForServer``),
  ///   ``VaultError/Code/wrongState`` before the answer, ``VaultError/Code/expired``, ``VaultError/Code/itemNotFound``.
  public func tokenForServer(
    of name: String, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> SecretBytes {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.answerForServer(of: name, context: context)
    }
  }

  /// The challenges that have not expired, in the order of their begin. Asks no person, also in a locked vault.
  public func list() async throws(VaultError) -> [CardChallenge] {
    try await vault.asking(nil) { core, _ throws(VaultError) in try core.challenges() }
  }

  /// Deletes a challenge, with its answer.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``.
  public func end(_ name: String) async throws(VaultError) {
    try await vault.asking(nil) { core, _ throws(VaultError) in try core.endChallenge(named: name) }
  }
}

/// A challenge, without its session and its answer.
public struct CardChallenge: Sendable, Identifiable, Equatable {
  /// The item that stores it.
  public let id: ItemID
  /// Its vault-wide name.
  public let name: String
  /// When it was begun.
  public let begun: Instant
  /// When it ends: with its answer, or without one.
  public let expires: Instant

  init(_ item: Item) throws(VaultError) {
    guard item.kind == .responseJWT, let name = item.name, let expires = item.expires else {
      throw .noChallenge
    }
    (id, self.name, begun, self.expires) = (item.id, name, item.created, expires)
  }
}

/// A challenge with what was asked and answered.
public struct CardChallengeDetails: Sendable {
  /// The challenge.
  public let challenge: CardChallenge
  /// What was asked, with the session.
  public let request: CardChallengeRequest
  /// What was answered; `nil` while there is no answer.
  public let answer: CardAnswer?
}
