import COpenSSL
import SecretMemory

/// Makes and exports private keys. This module writes PKCS#8 itself, because the encoders of OpenSSL leave copies in memory.
enum PrivateKeyCoding {
  /// A uniform scalar by rejection (FIPS 186-4 B.4.2); one draw in 2^32 or fewer is refused.
  static func generateECDSA(
    _ type: SigningKeyType, random: some RandomSource
  ) throws(CryptoError) -> OpenedKey {
    for _ in 0..<8 {
      let scalar = try random.secret(type.scalarByteCount)
      if isScalar(scalar, of: type) { return try OpenedKey(type, scalar: scalar) }
    }
    throw .randomUnavailable
  }

  /// Whether a number is from 1 to the order of the curve less 1. OpenSSL would take any.
  static func isScalar(_ scalar: borrowing SecretBytes, of type: SigningKeyType) -> Bool {
    let order: [UInt64] =
      type == .p256
      ? [0xffff_ffff_0000_0000, 0xffff_ffff_ffff_ffff, 0xbce6_faad_a717_9e84, 0xf3b9_cac2_fc63_2551]
      : [
        0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff, 0xc763_4d81_f437_2ddf,
        0x581a_0db2_48b0_a77a, 0xecec_196a_ccc5_2973,
      ]
    return scalar.expose { bytes in
      var isLess = false
      var isEqual = true
      var isZero = true
      for index in order.indices {
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
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(OpenSSL.keyContext, "RSA", nil) else {
      throw .outOfMemory
    }
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
    case .p256, .p384:
      DER.ecdsa(
        type, scalar: try number(OSSL_PKEY_PARAM_PRIV_KEY, of: key, byteCount: type.scalarByteCount),
        publicPoint: Array(publicKey.spki.suffix(type.pointByteCount)))
    case .rsa2048, .rsa3072, .rsa4096: try exportRSA(key)
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
  /// Whether a public exponent of RSA is odd, not 1, and of 8 bytes at most: a longer one only makes verifying slow.
  ///
  /// - Parameter number: Big-endian, without zeros in front.
  static func isExponent(_ number: [UInt8]) -> Bool {
    number.last.map { $0 % 2 == 1 } == true && number != [1] && number.count <= 8
  }

  /// - Throws: ``CryptoError/invalidKey`` when the key is not RSA of a size of ``SigningKeyType``, or has an exponent that
  ///   ``isExponent(_:)`` refuses.
  func rsaType() throws(CryptoError) -> SigningKeyType {
    guard unsafe EVP_PKEY_is_a(pointer, "RSA") == 1, try Self.isExponent(publicNumber("e")) else {
      throw .invalidKey
    }
    switch unsafe EVP_PKEY_get_bits(pointer) {
    case 2048: return .rsa2048
    case 3072: return .rsa3072
    case 4096: return .rsa4096
    default: throw .invalidKey
    }
  }

  /// A number that is no secret, big-endian, without zeros in front.
  func publicNumber(_ name: String) throws(CryptoError) -> [UInt8] {
    var number: OpaquePointer?
    try unsafe check(EVP_PKEY_get_bn_param(pointer, name, &number))
    defer { unsafe BN_free(number) }
    let count = unsafe (Int(BN_num_bits(number)) + 7) / 8
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
      written = unsafe Int(BN_bn2bin(number, bytes.baseAddress))
    }
  }
}
