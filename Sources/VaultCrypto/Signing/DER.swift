import SecretMemory

/// The few DER structures that private keys are written in (X.690, RFC 5958), straight in secret memory.
enum DER {
  /// PKCS#8 of an Ed25519 seed (RFC 8410 §7).
  static func ed25519(seed: borrowing SecretBytes) -> SecretBytes {
    let key = element(0x04, content: seed)
    return pkcs8(algorithm: algorithm(of: .ed25519), key)
  }

  /// PKCS#8 of a scalar of ECDSA (RFC 5915), with the public point if it is given, uncompressed.
  static func ecdsa(
    _ type: SigningKeyType, scalar: borrowing SecretBytes, publicPoint: [UInt8]?
  ) -> SecretBytes {
    let version = SecretBytes(copying: [0x02, 0x01, 0x01])
    var fields = SecretBytes.joining(version, element(0x04, content: scalar))
    if let publicPoint {
      let bits = element(0x03, content: SecretBytes(copying: [0] + publicPoint))
      fields = SecretBytes.joining(fields, element(0xa1, content: bits))
    }
    return pkcs8(algorithm: algorithm(of: type), element(0x30, content: fields))
  }

  /// PKCS#8 of an RSA key whose INTEGERs are `numbers`.
  static func rsa(numbers: borrowing SecretBytes) -> SecretBytes {
    pkcs8(algorithm: rsaEncryption, element(0x30, content: numbers))
  }

  /// The length of the SubjectPublicKeyInfo of a key on a curve.
  static func spkiByteCount(of type: SigningKeyType) -> Int {
    2 + algorithm(of: type).count + 3 + type.pointByteCount
  }

  /// SubjectPublicKeyInfo of an uncompressed point, or of the 32 bytes of Ed25519 (RFC 8410 §4).
  static func spki(of type: SigningKeyType, point: [UInt8]) -> [UInt8] {
    publicElement(0x30, algorithm(of: type) + publicElement(0x03, [0] + point))
  }

  /// SubjectPublicKeyInfo of numbers of RSA, big-endian, without zeros in front.
  static func spki(ofRSA modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
    let numbers = [modulus, exponent].map { publicElement(0x02, ($0[0] >= 0x80 ? [0] : []) + $0) }
    let key = publicElement(0x30, numbers[0] + numbers[1])
    return publicElement(0x30, rsaEncryption + publicElement(0x03, [0] + key))
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

  /// 1.3.101.112
  static let ed25519ID: [UInt8] = [0x2b, 0x65, 0x70]
  /// 1.2.840.10045.2.1
  static let ecPublicKeyID: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
  /// 1.2.840.113549.1.1.1
  static let rsaEncryptionID: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]

  /// 1.2.840.10045.3.1.7 or 1.3.132.0.34
  static func curveID(of type: SigningKeyType) -> [UInt8] {
    type == .p256
      ? [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07] : [0x2b, 0x81, 0x04, 0x00, 0x22]
  }

  /// The AlgorithmIdentifier of keys on a curve.
  private static func algorithm(of type: SigningKeyType) -> [UInt8] {
    guard type.isECDSA else { return publicElement(0x30, publicElement(0x06, ed25519ID)) }
    let identifiers = publicElement(0x06, ecPublicKeyID) + publicElement(0x06, curveID(of: type))
    return publicElement(0x30, identifiers)
  }

  /// { rsaEncryption, NULL }
  private static let rsaEncryption = publicElement(0x30, publicElement(0x06, rsaEncryptionID) + [0x05, 0x00])

  private static func publicElement(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    [tag] + length(content.count) + content
  }
}
