public import VaultKit

extension ItemKind {
  /// A signed answer of a server, kept until it expires.
  public static let responseJWT = ItemKind(rawValue: 24)
}

extension Component {
  /// Answers to challenges of card payments.
  package static let responseJWT = Component(.responseJWT)
}

extension KindRules {
  static let responseJWT = KindRules(
    .responseJWT, word: "response-jwt", secret: .component(name: "a signed answer"),
    expiry: ExpiryRules(isFixed: true, endsByClock: true))
}
