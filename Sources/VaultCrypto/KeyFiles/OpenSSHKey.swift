import COpenSSL
import SecretMemory

/// The format of private keys of OpenSSH (its file PROTOCOL.key), without encryption. OpenSSL does not know it.
///
/// ```
/// "openssh-key-v1" ‖ 0 ‖ string cipher ‖ string kdf ‖ string options ‖ u32 keys ‖ string public key ‖ string private part
/// private part: u32 check ‖ u32 the same ‖ string type ‖ numbers of the type ‖ string comment ‖ 1, 2, 3 …
/// ```
/// A string is `u32 length ‖ bytes`. An encrypted key would need bcrypt, which neither OpenSSL nor this program has.
enum OpenSSHKey {
  static func read(_ blob: borrowing SecretBytes) throws(KeyFileError) -> OpenedKey {
    try blob.expose { (blob) throws(KeyFileError) in
      var cursor = SSHCursor()
      try cursor.expect(Array("openssh-key-v1".utf8) + [0], in: blob)
      let cipher = try cursor.text(in: blob)
      let derivation = try cursor.text(in: blob)
      let options = try cursor.string(in: blob)
      guard cipher == "none", derivation == "none", options.isEmpty else { throw .unsupportedEncryption }
      let count = try cursor.number(in: blob)
      guard count > 0 else { throw .noKey }
      guard count == 1 else { throw .severalKeys(Int(count)) }
      let half = try cursor.string(in: blob)
      let inner = try cursor.string(in: blob)
      guard cursor.offset == blob.byteCount, inner.count % 8 == 0 else { throw .malformed }
      let key = try privatePart(blob.extracting(inner))
      guard try shown(key.publicKey) == blob.extracting(half).copied else { throw .inconsistentKey }
      return key
    }
  }

  private static func shown(_ key: VerifyingKey) throws(KeyFileError) -> [UInt8] {
    do throws(CryptoError) { return SSHPublicKey(key.type, try key.components()).blob } catch {
      throw .failed(error)
    }
  }

  private static func privatePart(_ part: RawSpan) throws(KeyFileError) -> OpenedKey {
    var cursor = SSHCursor()
    guard try cursor.number(in: part) == cursor.number(in: part) else { throw .malformed }
    let pkcs8: SecretBytes
    switch try cursor.text(in: part) {
    case "ssh-ed25519": pkcs8 = try ed25519(&cursor, part)
    case "ecdsa-sha2-nistp256": pkcs8 = try ecdsa(.p256, "nistp256", &cursor, part)
    case "ecdsa-sha2-nistp384": pkcs8 = try ecdsa(.p384, "nistp384", &cursor, part)
    case "ssh-rsa": pkcs8 = try rsa(&cursor, part)
    default: throw .unsupportedKey
    }
    _ = try cursor.string(in: part)
    for (index, offset) in (cursor.offset..<part.byteCount).enumerated() {
      guard index < 8, part.byte(at: offset) == UInt8(index + 1) else { throw .malformed }
    }
    do throws(CryptoError) { return try PrivateKeyDER.read(pkcs8) } catch {
      throw error == .invalidKey ? .unsupportedKey : .inconsistentKey
    }
  }

  /// Public key, then seed and public key again.
  private static func ed25519(_ cursor: inout SSHCursor, _ part: RawSpan) throws(KeyFileError) -> SecretBytes
  {
    let (half, both) = (try cursor.string(in: part), try cursor.string(in: part))
    guard half.count == 32, both.count == 64 else { throw .malformed }
    let seed = SecretBytes(copying: part.extracting(both.lowerBound..<both.lowerBound + 32))
    let shown = part.extracting(half).copied
    guard part.extracting(both.lowerBound + 32..<both.upperBound).copied == shown else {
      throw .inconsistentKey
    }
    do throws(CryptoError) {
      let made = try OpenedKey(ed25519: seed).publicKey
      guard made.spki.suffix(32) == shown[...] else { throw .invalidKey }
    } catch { throw .inconsistentKey }
    return DER.ed25519(seed: seed)
  }

  /// Name of the curve, point, scalar.
  private static func ecdsa(
    _ type: SigningKeyType, _ curve: String, _ cursor: inout SSHCursor, _ part: RawSpan
  ) throws(KeyFileError) -> SecretBytes {
    guard try cursor.text(in: part) == curve else { throw .inconsistentKey }
    let point = try cursor.string(in: part)
    let scalar = try cursor.positive(in: part)
    guard point.count == type.pointByteCount, scalar.count <= type.scalarByteCount else { throw .malformed }
    let padded = SecretBytes.joining(
      SecretBytes(zeroes: type.scalarByteCount - scalar.count), SecretBytes(copying: part.extracting(scalar)))
    return DER.ecdsa(type, scalar: padded, publicPoint: part.extracting(point).copied)
  }

