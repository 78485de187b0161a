/// The kinds of key that sign.
package enum SigningKeyType: Sendable, Hashable, CaseIterable {
  /// ECDSA on the curve P-256, with SHA-256 (FIPS 186-4).
  case p256
  /// ECDSA on the curve P-384, with SHA-384 (FIPS 186-4).
  case p384
  /// Ed25519 (RFC 8032).
  case ed25519
  /// RSA of 2,048, 3,072 or 4,096 bits and two primes, with SHA-256 (RFC 8017).
  case rsa2048
  case rsa3072
  case rsa4096

  /// The bits of the modulus, or of the field of the curve; 256 for Ed25519.
  package var bitCount: Int {
    switch self {
    case .p256, .ed25519: 256
    case .p384: 384
    case .rsa2048: 2048
    case .rsa3072: 3072
    case .rsa4096: 4096
    }
  }

  package var isRSA: Bool { self == .rsa2048 || self == .rsa3072 || self == .rsa4096 }

  /// Whether it is a curve of ECDSA.
  package var isECDSA: Bool { self == .p256 || self == .p384 }

  /// The bytes of a scalar or of a coordinate of the curve.
  var scalarByteCount: Int { bitCount / 8 }

  /// The bytes of a public key on the curve: 4, x and y of an uncompressed point, or the 32 bytes of Ed25519.
  var pointByteCount: Int { isECDSA ? 1 + 2 * scalarByteCount : 32 }
}
