import VaultCrypto

/// The kinds of client keys.
@nonexhaustive
public enum ClientKeyType: String, Sendable, CaseIterable {
  /// ECDSA on the curve P-256 with SHA-256: ES256.
  case p256
  /// ECDSA on the curve P-384 with SHA-384: ES384.
  case p384
  /// Ed25519 (RFC 8032): EdDSA.
  case ed25519
  /// RSA of 2,048 bits, RSASSA-PKCS1-v1_5 with SHA-256: RS256.
  case rsa2048
  /// The same with 3,072 bits.
  case rsa3072
  /// The same with 4,096 bits.
  case rsa4096

  init(_ type: SigningKeyType) {
    self =
      switch type {
      case .p256: .p256
      case .p384: .p384
      case .ed25519: .ed25519
      case .rsa2048: .rsa2048
      case .rsa3072: .rsa3072
      case .rsa4096: .rsa4096
      }
  }

  var signing: SigningKeyType {
    switch self {
    case .p256: .p256
    case .p384: .p384
    case .ed25519: .ed25519
    case .rsa2048: .rsa2048
    case .rsa3072: .rsa3072
    case .rsa4096: .rsa4096
    }
  }

  /// The attributes 24 (key type) and 25 (bits) of its item.
  var stored: (type: Int64, bits: Int64) {
    let bits = Int64(signing.bitCount)
    return switch self {
    case .p256, .p384: (73, bits)
    case .ed25519: (105, bits)
    case .rsa2048, .rsa3072, .rsa4096: (42, bits)
    }
  }
}

/// How the two numbers of an ECDSA signature are written. RSA and Ed25519 have one form, which both names mean.
@nonexhaustive
public enum SignatureForm: Sendable, CaseIterable {
  /// r ‖ s, each as long as the order of the curve: 64 or 96 bytes (JOSE, IEEE P1363).
  case raw
  /// A DER sequence of two integers (X.509, TLS, OpenSSL).
  case der

  func scheme(of type: SigningKeyType) -> SignatureScheme {
    switch type {
    case .p256, .p384: self == .raw ? .ecdsaRaw : .ecdsaDER
    case .ed25519: .ed25519
    case .rsa2048, .rsa3072, .rsa4096: .rsaPKCS1
    }
  }
}