  /// n, e, d, 1/q mod p, p, q. PKCS#8 has two more numbers, and another order.
  private static func rsa(_ cursor: inout SSHCursor, _ part: RawSpan) throws(KeyFileError) -> SecretBytes {
    var places: [Range<Int>] = []
    for _ in 0..<6 { places.append(try cursor.positive(in: part)) }
    guard places[0].count <= 512 else { throw .unsupportedKey }
    guard places.allSatisfy({ $0.count <= 512 }) else { throw .malformed }
    let numbers = [0, 1, 2, 4, 5]
    var joined = DER.integer(SecretBytes(zeroes: 1))
    for index in numbers {
      joined = SecretBytes.joining(joined, DER.integer(SecretBytes(copying: part.extracting(places[index]))))
    }
    let exponent = SecretBytes(copying: part.extracting(places[2]))
    for prime in [4, 5] {
      let reduced = try reduce(exponent, prime: SecretBytes(copying: part.extracting(places[prime])))
      joined = SecretBytes.joining(joined, DER.integer(reduced))
    }
    let coefficient = DER.integer(SecretBytes(copying: part.extracting(places[3])))
    return DER.rsa(numbers: SecretBytes.joining(joined, coefficient))
  }

  /// `exponent` mod (`prime` − 1).
  private static func reduce(
    _ exponent: borrowing SecretBytes, prime: borrowing SecretBytes
  ) throws(KeyFileError) -> SecretBytes {
    let (number, modulus) = unsafe (bigNumber(exponent), bigNumber(prime))
    let (result, context) = unsafe (BN_new(), BN_CTX_new())
    defer {
      unsafe BN_clear_free(number)
      unsafe BN_clear_free(modulus)
      unsafe BN_clear_free(result)
      unsafe BN_CTX_free(context)
    }
    guard unsafe number != nil, unsafe modulus != nil, unsafe result != nil, unsafe context != nil else {
      throw .failed(.outOfMemory)
    }
    guard unsafe BN_sub_word(modulus, 1) == 1, unsafe BN_is_zero(modulus) == 0,
      unsafe BN_nnmod(result, number, modulus, context) == 1
    else {
      ERR_clear_error()
      throw .inconsistentKey
    }
    let count = unsafe (Int(BN_num_bits(result)) + 7) / 8
    var bytes = SecretBytes(zeroes: count)
    unsafe bytes.modify { bytes in
      _ = unsafe BN_bn2bin(result, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }
    return bytes
  }

  private static func bigNumber(_ bytes: borrowing SecretBytes) -> OpaquePointer? {
    unsafe bytes.expose { bytes in
      unsafe bytes.withUnsafeBytes {
        unsafe BN_bin2bn($0.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32($0.count), nil)
      }
    }
  }
}

/// A place in bytes of SSH's encoding (RFC 4251 §5). It reads nothing beyond their end.
private struct SSHCursor {
  private(set) var offset = 0

  mutating func expect(_ bytes: [UInt8], in span: RawSpan) throws(KeyFileError) {
    let range = try take(bytes.count, in: span)
    guard span.extracting(range).copied == bytes else { throw .malformed }
  }

  mutating func number(in span: RawSpan) throws(KeyFileError) -> UInt32 {
    try take(4, in: span).reduce(0) { $0 << 8 | UInt32(span.byte(at: $1)) }
  }

  mutating func string(in span: RawSpan) throws(KeyFileError) -> Range<Int> {
    let count = try number(in: span)
    return try take(Int(count), in: span)
  }

  /// A short string that is no secret: the name of a method.
  mutating func text(in span: RawSpan) throws(KeyFileError) -> String {
    let range = try string(in: span)
    guard range.count <= 64 else { throw .malformed }
    return String(decoding: span.extracting(range).copied, as: UTF8.self)
  }

  /// The magnitude of a number above 0, written with no byte more than it needs.
  mutating func positive(in span: RawSpan) throws(KeyFileError) -> Range<Int> {
    let range = try string(in: span)
    guard let first = range.first.map({ span.byte(at: $0) }), first < 0x80 else { throw .malformed }
    guard first == 0 else { return range }
    guard range.count > 1, span.byte(at: range.lowerBound + 1) >= 0x80 else { throw .malformed }
    return range.dropFirst()
  }

  private mutating func take(_ count: Int, in span: RawSpan) throws(KeyFileError) -> Range<Int> {
    guard count <= span.byteCount - offset else { throw .malformed }
    defer { offset += count }
    return offset..<offset + count
  }
}

extension RawSpan {
  /// A copy in ordinary memory: for public bytes only.
  fileprivate var copied: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
