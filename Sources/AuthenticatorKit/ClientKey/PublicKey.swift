package import VaultCrypto
public import VaultKit

/// The public half of a client key, or of somebody else's key: a value that verifies signatures and is published.
public struct PublicKey: Sendable, Hashable {
  /// What kind of key it is.
  public let type: ClientKeyType
  /// The SubjectPublicKeyInfo (RFC 5280 §4.1), DER, with the uncompressed point of a curve.
  public let subjectPublicKeyInfo: [UInt8]
  /// The uncompressed point of a curve, 65 or 97 bytes, or the 32 bytes of Ed25519; `nil` for RSA.
  public let point: [UInt8]?
  /// Of RSA: big-endian, without zeros in front; `nil` for other keys.
  public let modulus: [UInt8]?
  /// Of RSA: big-endian, without zeros in front; `nil` for other keys.
  public let exponent: [UInt8]?
  package let key: VerifyingKey

  /// The key of a SubjectPublicKeyInfo structure, DER.
  ///
  /// - Throws: ``VaultError/Code/malformed`` for bytes that are not exactly a key of a ``ClientKeyType`` in its usual form: a
  ///   point off its curve, a compressed point, RSA of another size or with an exponent of 1.
  public init(subjectPublicKeyInfo: [UInt8]) throws(VaultError) {
    do throws(CryptoError) {
      try self.init(VerifyingKey(spki: subjectPublicKeyInfo))
    } catch {
      throw VaultError(
        .malformed, "the bytes are not a public key of P-256, P-384, Ed25519 or RSA of 2,048 to 4,096 bits")
    }
  }

  package init(_ key: VerifyingKey) throws(CryptoError) {
    type = ClientKeyType(key.type)
    subjectPublicKeyInfo = key.spki
    self.key = key
    switch try key.components() {
    case .point(let bytes): (point, modulus, exponent) = (bytes, nil, nil)
    case .rsa(let modulus, let exponent): (point, self.modulus, self.exponent) = (nil, modulus, exponent)
    }
  }

  /// Ends without an error if `signature` is one of `message` under this key.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed``, also for a signature that is malformed.
  public func verify(
    _ signature: [UInt8], of message: RawSpan, as form: SignatureForm = .raw
  ) throws(VaultError) {
    do throws(CryptoError) {
      try key.verify(signature, of: message, as: form.scheme(of: key.type))
    } catch {
      guard error == .signatureMismatch else { throw VaultError(crypto: error) }
      throw VaultError(.authenticationFailed, "the signature is not one of this data by this key")
    }
  }

  /// Ends without an error if `signature` is one of `message` under this key.
  ///
  /// - Throws: As ``verify(_:of:as:)-(_,RawSpan,_)``.
  public func verify(
    _ signature: [UInt8], of message: [UInt8], as form: SignatureForm = .raw
  ) throws(VaultError) {
    try unsafe verify(signature, of: message.span.bytes, as: form)
  }
}
