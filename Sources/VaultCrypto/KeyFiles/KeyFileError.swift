/// Why a file with a private key was refused. No case carries a part of the file or of its passphrase.
package enum KeyFileError: Error, Equatable, Sendable {
  /// Not of the form that it seemed to have: truncated, altered, or with more bytes than it should have.
  case malformed
  /// The passphrase does not open it. For PKCS#8, which has no MAC, it may be damage instead.
  case wrongPassphrase
  /// It is encrypted, and there is no passphrase.
  case passphraseNeeded
  /// It is encrypted, or has a MAC, by a method that is not accepted: RC2, DES, scrypt, bcrypt, MD5 …
  case unsupportedEncryption
  /// To open it would take more iterations than ``PasswordCost/limit``. Nothing was derived.
  case tooManyIterations
  /// A PKCS#12 file without a MAC: nothing shows that the passphrase is right and that the file is whole.
  case withoutMAC
  /// A PKCS#12 file with bags within bags, which no usual program writes.
  case nestedBags
  case noKey
  /// It has so many private keys, two or more.
  case severalKeys(Int)
  /// A key of another kind or size than ``SigningKeyType`` has.
  case unsupportedKey
  /// The parts of the key do not belong together, or a point is not on its curve.
  case inconsistentKey
  /// The public half of an RSA key gives its factors away.
  case weakKey
  /// It has certificates, and none of them is of its key.
  case foreignCertificates
  /// More certificates than ``KeyFiles/mostCertificates``.
  case tooManyCertificates
  /// What failed was not the file.
  case failed(CryptoError)
}
