/// What can go wrong in this module. No case carries a secret or a part of one.
package enum CryptoError: Error, Equatable, Sendable {
  /// The key is not the one it was sealed under, or salt, label or associated data differ.
  case commitmentMismatch
  /// The key is the right one and the bytes were changed; for suite 2, one of both.
  case tagMismatch
  /// Too short or otherwise not of the layout it should have.
  case malformed
  /// A seal of a version or suite that this version does not know.
  case unsupported(version: UInt8, suite: UInt8)
  /// More plaintext than 16 MiB.
  case tooLarge
  /// The random generator failed; nothing was sealed or made.
  case randomUnavailable
  /// This key has written 2^31 seals; a new generation is needed.
  case writeLimitReached
  case outOfMemory
  /// Not a key of the kind that is needed, or a public key that yields no secret.
  case invalidKey
  case signatureMismatch
  /// A failure without a case of its own, with the library's code.
  case library(code: UInt)
}
