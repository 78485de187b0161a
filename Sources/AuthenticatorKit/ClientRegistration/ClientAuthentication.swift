import VaultKit

/// How a client proves to its server who it is.
@nonexhaustive
public enum ClientAuthentication: String, Sendable, CaseIterable {
  /// Not at all: a public client.
  case none
  /// By its secret, in the header `Authorization`.
  case clientSecretBasic = "client_secret_basic"
  /// By its secret, in the form.
  case clientSecretPost = "client_secret_post"
  /// By a token that it signs with its secret (HS256); the secret is not sent.
  case clientSecretJWT = "client_secret_jwt"
  /// By a token that it signs with a client key.
  case privateKeyJWT = "private_key_jwt"

  package var needsSecret: Bool { self != .none && self != .privateKeyJWT }
}

/// A field of its registration (section 12).
extension ClientAuthentication: Numbered { package static let firstNumber: UInt8 = 1 }
