import COpenSSL
package import SecretMemory
import Synchronization

/// A private key that is open: what signing needs is set up once, and several threads may sign.
///
/// While it is open, the key is in the memory of OpenSSL, which is not locked. It is wiped when this value ends.
package struct SigningKey: ~Copyable, Sendable {
  package let type: SigningKeyType
  /// The public half.
  package let publicKey: VerifyingKey
  private let key: PKeyHandle
  private let signer: Mutex<Signer>

  /// Generates a key.
  ///
  /// - Parameter random: The source of the key. For RSA it is not used: OpenSSL searches the primes with its own
  ///   generator.
  /// - Throws: ``CryptoError/randomUnavailable`` or the library's error.
  package static func generate(
    _ type: SigningKeyType, random: some RandomSource
  ) throws(CryptoError) -> SigningKey {
    switch type {
    case .p256, .p384: try SigningKey(PrivateKeyCoding.generateECDSA(type, random: random))
    case .ed25519: try SigningKey(OpenedKey(ed25519: random.secret(32)))
    case .rsa2048, .rsa3072, .rsa4096:
      try SigningKey(rsa: PrivateKeyCoding.generateRSA(bitCount: Int32(type.bitCount)))
    }
  }

  /// The key in a PKCS#8 structure without encryption (RFC 5208, RFC 5958), DER.
  ///
  /// - Throws: ``CryptoError/invalidKey`` when the bytes are not a key of a ``SigningKeyType``.
  package init(pkcs8: borrowing SecretBytes) throws(CryptoError) {
    do throws(CryptoError) { try self.init(PrivateKeyDER.read(pkcs8)) } catch {
      throw error == .malformed ? .invalidKey : error
    }
  }

  /// The key as a PKCS#8 structure without encryption, DER, as other programs read it.
  package func exportPKCS8() throws(CryptoError) -> SecretBytes {
    try PrivateKeyCoding.exportPKCS8(key, type: type, publicKey: publicKey)
  }

  /// Checks that the parts of the key belong together and that its public half does not give it away, for keys that other
  /// programs made. Slow for RSA. The public half of a key on a curve was computed when it was opened.
  ///
  /// - Throws: ``CryptoError/invalidKey``, ``CryptoError/weakKey``.
  package func checkConsistency() throws(CryptoError) {
    if type.isRSA { try RSAConsistency.verify(key) }
  }

  /// The signature of `message`.
  ///
  /// - Precondition: `scheme` fits the type of the key.
  package func sign(_ message: RawSpan, as scheme: SignatureScheme) throws(CryptoError) -> [UInt8] {
    precondition(scheme.fits(type), "SigningKey.sign: scheme of another type of key")
    let signature = try signer.withLock { (signer) throws(CryptoError) in
      try signer.sign(message, as: scheme, with: key)
    }
    return scheme == .ecdsaRaw ? try ECDSASignature.raw(fromDER: signature, type: type) : signature
  }

  /// The signature of `message`.
  package func sign(_ message: [UInt8], as scheme: SignatureScheme) throws(CryptoError) -> [UInt8] {
    try unsafe sign(message.span.bytes, as: scheme)
  }

  init(_ opened: consuming OpenedKey) throws(CryptoError) {
    let publicKey = opened.publicKey
    try self.init(opened.key, publicKey: publicKey)
  }

  private init(rsa key: consuming PKeyHandle) throws(CryptoError) {
    let publicKey = try VerifyingKey(ofRSA: key)
    try self.init(key, publicKey: publicKey)
  }

  private init(_ key: consuming PKeyHandle, publicKey: VerifyingKey) throws(CryptoError) {
    let signer = try Signer(key, type: publicKey.type)
    type = publicKey.type
    self.publicKey = publicKey
    self.signer = Mutex(signer)
    self.key = key
  }
}
