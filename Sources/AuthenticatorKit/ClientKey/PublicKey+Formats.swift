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
  public var jwk: String {
    let url = Base64.urlText
    switch type {
    case .p256, .p384:
      let half = type.signing.bitCount / 8
      let (x, y) = (Array(point!.dropFirst().prefix(half)), Array(point!.suffix(half)))
      return #"{"crv":"P-\#(type.signing.bitCount)","kty":"EC","x":"\#(url(x))","y":"\#(url(y))"}"#
    case .ed25519: return #"{"crv":"Ed25519","kty":"OKP","x":"\#(url(point!))"}"#
    case .rsa2048, .rsa3072, .rsa4096:
      return #"{"e":"\#(url(exponent!))","kty":"RSA","n":"\#(url(modulus!))"}"#
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
