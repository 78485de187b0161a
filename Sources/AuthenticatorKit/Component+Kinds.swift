package import VaultKit

/// The rights of the components of this module.
extension Component {
  /// One-time-password credentials.
  package static let otp = Component(.otp)
  /// PINs.
  package static let pin = Component(.pin)
  /// Biokeys.
  package static let biokey = Component(.biokey)
  /// Client keys.
  package static let key = Component(.key)
  /// Transactions.
  package static let transaction = Component(.transaction)
  /// Answers to challenges of card payments.
  package static let responseJWT = Component(.responseJWT)
  /// Card tokens, without a session.
  package static let cardToken = Component(.cardToken)
  /// Consents, without a session.
  package static let consent = Component(.consent)
  /// Registrations of this client at OAuth servers.
  package static let clientRegistration = Component(.clientRegistration)
  /// Tokens of OAuth servers.
  package static let tokenSet = Component(.tokenSet)
}
