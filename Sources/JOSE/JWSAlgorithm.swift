package import VaultCrypto

/// The signatures of this module (RFC 7518 §3.1, RFC 8037 §3.1).
package enum JWSAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// ECDSA on P-256 with SHA-256, 64 bytes.
  case es256 = "ES256"
  /// ECDSA on P-384 with SHA-384, 96 bytes.
  case es384 = "ES384"
  /// RSASSA-PKCS1-v1_5 with SHA-256, keys of 2,048 bits or more.
  case rs256 = "RS256"
  /// Ed25519, 64 bytes.
  case edDSA = "EdDSA"
  /// HMAC with SHA-256, 32 bytes, by a ``MACKey``.
  case hs256 = "HS256"

  /// The one algorithm of a public key.
  package init(of key: VerifyingKey) {
    self =
      switch key.type {
      case .p256: .es256
      case .p384: .es384
      case .ed25519: .edDSA
      case .rsa2048, .rsa3072, .rsa4096: .rs256
      }
  }

  /// How a key signs; `nil` for ``hs256``.
  package var scheme: SignatureScheme? {
    switch self {
    case .es256, .es384: .ecdsaRaw
    case .rs256: .rsaPKCS1
    case .edDSA: .ed25519
    case .hs256: nil
    }
  }
}
