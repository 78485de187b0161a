import JOSE
import TextFormats
import VaultCrypto

/// The texts by which others take a public key.
extension PublicKey {
  /// `-----BEGIN PUBLIC KEY-----` (RFC 7468 §13), with a newline at the end.
  public var pem: String { PEMBlock.text("PUBLIC KEY", subjectPublicKeyInfo) }

  /// The base64 of the SHA-256 of the SubjectPublicKeyInfo: the pin of RFC 7469 and of curl.
  public var pin: String { Base64.text(SHA256.hash(subjectPublicKeyInfo)) }

  /// A JSON Web Key (RFC 7517, RFC 8037) with its required members alone, in the order and form of RFC 7638: the SHA-256 of
  /// this text is its thumbprint.
  public var jwk: String { text { (jwk) throws(JOSEError) in try jwk.text() } }

  /// The name that every program gives the key (RFC 7638): base64url of a SHA-256, 43 characters. `jkt` of a bound token.
  public var thumbprint: String { text { (jwk) throws(JOSEError) in try jwk.thumbprint() } }

  private func text(_ make: (JWK) throws(JOSEError) -> String) -> String {
    do throws(JOSEError) { return try make(JWK(key)) } catch {
      preconditionFailure("PublicKey.jwk: a key without a JWK")
    }
  }

  /// A line of `authorized_keys` without a comment (RFC 4253 §6.6, RFC 5656, RFC 8709).
  public var ssh: String {
    let word: String
    var blob: [UInt8]
    switch type {
    case .p256, .p384:
      let curve = "nistp\(type.signing.bitCount)"
      word = "ecdsa-sha2-\(curve)"
      blob = Self.string(word) + Self.string(curve) + Self.string(point!)
    case .ed25519:
      word = "ssh-ed25519"
      blob = Self.string(word) + Self.string(point!)
    case .rsa2048, .rsa3072, .rsa4096:
      word = "ssh-rsa"
      blob = Self.string(word) + Self.number(exponent!) + Self.number(modulus!)
    }
    return "\(word) \(Base64.text(blob))"
  }

  private static func string(_ bytes: [UInt8]) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * $0)) } + bytes
  }

  private static func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }

  /// A number that is not negative: its first bit is a sign.
  private static func number(_ magnitude: [UInt8]) -> [UInt8] {
    string(magnitude[0] >= 0x80 ? [0] + magnitude : magnitude)
  }
}
