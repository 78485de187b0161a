/// Why an operation of this module failed. No case carries a secret or a part of one.
package enum CryptoError: Error, Equatable, Sendable {
  /// The key is not the one that sealed, or salt, label or associated data differ.
  case commitmentMismatch
  /// The key is right and the bytes were changed. For suite 2: either of the two.
  case tagMismatch
  /// Too short, or not in the layout of a seal.
  case malformed
  /// A seal of a version or suite that this version of the program does not know.
  case unsupported(version: UInt8, suite: UInt8)
  /// More plaintext than 16 MiB.
  case tooLarge
  /// The random generator failed. Nothing was sealed or generated.
  case randomUnavailable
  /// This key has sealed 2^31 times. A new generation is needed.
  case writeLimitReached
  case outOfMemory
  /// Not a key of the needed kind, or a public key that yields no secret.
  case invalidKey
  /// The public half of an RSA key gives its factors away.
  case weakKey
  case signatureMismatch
  /// A failure without a case of its own, with the library's code.
  case library(code: UInt)
}
