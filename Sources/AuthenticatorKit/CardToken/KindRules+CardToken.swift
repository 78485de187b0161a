public import VaultKit

extension ItemKind {
  /// A short-lived card token.
  public static let cardToken = ItemKind(rawValue: 19)
  /// A consent challenge.
  public static let consent = ItemKind(rawValue: 20)
}

extension Component {
  /// Card tokens, without a session.
  package static let cardToken = Component(.cardToken)
  /// Consents, without a session.
  package static let consent = Component(.consent)
}

extension KindRules {
  static let cardToken = KindRules(
    .cardToken, word: "token", isListedAlone: true,
    secret: .component(
      name: "a card token", hint: .takeToken),
    attributes: .ofCards, expiry: ExpiryRules(isFixed: true, endsByClock: true), state: StateRules(.always),
    policy: PolicyRules(
      end: PolicyRules.EndRule(.tokenEnded) { state, _ in state.usesLeft = 0 }, staysHere: true),
    operations: [
      AuditOperation.Meaning(.tokenStored, "tokenStored", .authFlow),
      AuditOperation.Meaning(.tokenTaken, "tokenTaken", .authFlow),
      AuditOperation.Meaning(.tokenRevoked, "tokenRevoked", .authFlow),
      AuditOperation.Meaning(.tokenEnded, "tokenEnded", .authFlow, isChange: false),
    ])

  static let consent = KindRules(
    .consent, word: "consent", isListedAlone: true, secret: .component(name: "a consent"),
    attributes: .ofCards, expiry: ExpiryRules(isFixed: true, endsByClock: true), state: StateRules(.always),
    policy: PolicyRules(
      end: PolicyRules.EndRule(.consentEnded) { state, isOver in
        state.set(isOver ? ConsentState.expired : .revoked)
        state.usesLeft = 0
      }, staysHere: true),
    operations: [
      AuditOperation.Meaning(.consentRequested, "consentRequested", .authFlow),
      AuditOperation.Meaning(.consentConfirmed, "consentConfirmed", .authFlow),
      AuditOperation.Meaning(.consentSentAgain, "consentSentAgain", .authFlow),
      AuditOperation.Meaning(.consentEnded, "consentEnded", .authFlow, isChange: false),
    ])
}

extension AttributeRules {
  /// The account is the user, as the server said. No card number is ever stored.
  fileprivate static let ofCards = AttributeRules(
    fixed: [Attribute<String>.account.code],
    check: { attributes throws(VaultError) in try CardData.refuse(attributes) },
    checkSecret: { secret throws(VaultError) in try CardData.refuse(secret) })
}

extension AuditOperation {
  /// A card token was stored.
  package static let tokenStored = AuditOperation(rawValue: 32)
  /// A card token was handed out once.
  package static let tokenTaken = AuditOperation(rawValue: 33)
  /// A card token was revoked, or its session was closed.
  package static let tokenRevoked = AuditOperation(rawValue: 34)
  /// The secret of a card token was deleted: its time was over, or its uses.
  package static let tokenEnded = AuditOperation(rawValue: 53)
}

extension AuditOperation {
  /// A consent was requested, or issued.
  public static let consentRequested = AuditOperation(rawValue: 35)
  /// The code of a consent was judged.
  public static let consentConfirmed = AuditOperation(rawValue: 36)
  /// The code of a consent was sent again.
  public static let consentSentAgain = AuditOperation(rawValue: 54)
  /// A consent ended without being confirmed.
  public static let consentEnded = AuditOperation(rawValue: 55)
}

extension Hint {
  package static let takeToken: Hint = "\("take it through its component", tool: "use 'vaultctl card get'")"
}
