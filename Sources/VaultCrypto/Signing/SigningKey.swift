import COpenSSL
package import SecretMemory
import Synchronization

/// A private key held open: what signing needs is set up once, several threads may sign.
///
/// While it is open the key lies in OpenSSL's own memory, which is wiped when this value ends; it is not locked.
package struct SigningKey: ~Copyable, Sendable {
  package let type: SigningKeyType
  /// The public half.
  package let publicKey: VerifyingKey
  private let key: PKeyHandle
  private let signer: Mutex<Signer>

  /// A new key.
  ///
  /// - Parameter random: Where the key comes from; for RSA it is OpenSSL's own generator, since its primes are
  ///   searched for in there.
  /// - Throws: ``CryptoError/randomUnavailable`` or the library's error.
  package static func generate(
    _ type: SigningKeyType, random: some RandomSource
  ) throws(CryptoError) -> SigningKey {
    switch type {
    case .p256: try SigningKey(PrivateKeyCoding.generateP256(random: random), type: type)
    case .ed25519: try SigningKey(PrivateKeyCoding.importEd25519(random.secret(32)), type: type)
    case .rsa2048: try SigningKey(PrivateKeyCoding.generateRSA(bitCount: 2048), type: type)
    case .rsa3072: try SigningKey(PrivateKeyCoding.generateRSA(bitCount: 3072), type: type)
    }
  }

  /// The key in a PKCS#8 structure without encryption (RFC 5208, RFC 5958), DER.
  ///
  /// - Throws: ``CryptoError/invalidKey`` for what is no key, or none of ``SigningKeyType``.
  package init(pkcs8: borrowing SecretBytes) throws(CryptoError) {
    let key = try PrivateKeyCoding.importPKCS8(pkcs8)
    let type = try key.signingKeyType()
    try self.init(key, type: type)
  }

  /// The key as a PKCS#8 structure without encryption, DER, as other programs read it.
  package func exportPKCS8() throws(CryptoError) -> SecretBytes {
    try PrivateKeyCoding.exportPKCS8(key, type: type, publicKey: publicKey)
  }

  /// Checks that the parts of the key belong together: for keys that come from elsewhere. Slow for RSA.
  ///
  /// - Throws: ``CryptoError/invalidKey``.
  package func checkConsistency() throws(CryptoError) {
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else { throw .outOfMemory }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    try unsafe check(EVP_PKEY_check(context), orThrow: .invalidKey)
  }

  /// The signature of `message`.
  ///
  /// - Precondition: `scheme` fits the type of the key.
  package func sign(_ message: RawSpan, as scheme: SignatureScheme) throws(CryptoError) -> [UInt8] {
    precondition(scheme.fits(type), "SigningKey.sign: scheme of another type of key")
    let signature = try signer.withLock { (signer) throws(CryptoError) in
      try signer.sign(message, as: scheme, with: key)
    }
    return scheme == .ecdsaRaw ? try ECDSASignature.raw(fromDER: signature) : signature
  }

  /// The signature of `message`.
  package func sign(_ message: [UInt8], as scheme: SignatureScheme) throws(CryptoError) -> [UInt8] {
    try unsafe sign(message.span.bytes, as: scheme)
  }

  private init(_ key: consuming PKeyHandle, type: SigningKeyType) throws(CryptoError) {
    let publicKey = try VerifyingKey(of: key, type)
    let signer = try Signer(key, type: type)
    self.type = type
    self.publicKey = publicKey
    self.signer = Mutex(signer)
    self.key = key
  }
}
