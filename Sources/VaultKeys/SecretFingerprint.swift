package import VaultFormat
import SecretMemory
package import VaultCrypto

/// Recognizes a secret without keeping it: its HMAC-SHA-256 under a separate random key.
package struct SecretFingerprint: Sendable {
  private let key: [UInt8]
  private let code: [UInt8]

  /// - Throws: ``VaultError/Code/io`` when the random generator fails.
  package init(of secret: RawSpan, random: any RandomSource = SystemRandom()) throws(VaultError) {
    let key = try random.newBytes(32)
    self.key = key
    code = unsafe KeyedHMAC(key: key.span.bytes).code(for: secret)
  }

  /// Whether `other` is the secret, in a time that depends on its length only.
  package func matches(_ other: RawSpan) -> Bool {
    unsafe isEqualInConstantTime(KeyedHMAC(key: key.span.bytes).code(for: other), code)
  }
}
