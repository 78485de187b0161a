import COpenSSL
import SecretMemory

/// A private key of OpenSSL that was made from its numbers, with its public half.
struct OpenedKey: ~Copyable {
  let key: PKeyHandle
  let publicKey: VerifyingKey

  private init(_ key: consuming PKeyHandle, _ publicKey: VerifyingKey) {
    self.key = key
    self.publicKey = publicKey
  }

  init(ed25519 seed: borrowing SecretBytes) throws(CryptoError) {
    let made = unsafe seed.expose { seed in
      unsafe seed.withUnsafeBytes {
        unsafe EVP_PKEY_new_raw_private_key_ex(
          OpenSSL.keyContext, "ED25519", nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count)
      }
    }
    let key = try unsafe PKeyHandle(made, orThrow: .invalidKey)
    var count = 32
    let half = try unsafe [UInt8](unsafeUninitializedCapacity: count) {
      (bytes, written) throws(CryptoError) in
      try unsafe check(EVP_PKEY_get_raw_public_key(key.pointer, bytes.baseAddress, &count))
      written = count
    }
    self.init(key, VerifyingKey(type: .ed25519, spki: DER.spki(of: .ed25519, point: half)))
  }

  /// - Parameters:
  ///   - scalar: As long as the curve says.
  ///   - shownPoint: The public half as a file has it, compressed or not; `nil` if it has none.
  /// - Throws: ``CryptoError/malformed`` if the scalar is 0 or not below the order, or its point is not the shown one.
  init(
    _ type: SigningKeyType, scalar: borrowing SecretBytes, shownPoint: [UInt8]? = nil
  ) throws(CryptoError) {
    guard PrivateKeyCoding.isScalar(scalar, of: type) else { throw .malformed }
    let point = try CurvePoint.uncompressed(of: scalar, type, shown: shownPoint)
    var number = Self.reversed(scalar)
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(OpenSSL.keyContext, "EC", nil) else {
      throw .outOfMemory
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    try unsafe check(EVP_PKEY_fromdata_init(context))
    var (bytes, made) = unsafe (point, OpaquePointer?.none)
    let result = unsafe number.modify { number in
      unsafe vault_ecdsa_from_data(
        context, &made, type == .p256 ? "prime256v1" : "secp384r1",
        number.baseAddress?.assumingMemoryBound(to: UInt8.self), number.count, &bytes, bytes.count)
    }
    try check(result, orThrow: .invalidKey)
    self.init(
      try unsafe PKeyHandle(made, orThrow: .invalidKey),
      VerifyingKey(type: type, spki: DER.spki(of: type, point: point)))
  }

  /// - Parameter places: Where the eight numbers of PKCS#1 are in `der`.
  /// - Throws: ``CryptoError/invalidKey`` for another size than those of ``SigningKeyType``, for an exponent that
  ///   ``PKeyHandle/isExponent(_:)`` refuses, and for factors of unequal length (FIPS 186-5 A.1.1): a short one can be found from
  ///   the public key alone; ``CryptoError/malformed`` for other numbers that are longer than a key of this size has them:
  ///   OpenSSL would search for factors of a prime of any length.
  init(rsa places: [Range<Int>], of der: RawSpan) throws(CryptoError) {
    let (modulus, exponent) = (places[0].map { der.byte(at: $0) }, places[1].map { der.byte(at: $0) })
    let size = SigningKeyType.allCases.first { $0.isRSA && $0.bitCount == 8 * modulus.count }
    guard let type = size, modulus[0] >= 0x80, PKeyHandle.isExponent(exponent) else { throw .invalidKey }
    guard places.allSatisfy({ $0.count <= modulus.count }),
      places[3].count + places[4].count <= modulus.count + 1
    else { throw .malformed }
    guard places[3].count == places[4].count else { throw .invalidKey }
    // Each in the order of this machine's bytes.
    var numbers = SecretBytes(capacity: places.reduce(0) { $0 + $1.count }) { output in
      for place in places {
        for offset in place.reversed() { unsafe output.append(der.byte(at: offset), as: UInt8.self) }
      }
    }
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(OpenSSL.keyContext, "RSA", nil) else {
      throw .outOfMemory
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    try unsafe check(EVP_PKEY_fromdata_init(context))
    var made: OpaquePointer?
    let counts = places.map(\.count)
    let result = unsafe numbers.modify { numbers in
      unsafe vault_rsa_from_data(
        context, &made, numbers.baseAddress?.assumingMemoryBound(to: UInt8.self), counts)
    }
    try check(result, orThrow: .invalidKey)
    self.init(
      try unsafe PKeyHandle(made, orThrow: .invalidKey),
      VerifyingKey(type: type, spki: DER.spki(ofRSA: modulus, exponent: exponent)))
  }

  private static func reversed(_ number: borrowing SecretBytes) -> SecretBytes {
    number.expose { number in
      SecretBytes(capacity: number.byteCount) { output in
        for offset in (0..<number.byteCount).reversed() {
          unsafe output.append(number.byte(at: offset), as: UInt8.self)
        }
      }
    }
  }
}
