import COpenSSL

/// A public key that checks signatures: a value, its SubjectPublicKeyInfo (RFC 5280 §4.1).
package struct VerifyingKey: Sendable, Hashable {
  package let type: SigningKeyType
  /// The SubjectPublicKeyInfo, DER.
  package let spki: [UInt8]

  /// The key in a SubjectPublicKeyInfo structure, DER.
  ///
  /// - Throws: ``CryptoError/invalidKey`` when the bytes are not a key of a ``SigningKeyType``, or more bytes
  ///   follow it.
  package init(spki: [UInt8]) throws(CryptoError) {
    // A key on a curve has one form, which is compared: OpenSSL's decoders cost more than a signature.
    let curve = SigningKeyType.allCases.first { !$0.isRSA && spki.count == DER.spkiByteCount(of: $0) }
    guard let curve else {
      let key = try VerifyingKey.importSPKI(spki)
      try self.init(ofRSA: key)
      guard self.spki == spki else { throw .invalidKey }
      return
    }
    let point = Array(spki.suffix(curve.pointByteCount))
    guard spki == DER.spki(of: curve, point: point) else { throw .invalidKey }
    // Every 32 bytes are a key of Ed25519 to OpenSSL.
    if curve.isECDSA, try !CurvePoint.isOnCurve(point, curve) { throw .invalidKey }
    self.init(type: curve, spki: spki)
  }

  /// Ends without an error when `signature` is one of `message` under this key.
  ///
  /// - Throws: ``CryptoError/signatureMismatch``, also for a signature that is malformed.
  /// - Precondition: `scheme` fits the type of the key.
  package func verify(
    _ signature: [UInt8], of message: RawSpan, as scheme: SignatureScheme
  ) throws(CryptoError) {
    precondition(scheme.fits(type), "VerifyingKey.verify: scheme of another type of key")
    let key = try VerifyingKey.importSPKI(spki)
    switch scheme {
    case .ed25519: try verifyMessage(signature, message: message, key: key)
    case .ecdsaRaw:
      try verifyDigest(
        ECDSASignature.der(fromRaw: signature, type: type), message: message, scheme: scheme, key: key)
    case .ecdsaDER, .rsaPKCS1, .rsaPSS:
      try verifyDigest(signature, message: message, scheme: scheme, key: key)
    }
  }

  /// Ends without an error when `signature` is one of `message` under this key.
  package func verify(
    _ signature: [UInt8], of message: [UInt8], as scheme: SignatureScheme
  ) throws(CryptoError) {
    try unsafe verify(signature, of: message.span.bytes, as: scheme)
  }

  /// A key whose structure was made here.
  init(type: SigningKeyType, spki: [UInt8]) { (self.type, self.spki) = (type, spki) }

  /// The public half of `key`.
  ///
  /// - Throws: As ``PKeyHandle/rsaType()``.
  init(ofRSA key: borrowing PKeyHandle) throws(CryptoError) {
    type = try key.rsaType()
    let count = unsafe Int(i2d_PUBKEY(key.pointer, nil))
    try check(Int32(count))
    spki = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
      var end = buffer.baseAddress
      written = unsafe Int(i2d_PUBKEY(key.pointer, &end))
    }
  }

  /// What the structure says of the key.
  package enum Components: Sendable, Hashable {
    /// The uncompressed point of a curve, or the 32 bytes of Ed25519.
    case point([UInt8])
    /// The numbers of RSA, big-endian, without zeros in front.
    case rsa(modulus: [UInt8], exponent: [UInt8])
  }

  /// The key on a curve that has this point.
  ///
  /// - Parameter point: Uncompressed, or the 32 bytes of Ed25519.
  /// - Throws: ``CryptoError/invalidKey`` for another length, and for a point that is not on the curve.
  package init(_ type: SigningKeyType, point: [UInt8]) throws(CryptoError) {
    guard !type.isRSA, point.count == type.pointByteCount else { throw .invalidKey }
    try self.init(spki: DER.spki(of: type, point: point))
  }

  /// The key of RSA that has these numbers, big-endian, without zeros in front.
  ///
  /// - Throws: ``CryptoError/invalidKey`` for another size than those of ``SigningKeyType``, and for an exponent that is even, 1 or
  ///   longer than 8 bytes.
  package init(rsaModulus modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
    guard 1...512 ~= modulus.count, 1...8 ~= exponent.count else { throw .invalidKey }
    try self.init(spki: DER.spki(ofRSA: modulus, exponent: exponent))
  }

  /// What the structure of a key on each curve begins with, before its numbers: whatever begins with it is a public key.
  package static var curveHeads: [[UInt8]] {
    [SigningKeyType.p256, .p384, .ed25519].map { type in
      DER.spki(of: type, point: [UInt8](repeating: 4, count: type.pointByteCount))
        .dropLast(type.isECDSA ? type.pointByteCount - 1 : type.pointByteCount)
    }
  }

  /// The numbers of the key, for formats that name them.
  package func components() throws(CryptoError) -> Components {
    switch type {
    case .p256, .p384, .ed25519: return .point(Array(spki.suffix(type.pointByteCount)))
    case .rsa2048, .rsa3072, .rsa4096:
      let key = try VerifyingKey.importSPKI(spki)
      return .rsa(modulus: try key.publicNumber("n"), exponent: try key.publicNumber("e"))
    }
  }

  private func verifyMessage(
    _ signature: [UInt8], message: RawSpan, key: borrowing PKeyHandle
  ) throws(CryptoError) {
    guard let context = unsafe EVP_MD_CTX_new() else { throw .outOfMemory }
    defer { unsafe EVP_MD_CTX_free(context) }
    try unsafe check(EVP_DigestVerifyInit_ex(context, nil, nil, OpenSSL.keyContext, nil, key.pointer, nil))
    try unsafe message.withUnsafeBytes { (message) throws(CryptoError) in
      let start = unsafe message.baseAddress?.assumingMemoryBound(to: UInt8.self)
      try unsafe check(
        EVP_DigestVerify(context, signature, signature.count, start, message.count),
        orThrow: .signatureMismatch)
    }
  }

  private func verifyDigest(
    _ signature: [UInt8], message: RawSpan, scheme: SignatureScheme, key: borrowing PKeyHandle
  ) throws(CryptoError) {
    try unsafe SignatureContext.with(key, scheme: scheme, start: EVP_PKEY_verify_init) {
      (context) throws(CryptoError) in
      try unsafe SignatureContext.withDigest(of: message, type: type) { (digest) throws(CryptoError) in
        try unsafe check(
          EVP_PKEY_verify(context, signature, signature.count, digest.baseAddress, digest.count),
          orThrow: .signatureMismatch)
      }
    }
  }

  private static func importSPKI(_ spki: [UInt8]) throws(CryptoError) -> PKeyHandle {
    let key = unsafe spki.withUnsafeBufferPointer { buffer in
      var end = buffer.baseAddress
      return unsafe d2i_PUBKEY_ex(nil, &end, buffer.count, OpenSSL.keyContext, nil)
    }
    return try unsafe PKeyHandle(key, orThrow: .invalidKey)
  }
}
