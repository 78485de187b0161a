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
    let numbers = point.map { VerifyingKey.Components.point($0) }
    let key = SSHPublicKey(type.signing, numbers ?? .rsa(modulus: modulus!, exponent: exponent!))
    return "\(key.name) \(Base64.text(key.blob))"
  }
}
