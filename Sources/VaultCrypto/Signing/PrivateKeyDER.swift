import COpenSSL
import SecretMemory

/// Reads private keys in PKCS#8 (RFC 5958), PKCS#1 (RFC 8017 A.1.2) and SEC 1 (RFC 5915), without encryption.
///
/// OpenSSL could read them, but its decoders leave copies in memory that are not wiped, and to set them up takes longer than
/// everything else that a short command does with a key. So the few structures are read here, over spans, and OpenSSL gets
/// the numbers.
enum PrivateKeyDER {
  /// - Throws: ``CryptoError/malformed`` for bytes that are not exactly one such structure, or whose halves differ;
  ///   ``CryptoError/invalidKey`` for a key that is not of a ``SigningKeyType``.
  static func read(_ der: borrowing SecretBytes) throws(CryptoError) -> OpenedKey {
    OpenSSL.start
    return try der.expose { (der) throws(CryptoError) in
      var whole = DERCursor(0..<der.byteCount)
      var key = try whole.sequence(in: der)
      try whole.expectEnd()
      let version = try key.small(in: der)
      if key.hasNext(0x30, in: der), version <= 1 { return try pkcs8(&key, der) }
      if key.hasNext(0x02, in: der) { return try pkcs1(&key, version: version, der) }
      guard key.hasNext(0x04, in: der), version == 1 else { throw .malformed }
      return try sec1(&key, curve: nil, der)
    }
  }

  private static func pkcs8(_ key: inout DERCursor, _ der: RawSpan) throws(CryptoError) -> OpenedKey {
    var algorithm = try key.sequence(in: der)
    var content = DERCursor(try key.element(0x04, in: der))
    if key.hasNext(0xa0, in: der) { _ = try key.element(0xa0, in: der) }  // Attributes.
    let half = key.hasNext(0x81, in: der) ? try key.element(0x81, in: der) : nil
    try key.expectEnd()
    let opened = try privateKey(in: &content, of: &algorithm, der)
    // The bits of a SubjectPublicKeyInfo, which are its end, after the number of unused ones.
    let isSame = half.map { half in
      half.count > 32 && der.byte(at: half.lowerBound) == 0
        && opened.publicKey.spki.suffix(half.count - 1).elementsEqual(
          half.dropFirst().map { der.byte(at: $0) })
    }
    guard isSame != false else { throw .malformed }
    return opened
  }

  /// The key in an OCTET STRING of PKCS#8.
  private static func privateKey(
    in content: inout DERCursor, of algorithm: inout DERCursor, _ der: RawSpan
  ) throws(CryptoError) -> OpenedKey {
    switch try algorithm.identifier(in: der) {
    case DER.ed25519ID:
      try algorithm.expectEnd()
      let seed = try content.element(0x04, in: der)
      try content.expectEnd()
      guard seed.count == 32 else { throw .malformed }
      return try OpenedKey(ed25519: SecretBytes(copying: der.extracting(seed)))
    case DER.ecPublicKeyID:
      guard algorithm.hasNext(0x06, in: der) else { throw .invalidKey }
      let curve = try algorithm.identifier(in: der)
      try algorithm.expectEnd()
      var inner = try content.sequence(in: der)
      try content.expectEnd()
      guard try inner.small(in: der) == 1 else { throw .malformed }
      return try sec1(&inner, curve: curve, der)
    case DER.rsaEncryptionID:
      guard try algorithm.element(0x05, in: der).isEmpty else { throw .malformed }
      try algorithm.expectEnd()
      var inner = try content.sequence(in: der)
      try content.expectEnd()
      return try pkcs1(&inner, version: inner.small(in: der), der)
    default: throw .invalidKey
    }
  }

  /// After the version: the scalar, the curve and the point. Curve and point can be absent.
  private static func sec1(
    _ key: inout DERCursor, curve: [UInt8]?, _ der: RawSpan
  ) throws(CryptoError) -> OpenedKey {
    let scalar = try key.element(0x04, in: der)
    var named = curve
    if key.hasNext(0xa0, in: der) {
      var parameters = DERCursor(try key.element(0xa0, in: der))
      guard parameters.hasNext(0x06, in: der) else { throw .invalidKey }
      let own = try parameters.identifier(in: der)
      try parameters.expectEnd()
      guard curve == nil || curve == own else { throw .malformed }
      named = own
    }
    var point: [UInt8]?
    if key.hasNext(0xa1, in: der) {
      var wrapped = DERCursor(try key.element(0xa1, in: der))
      let bits = try wrapped.element(0x03, in: der)
      try wrapped.expectEnd()
      guard let unused = bits.first, der.byte(at: unused) == 0 else { throw .malformed }
      point = bits.dropFirst().map { der.byte(at: $0) }
    }
    try key.expectEnd()
    guard let type = SigningKeyType.allCases.first(where: { $0.isECDSA && DER.curveID(of: $0) == named })
    else { throw .invalidKey }
    guard scalar.count <= type.scalarByteCount else { throw .malformed }
    let padded = SecretBytes.joining(
      SecretBytes(zeroes: type.scalarByteCount - scalar.count), SecretBytes(copying: der.extracting(scalar)))
    return try OpenedKey(type, scalar: padded, shownPoint: point)
  }

  /// After the version: n, e, d, p, q, d mod p−1, d mod q−1, 1/q mod p.
  private static func pkcs1(
    _ key: inout DERCursor, version: UInt8, _ der: RawSpan
  ) throws(CryptoError) -> OpenedKey {
    // Version 1 has more than two primes.
    guard version == 0 else { throw .invalidKey }
    var numbers: [Range<Int>] = []
    for _ in 0..<8 { numbers.append(try key.positive(in: der)) }
    try key.expectEnd()
    return try OpenedKey(rsa: numbers, of: der)
  }
}
