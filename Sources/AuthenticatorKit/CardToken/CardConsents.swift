public import SecretMemory
public import VaultKit

/// How a person consents to a card token: a challenge that lives 300 seconds, answered with a code of six digits.
///
/// A *holder* asks another system for the challenge, hands it the code that the person got, and stores the token that comes
/// back:
///
/// ```swift
/// let consents = CardConsents(vault)
/// let consent = try await consents.request(
///   NewConsent("card", user: "u-17", card: "c-4"), session: session, over: transport)
/// let token = try await consents.confirm(
///   consent.id, with: ConsentCode(typed), storing: NewCardToken("card-token", timeToLive: .seconds(60)),
///   session: session, over: transport)
/// ```
///
/// An *issuer* makes the code and judges it: ``issue(_:session:context:)``, ``judge(_:_:session:context:)``. Both sides count
/// an attempt on the disk before the code is judged or sent, and the fifth wrong one ends the consent. Sending the code again
/// keeps the deadline.
public struct CardConsents: Sendable {
  private let vault: Vault

  /// The consents of a vault.
  public init(_ vault: Vault) { self.vault = vault }

  // MARK: Holder

  /// Asks the other system for a challenge, and stores it. Ends the other consents of the session.
  ///
  /// - Parameters:
  ///   - new: The consent to ask for.
  ///   - session: The session to which the consent, and the token that it gives, belong. **Enforced by key derivation.**
  ///   - transport: The way to the other system.
  ///   - context: Gives the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/duplicateItem`` for the name of a consent that waits, or of another item;
  ///   ``VaultError/Code/policy`` for a card number or a security code in the name or elsewhere;
  ///   ``VaultError/Code/malformed``; ``VaultError/Code/io`` where the boot id cannot be read; ``VaultError/Code/network``
  ///   and the errors of the other system, with its hint: nothing is stored then.
  public func request(
    _ new: NewConsent, session: ViewingSession? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> CardConsent {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.requestConsent(new, session: session, over: transport, context: context)
    }
  }

  /// Hands the code to the other system, and stores the token that comes back. The token that an earlier consent of the session
  /// gave ends in the same commit.
  ///
  /// If the challenge has expired, it is asked for again by itself, once, and the error says so: the person gets a new code.
  ///
  /// - Parameters:
  ///   - id: The consent, which waits for its code.
  ///   - code: The code that came to the person.
  ///   - new: The token to store. It is valid for at most its time to live, and for less if the other system says so.
  ///   - session: The session of the consent; the token then belongs to it, too. **Enforced by key derivation.**
  ///   - transport: The way to the other system, the one of the request.
  ///   - context: Gives the passcode of a locked vault.
  /// - Throws: ``VaultError/Code/authenticationFailed`` with `attemptsLeft` for a wrong code;
  ///   ``VaultError/Code/wrongState`` for a consent that has ended; ``VaultError/Code/expired``;
  ///   ``VaultError/Code/policy`` for another transport, another session, and card data in place of a token;
  ///   ``VaultError/Code/verificationNeeded`` without the session; ``VaultError/Code/network``, and the errors of the other
  ///   system, with its hint.
  public func confirm(
    _ id: ItemID, with code: ConsentCode, storing new: NewCardToken, session: ViewingSession? = nil,
    over transport: any Transport, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> CardToken {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.confirmConsent(
        id, with: code, storing: new, session: session, over: transport, context: context)
    }
  }

  /// Has the other system send the code again. The challenge and its deadline stay. At most once in 30 seconds, and three times
  /// for a challenge.
  ///
  /// - Throws: ``VaultError/Code/policy`` with `retryAfter` before 30 seconds are over, and after three times; as
  ///   ``confirm(_:with:storing:session:over:context:)``, where that does not concern a code.
  @discardableResult
  public func resend(
    _ id: ItemID, session: ViewingSession? = nil, over transport: any Transport,
    context: AuthenticationContext? = nil
  ) async throws(VaultError) -> CardConsent {
    try await vault.waiting(context) { core, context throws(VaultError) in
      try core.resendConsent(id, session: session, over: transport, context: context)
    }
  }

  // MARK: Issuer

  /// Makes a consent and its code. The vault keeps an HMAC of the code under a key of its own.
  ///
  /// - Returns: The code, six digits, for the caller to send to the person.
  /// - Throws: As ``request(_:session:over:context:)``, without the errors of another system.
  public func issue(
    _ new: NewConsent, session: ViewingSession? = nil, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> IssuedConsent {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.issueConsent(new, session: session, context: context)
    }
  }

  /// Judges a code. The verdict is on the disk before this returns, and a right code ends the consent.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` with `attemptsLeft` for a wrong code;
  ///   ``VaultError/Code/wrongState`` for a consent that has ended; ``VaultError/Code/expired``;
  ///   ``VaultError/Code/policy`` for the consent of a holder or of another session.
  @discardableResult
  public func judge(
    _ id: ItemID, _ code: ConsentCode, session: ViewingSession? = nil, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> CardConsent {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.judgeConsent(id, code, session: session, context: context)
    }
  }

  /// Makes a new code for a consent, in the place of the old one. The deadline and the attempts stay. At most once in 30
  /// seconds, and three times for a consent.
  ///
  /// - Returns: The new code, for the caller to send to the person.
  /// - Throws: As ``judge(_:_:session:context:)``, and ``VaultError/Code/policy`` with `retryAfter`.
  public func reissue(
    _ id: ItemID, session: ViewingSession? = nil, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> IssuedConsent {
    try await vault.asking(context) { core, context throws(VaultError) in
      try core.reissueConsent(id, session: session, context: context)
    }
  }

  // MARK: Both

  /// The consents that the vault keeps, also those that ended less than a day ago. Asks no person, also in a locked vault.
  public func list() async throws(VaultError) -> [CardConsent] { try await vault.cardConsents() }

  /// Ends a consent. Asks no person, also in a locked vault.
  ///
  /// - Throws: ``VaultError/Code/wrongState`` and ``VaultError/Code/expired`` for a consent that has ended,
  ///   ``VaultError/Code/itemNotFound``.
  public func revoke(_ id: ItemID) async throws(VaultError) { try await vault.revokeConsent(id) }
}

/// A consent with its code, for the issuer to send to the person.
public struct IssuedConsent: ~Copyable, Sendable {
  /// The consent.
  public let consent: CardConsent
  /// Six ASCII digits.
  public let code: SecretBytes
}

extension Vault {
  fileprivate func cardConsents() throws(VaultError) -> [CardConsent] { try core.cardConsents() }
  fileprivate func revokeConsent(_ id: ItemID) throws(VaultError) { try core.revokeConsent(id) }
}
