package import SecretMemory
import VaultCrypto

/// A key for HS256 that two sides have. It is a type of its own, so that a public key never comes to be one.
package struct MACKey: ~Copyable, Sendable {
  private let key: KeyedHMAC

  /// - Parameter secret: 32 bytes or more (RFC 7518 §3.2).
  /// - Throws: ``JOSEError/refusedKey(_:)`` for a shorter one, and for a public key: everybody has that.
  package init(_ secret: borrowing SecretBytes) throws(JOSEError) {
    guard secret.byteCount >= 32 else {
      throw .refusedKey("the key has fewer than 32 bytes, so HS256 cannot use it")
    }
    guard !Self.isPublicKey(secret) else {
      throw .refusedKey("the key is a public key or a certificate, which is no secret")
    }
    key = KeyedHMAC(key: secret)
  }

  /// The code of a message, 32 bytes.
  package func code(for message: RawSpan) -> [UInt8] { key.code(for: message) }

  /// Looks at the bytes where they are: most of them are a secret.
  private static func isPublicKey(_ secret: borrowing SecretBytes) -> Bool {
    secret.expose { bytes in
      let start = bytes.firstVisible
      if heads.contains(where: { bytes.has($0, at: start) }) || bytes.isLongSequence { return true }
      // Other programs write remarks before a block of PEM.
      let word = bytes.has([UInt8(ascii: "{")], at: start) ? "\"kty\"" : "-----BEGIN "
      return bytes.contains(Array(word.utf8))
    }
  }

  private static let heads =
    (["ssh-rsa ", "ssh-ed25519 ", "ecdsa-sha2-"] + base64Heads).map { Array($0.utf8) }
    + VerifyingKey.curveHeads

  /// A block of PEM without its lines: P-256, P-384, Ed25519, and RSA of the three sizes.
  private static let base64Heads = [
    "MFkwEwYHKoZIzj0CAQ", "MHYwEAYHKoZIzj0CAQ", "MCowBQYDK2VwAyEA", "MIIBIjANBgkqhkiG9w0BAQ",
    "MIIBojANBgkqhkiG9w0BAQ", "MIICIjANBgkqhkiG9w0BAQ",
  ]
}

extension RawSpan {
  fileprivate func has(_ part: [UInt8], at start: Int) -> Bool {
    byteCount - start >= part.count && part.indices.allSatisfy { byte(at: start + $0) == part[$0] }
  }

  fileprivate func contains(_ part: [UInt8]) -> Bool {
    (0..<byteCount).contains { has(part, at: $0) }
  }

  /// Where the bytes begin after a mark of UTF-8 and white space.
  fileprivate var firstVisible: Int {
    let start = has([0xEF, 0xBB, 0xBF], at: 0) ? 3 : 0
    return (start..<byteCount).first { ![0x09, 0x0A, 0x0D, 0x20].contains(byte(at: $0)) } ?? byteCount
  }

  /// Whether the bytes are one DER sequence of 128 bytes or more, as keys of RSA and certificates are. Random bytes are one once
  /// in 2^24.
  fileprivate var isLongSequence: Bool {
    guard byteCount >= 4, byte(at: 0) == 0x30 else { return false }
    return switch byte(at: 1) {
    case 0x81: Int(byte(at: 2)) == byteCount - 3
    case 0x82: Int(byte(at: 2)) << 8 | Int(byte(at: 3)) == byteCount - 4
    default: false
    }
  }

  private func byte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}
