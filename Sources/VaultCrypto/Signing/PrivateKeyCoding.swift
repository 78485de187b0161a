import COpenSSL
import SecretMemory

/// Private keys in and out, PKCS#8 being written here and not by OpenSSL, whose encoders leave copies behind.
enum PrivateKeyCoding {
  static func importPKCS8(_ pkcs8: borrowing SecretBytes) throws(CryptoError) -> PKeyHandle {
    OpenSSL.start
    let key: OpaquePointer? = unsafe pkcs8.expose { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        var end = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let wholeEnd = unsafe end.map { unsafe $0 + bytes.count }
        let key = unsafe d2i_AutoPrivateKey_ex(nil, &end, bytes.count, nil, nil)
        guard unsafe end == wholeEnd else {
          unsafe EVP_PKEY_free(key)
          return nil
        }
        return unsafe key
      }
    }
    return try unsafe PKeyHandle(key, orThrow: .invalidKey)
  }

  static func importEd25519(_ seed: borrowing SecretBytes) throws(CryptoError) -> PKeyHandle {
    OpenSSL.start
    let key = unsafe seed.expose { seed in
      unsafe seed.withUnsafeBytes {
        unsafe EVP_PKEY_new_raw_private_key_ex(
          nil, "ED25519", nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count)
      }
    }
    return try unsafe PKeyHandle(key, orThrow: .invalidKey)
  }

  /// A uniform scalar by rejection (FIPS 186-4 B.4.2); one draw in 2^32 is refused.
  static func generateP256(random: some RandomSource) throws(CryptoError) -> PKeyHandle {
    for _ in 0..<8 {
      let scalar = try random.secret(32)
      if isP256Scalar(scalar) { return try importPKCS8(DER.p256(scalar: scalar, publicPoint: nil)) }
    }
    throw .randomUnavailable
  }

  /// Whether a number of 32 bytes is from 1 to the order of the curve less 1. OpenSSL would take any.
  private static func isP256Scalar(_ scalar: borrowing SecretBytes) -> Bool {
    let order: [UInt64] = [
      0xffff_ffff_0000_0000, 0xffff_ffff_ffff_ffff, 0xbce6_faad_a717_9e84, 0xf3b9_cac2_fc63_2551,
    ]
    return scalar.expose { bytes in
      var isLess = false
      var isEqual = true
      var isZero = true
      for index in 0..<4 {
        let word = unsafe UInt64(
          bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
        isLess = isLess || isEqual && word < order[index]
        isEqual = isEqual && word == order[index]
        isZero = isZero && word == 0
      }
      return isLess && !isZero
    }
  }

  static func generateRSA(bitCount: Int32) throws(CryptoError) -> PKeyHandle {
    OpenSSL.start
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else { throw .outOfMemory }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    try unsafe check(EVP_PKEY_keygen_init(context))
    try unsafe check(EVP_PKEY_CTX_set_rsa_keygen_bits(context, bitCount))
    var key: OpaquePointer?
    try unsafe check(EVP_PKEY_generate(context, &key), orThrow: .randomUnavailable)
    return try unsafe PKeyHandle(key)
  }

  static func exportPKCS8(
    _ key: borrowing PKeyHandle, type: SigningKeyType, publicKey: VerifyingKey
  ) throws(CryptoError) -> SecretBytes {
    switch type {
    case .ed25519: DER.ed25519(seed: try rawPrivateKey(key))
    case .p256:
      DER.p256(
        scalar: try number(OSSL_PKEY_PARAM_PRIV_KEY, of: key, byteCount: 32),
        publicPoint: Array(publicKey.spki.suffix(65)))
    case .rsa2048, .rsa3072: try exportRSA(key)
    }
  }

  /// RSAPrivateKey (RFC 8017 A.1.2): version, n, e, d, p, q, d mod p−1, d mod q−1, 1/q mod p.
  private static func exportRSA(_ key: borrowing PKeyHandle) throws(CryptoError) -> SecretBytes {
    var numbers = DER.integer(SecretBytes(zeroes: 1))
    for name in [
      "n", "e", "d", "rsa-factor1", "rsa-factor2", "rsa-exponent1", "rsa-exponent2", "rsa-coefficient1",
    ] {
      numbers = SecretBytes.joining(numbers, DER.integer(try number(name, of: key)))
    }
    return DER.rsa(numbers: numbers)
  }

  private static func rawPrivateKey(_ key: borrowing PKeyHandle) throws(CryptoError) -> SecretBytes {
    var raw = SecretBytes(zeroes: 32)
    try unsafe raw.modify { (bytes) throws(CryptoError) in
      var count = bytes.count
      try unsafe check(
        EVP_PKEY_get_raw_private_key(
          key.pointer, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), &count))
    }
    return raw
  }

  /// One of the key's numbers, big-endian, as long as it is or padded to `byteCount`.
  private static func number(
    _ name: String, of key: borrowing PKeyHandle, byteCount: Int? = nil
  ) throws(CryptoError) -> SecretBytes {
    var number: OpaquePointer?
    try unsafe check(EVP_PKEY_get_bn_param(key.pointer, name, &number))
    defer { unsafe BN_clear_free(number) }
    let count = unsafe byteCount ?? (Int(BN_num_bits(number)) + 7) / 8
    var bytes = SecretBytes(zeroes: count)
    try unsafe bytes.modify { (bytes) throws(CryptoError) in
      let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      try unsafe check(BN_bn2binpad(number, start, Int32(count)) == Int32(count) ? 1 : 0)
    }
    return bytes
  }
}

extension PKeyHandle {
  /// - Throws: ``CryptoError/invalidKey`` when it is none of ours.
  func signingKeyType() throws(CryptoError) -> SigningKeyType {
    let bitCount = unsafe EVP_PKEY_get_bits(pointer)
    if unsafe EVP_PKEY_is_a(pointer, "ED25519") == 1 { return .ed25519 }
    if unsafe EVP_PKEY_is_a(pointer, "RSA") == 1, bitCount == 2048 { return .rsa2048 }
    if unsafe EVP_PKEY_is_a(pointer, "RSA") == 1, bitCount == 3072 { return .rsa3072 }
    if unsafe EVP_PKEY_is_a(pointer, "EC") == 1, isOnP256 { return .p256 }
    throw .invalidKey
  }

  private var isOnP256: Bool {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { name in
      var count = 0
      guard unsafe EVP_PKEY_get_group_name(pointer, name.baseAddress, name.count, &count) == 1 else {
        return false
      }
      return unsafe String(cString: name.baseAddress!) == "prime256v1"
    }
  }
}
