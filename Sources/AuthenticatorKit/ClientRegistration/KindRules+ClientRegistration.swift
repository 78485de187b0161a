public import VaultKit

extension ItemKind {
  /// An OAuth client registration.
  public static let clientRegistration = ItemKind(rawValue: 21)
}

extension Component {
  /// Registrations of this client at OAuth servers.
  package static let clientRegistration = Component(.clientRegistration)
}

extension KindRules {
  /// Its account is the client, and its issuer the server.
  static let clientRegistration = KindRules(
    .clientRegistration, word: "client-registration", secret: .component(name: "a client registration"),
    attributes: AttributeRules(fixed: [Attribute<String>.account.code, Attribute<String>.issuer.code]),
    operations: [
      AuditOperation.Meaning(.clientRegistered, "clientRegistered", .authOAuth)
    ])
}

extension AuditOperation {
  /// A client was registered at an OAuth server.
  package static let clientRegistered = AuditOperation(rawValue: 56)
}
