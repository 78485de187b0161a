public import VaultKit

extension ItemKind {
  /// The tokens of an OAuth client. It has no name; unique by account, which is the identifier of its registration.
  public static let tokenSet = ItemKind(rawValue: 23)
}

extension Component {
  /// Tokens of OAuth servers.
  package static let tokenSet = Component(.tokenSet)
}

extension KindRules {
  /// Without its registration no name leads to the tokens.
  static let tokenSet = KindRules(
    .tokenSet, word: "token-set",
    secret: .component(
      name: "a set of tokens",
      hint: .authorizeRequest),
    attributes: AttributeRules(hasName: false, primary: [Attribute<String>.account.code]),
    relations: Relations(belongsTo: .clientRegistration),
    operations: [
      AuditOperation.Meaning(.tokensStored, "tokensStored", .authOAuth),
      AuditOperation.Meaning(.tokensRefreshed, "tokensRefreshed", .authOAuth),
      AuditOperation.Meaning(.tokensRevoked, "tokensRevoked", .authOAuth),
    ])
}

extension AuditOperation {
  /// Tokens of an OAuth server were stored.
  package static let tokensStored = AuditOperation(rawValue: 57)
  /// The tokens of an OAuth server were refreshed.
  package static let tokensRefreshed = AuditOperation(rawValue: 58)
  /// The tokens of an OAuth server were revoked there and deleted here.
  package static let tokensRevoked = AuditOperation(rawValue: 59)
}

extension Hint {
  package static let authorizeRequest: Hint =
    "\("authorize requests with it through its component", tool: "use 'vaultctl oauth authorize-header'")"
}
