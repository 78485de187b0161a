/// How a message becomes a signature. The hash is SHA-256, but SHA-384 for P-384, and Ed25519 brings its own.
package enum SignatureScheme: Sendable, Hashable, CaseIterable {
  /// ECDSA; r and s as long as the scalars of the curve, big-endian (IEEE P1363, JOSE).
  case ecdsaRaw
  /// ECDSA; r and s as a DER sequence (X9.62, TLS).
  case ecdsaDER
  case ed25519
  /// RSASSA-PKCS1-v1_5 (RFC 8017 §8.2).
  case rsaPKCS1
  /// RSASSA-PSS, salt of 32 bytes, MGF1 with SHA-256 (RFC 8017 §8.1).
  case rsaPSS

  func fits(_ type: SigningKeyType) -> Bool {
    switch self {
    case .ecdsaRaw, .ecdsaDER: type.isECDSA
    case .ed25519: type == .ed25519
    case .rsaPKCS1, .rsaPSS: type.isRSA
    }
  }
}
