import SecretMemory

/// The few DER structures that private keys are written in (X.690, RFC 5958), straight in secret memory.
enum DER {
  /// PKCS#8 of an Ed25519 seed (RFC 8410 §7).
  static func ed25519(seed: borrowing SecretBytes) -> SecretBytes {
    let key = element(0x04, content: seed)
    return pkcs8(algorithm: [0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70], key)
  }

  /// PKCS#8 of a P-256 scalar (RFC 5915), with the public point if it is given: 65 bytes, uncompressed.
  static func p256(scalar: borrowing SecretBytes, publicPoint: [UInt8]?) -> SecretBytes {
    let version = SecretBytes(copying: [0x02, 0x01, 0x01])
    var fields = SecretBytes.joining(version, element(0x04, content: scalar))
    if let publicPoint {
      let bits = element(0x03, content: SecretBytes(copying: [0] + publicPoint))
      fields = SecretBytes.joining(fields, element(0xa1, content: bits))
    }
    return pkcs8(algorithm: ecPublicKeyOnP256, element(0x30, content: fields))
  }

  /// PKCS#8 of an RSA key whose INTEGERs are `numbers`.
  static func rsa(numbers: borrowing SecretBytes) -> SecretBytes {
    pkcs8(algorithm: rsaEncryption, element(0x30, content: numbers))
  }

  /// INTEGER of a number that is not negative; the empty number is 0.
  static func integer(_ magnitude: borrowing SecretBytes) -> SecretBytes {
    let needsSign = magnitude.expose { bytes in
      unsafe bytes.byteCount == 0 || bytes.unsafeLoad(as: UInt8.self) >= 0x80
    }
    let sign = SecretBytes(zeroes: needsSign ? 1 : 0)
    return element(0x02, content: SecretBytes.joining(sign, magnitude))
  }

  private static func pkcs8(algorithm: [UInt8], _ privateKey: borrowing SecretBytes) -> SecretBytes {
    let head = SecretBytes(copying: [0x02, 0x01, 0x00] + algorithm)
    return element(0x30, content: SecretBytes.joining(head, element(0x04, content: privateKey)))
  }

  private static func element(_ tag: UInt8, content: borrowing SecretBytes) -> SecretBytes {
    SecretBytes.joining(SecretBytes(copying: [tag] + length(content.byteCount)), content)
  }

  private static func length(_ byteCount: Int) -> [UInt8] {
    switch byteCount {
    case ..<0x80: [UInt8(byteCount)]
    case ..<0x100: [0x81, UInt8(byteCount)]
    default: [0x82, UInt8(byteCount >> 8), UInt8(byteCount & 0xff)]
    }
  }

  /// { 1.2.840.10045.2.1, 1.2.840.10045.3.1.7 }
  private static let ecPublicKeyOnP256: [UInt8] = [
    0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,
    0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
  ]
  /// { 1.2.840.113549.1.1.1, NULL }
  private static let rsaEncryption: [UInt8] = [
    0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
  ]
}
