import SecretMemory
import TextFormats
import VaultCrypto

/// The members of a key as they were read.
struct JWKMembers {
  private var texts: [String: String] = [:]
  private var secret: SharedSecret?
  private(set) var operations: [String]?
  private(set) var hasPrivateHalf = false

  init() {}

  init(_ reader: JSONReader) throws(TextError) {
    var members = JWKMembers()
    try reader.members { (name, reader) throws(TextError) in try members.read(name, reader) }
    self = members
  }

  subscript(name: String) -> String? { texts[name] }

  /// Returns false for a member that is not read.
  mutating func read(_ name: String, _ reader: JSONReader) throws(TextError) -> Bool {
    switch name {
    case "kty", "crv", "x", "y", "n", "e", "alg", "use":
      let text = try reader.string(limit: 1024)
      // `==` takes two ways to write one character for the same: the sign of the kelvin for a K.
      guard text.utf8.allSatisfy({ $0 < 0x80 }) else { throw .malformed("a word of the key is not ASCII") }
      texts[name] = text
    case "kid": texts[name] = try reader.string(limit: 1024)
    case "k": secret = SharedSecret(try reader.secret(limit: 4096))
    case "d", "p", "q", "dp", "dq", "qi", "oth":
      hasPrivateHalf = true
      return false
    case "key_ops":
      var found: [String] = []
      try reader.array { () throws(TextError) in found.append(try reader.string(limit: 64)) }
      operations = found
    default: return false
    }
    return true
  }

  /// - Throws: ``JOSEError/missing(_:)``, ``JOSEError/malformed(_:)``, ``JOSEError/refusedKey(_:)``.
  func material() throws(JOSEError) -> JWK.Material {
    switch try text("kty") {
    case "EC": .publicKey(try curveKey())
    case "OKP":
      switch try text("crv") {
      case "Ed25519": .publicKey(try key(.ed25519, bytes("x", count: 32)))
      default: throw .refusedKey("the key is on a curve that this version does not have")
      }
    case "RSA": .publicKey(try rsaKey())
    case "oct":
      if let secret {
        .secret(SharedSecret(try secret.expose { (text) throws(JOSEError) in try Base64URL.decode(text) }))
      } else {
        throw .missing("k")
      }
    default: throw .refusedKey("the key has a type that this version does not have")
    }
  }

  private func curveKey() throws(JOSEError) -> VerifyingKey {
    switch try text("crv") {
    case "P-256": try key(.p256, [4] + bytes("x", count: 32) + bytes("y", count: 32))
    case "P-384": try key(.p384, [4] + bytes("x", count: 48) + bytes("y", count: 48))
    default: throw .refusedKey("the key is on a curve that this version does not have")
    }
  }

  private func key(_ type: SigningKeyType, _ point: [UInt8]) throws(JOSEError) -> VerifyingKey {
    do throws(CryptoError) { return try VerifyingKey(type, point: point) } catch {
      throw .refusedKey("the point of the key is not on its curve")
    }
  }

  /// Refuses what signs nothing, and keys of a generator whose primes can be found (CVE-2017-15361).
  private func rsaKey() throws(JOSEError) -> VerifyingKey {
    let (modulus, exponent) = (try number("n"), try number("e"))
    guard modulus.count >= 256 else { throw .refusedKey("the RSA key has fewer than 2,048 bits") }
    guard !WeakPrimes.made(modulus) else {
      throw .refusedKey("the RSA key comes from a generator whose keys can be broken (ROCA)")
    }
    do throws(CryptoError) { return try VerifyingKey(rsaModulus: modulus, exponent: exponent) } catch {
      throw .refusedKey(
        "the RSA key has not 2,048, 3,072 or 4,096 bits, or an exponent that is even, 1 or too large")
    }
  }

  private func text(_ name: String) throws(JOSEError) -> String {
    guard let text = texts[name] else { throw .missing(name) }
    return text
  }

  private func bytes(_ name: String, count: Int) throws(JOSEError) -> [UInt8] {
    let bytes = try Base64URL.bytes(text(name))
    guard bytes.count == count else { throw .refusedKey("'\(name)' of the key has another length") }
    return bytes
  }

  /// A number without zero bytes in front (RFC 7518 §2, Base64urlUInt).
  private func number(_ name: String) throws(JOSEError) -> [UInt8] {
    let bytes = try Base64URL.bytes(text(name))
    guard let first = bytes.first, first != 0 else { throw .refusedKey("'\(name)' of the key is no number") }
    return bytes
  }
}
