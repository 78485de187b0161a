public import SecretMemory
public import VaultKit

// Read in this order:
//
// - `CardTokens`, `NewCardToken`, `CardToken`, and `ViewingSession` of VaultKit: what an application uses.
// - `CardConsents`, `NewConsent`, `CardConsent`, `ConsentCode`: how a person consents to a token.
// - `VaultCore+CardTokens.swift`: a use is one commit. `VaultCore+Consents.swift`: the side that asks another system for the
//   code. `VaultCore+IssuedConsents.swift`: the side that judges it. `WriteTransaction+Consents.swift`: what both have.
// - Below, in VaultFormat: `TokenLife`, and `CardData.swift`, which refuses card numbers; in VaultKit:
//   `WriteTransaction+Ends.swift`, which every commit begins with, `EndTimer.swift`.

/// Short-lived tokens that stand for a card: stored with a time to live and a number of uses, and taken out one use at a time.
///
/// ```swift
/// let tokens = CardTokens(vault)
/// let session = try ViewingSession.fresh()
/// var new = NewCardToken("card", timeToLive: .seconds(120))
/// new.uses = 1
/// let token = try await tokens.store(secret, as: new, session: session)
/// let shown = try await tokens.take(token.id, session: session)
/// ```
///
/// A use is on the disk before the token is returned, so of many processes exactly one gets the last use. With its last use,
/// when it is revoked, when its session is closed and when its time is over, the secret of a token is deleted; its row says for
/// a day that it has ended. **Enforced by key derivation**: the session. Advisory in this process: the time and the uses, because
/// the class key opens the secret; a copy of the vault file has the same uses left as the file.
public struct CardTokens: Sendable {
  private let vault: Vault

  /// The card tokens of a vault.
  public init(_ vault: Vault) { self.vault = vault }

  /// Stores a token. A token of the same name that has ended is replaced.
  ///
  /// - Parameters:
  ///   - secret: 1 byte to 64 KiB.
  ///   - new: Its name, its time, its uses and its access rule.
  ///   - session: The session to which the token belongs. **Enforced by key derivation.**
  ///   - context: Gives the passcode of a locked vault, and a new application password.
  /// - Throws: ``VaultError/Code/policy`` for a card number or a security code, as the secret or as an attribute;
  ///   ``VaultError/Code/malformed`` for a secret of another size, and for a time or a number of uses out of its bounds;
  ///   ``VaultError/Code/duplicateItem``; ``VaultError/Code/io`` where the boot id cannot be read;
  ///   ``VaultError/Code/locked``.
  @discardableResult
  public func store(
    _ secret: consuming SecretBytes, as new: NewCardToken, session: ViewingSession? = nil,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> CardToken {
    let secret = SharedSecret(secret)
    return try await vault.asking(context) { core, context throws(VaultError) in
      try core.storeToken(new, secret: secret, session: session, context: context)
    }
  }

  /// Takes a token out for one use. The use is on the disk before this returns, and the secret of a last use is deleted.
  ///
  /// - Parameters:
  ///   - id: The token.
  ///   - session: The session of the token; ignored for a token without one.
  ///   - context: Verifies the person for a token with an access rule, such as ``Constraints/userPresence``.
  /// - Throws: ``VaultError/Code/expired`` after its time, its uses, its session or its revocation, for a day;
  ///   ``VaultError/Code/itemNotFound`` then; ``VaultError/Code/policy`` for another session;
  ///   ``VaultError/Code/verificationNeeded`` without a session or a person that it needs; ``VaultError/Code/io`` where the
  ///   boot id cannot be read: then no token is handed out, and none is ended; ``VaultError/Code/readOnly``.
  public func take(
    _ id: ItemID, session: ViewingSession? = nil, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> SecretBytes {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.takeToken(id, session: session, context: context)
    }
  }

  /// The tokens that the vault keeps, those that have ended too. Asks no person, also in a locked vault.
  public func list() async throws(VaultError) -> [CardToken] { try await vault.cardTokens() }

  /// Ends a token: its secret is deleted. Asks no person, also in a locked vault.
  ///
  /// - Throws: ``VaultError/Code/expired`` for a token that has ended, ``VaultError/Code/itemNotFound``.
  public func revoke(_ id: ItemID) async throws(VaultError) { try await vault.revokeToken(id) }

  /// Ends the tokens and consents that are not valid, and deletes the rows of those that ended more than a day ago.
  ///
  /// - Returns: How many ended now.
  @discardableResult
  public func purge() async throws(VaultError) -> Int { try await vault.purgeTokens() }

  /// Ends the tokens and consents of a session.
  ///
  /// - Returns: How many ended now.
  @discardableResult
  public func close(_ session: ViewingSession) async throws(VaultError) -> Int {
    try await vault.closeSession(session)
  }
}

extension Vault {
  fileprivate func cardTokens() throws(VaultError) -> [CardToken] { try core.cardTokens() }
  fileprivate func revokeToken(_ id: ItemID) throws(VaultError) { try core.revokeToken(id) }
  fileprivate func purgeTokens() throws(VaultError) -> Int { try core.purgeTokens() }
  fileprivate func closeSession(_ session: ViewingSession) throws(VaultError) -> Int {
    try core.closeSession(session)
  }
}
