/// What kind of key signs.
package enum SigningKeyType: Sendable, Hashable, CaseIterable {
  /// ECDSA on the curve P-256 (FIPS 186-4).
  case p256
  /// Ed25519 (RFC 8032).
  case ed25519
  /// RSA of 2,048 or 3,072 bits (RFC 8017).
  case rsa2048
  case rsa3072
}
