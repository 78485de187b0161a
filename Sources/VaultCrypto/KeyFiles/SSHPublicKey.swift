/// A public key as SSH writes it (RFC 4253 §6.6, RFC 5656 §3.1, RFC 8709 §4).
package struct SSHPublicKey {
  /// The name of the kind, such as `ssh-ed25519`.
  package let name: String
  /// Name and numbers, each with its length in front.
  package let blob: [UInt8]

  package init(_ type: SigningKeyType, _ components: VerifyingKey.Components) {
    switch components {
    case .point(let point) where type.isECDSA:
      let curve = "nistp\(type.bitCount)"
      name = "ecdsa-sha2-\(curve)"
      blob = Self.string(name) + Self.string(curve) + Self.string(point)
    case .point(let point):
      name = "ssh-ed25519"
      blob = Self.string(name) + Self.string(point)
    case .rsa(let modulus, let exponent):
      name = "ssh-rsa"
      blob = Self.string(name) + Self.number(exponent) + Self.number(modulus)
    }
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
