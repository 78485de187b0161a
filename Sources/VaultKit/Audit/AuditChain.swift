import SecretMemory
import VaultCrypto

/// The arithmetic of the audit chain (section 9): one MAC an entry, a key that moves on and cannot move back.
enum AuditChain {
  static let entriesPerSegment: UInt64 = 4096
  static let segmentsKept: UInt64 = 64

  static func mac(
    _ key: borrowing SecretBytes, previous: [UInt8], sequence: UInt64, record: [UInt8]
  ) -> [UInt8] {
    KeyedHMAC(key: key).code { message in
      message.append(previous)
      message.append(Int64(bitPattern: sequence).attributeBytes)
      message.append(SHA256.hash(record))
    }
  }

  static func next(_ key: borrowing SecretBytes) -> SecretBytes {
    KeyedHMAC(key: key).secretCode { $0.append(Array("next".utf8)) }
  }

  /// The MAC that the first entry of a segment is chained to.
  static func anchor(previous: [UInt8], start: [UInt8]) -> [UInt8] { SHA256.hash(previous + start) }

  /// A segment's `start`: its first key wrapped to the audit factor. Needs no passcode.
  static func wrap(
    _ key: borrowing SecretBytes, to factor: [UInt8], aad: [UInt8], random: any RandomSource
  ) throws(CryptoError) -> [UInt8] {
    let ephemeral = try X25519KeyPair.generate(random: random)
    let shared = try X25519KeyPair.sharedSecret(private: ephemeral.privateKey, public: factor)
    let wrapping = wrappingKey(shared, ephemeral.publicKey, factor)
    return try ephemeral.publicKey
      + CommittingSeal.seal(key, under: wrapping, label: Labels.sealAudit, aad: aad, random: random)
  }

  static func unwrap(_ start: [UInt8], with pair: borrowing X25519KeyPair, aad: [UInt8]) throws(CryptoError)
    -> SecretBytes
  {
    guard start.count > 32 else { throw .malformed }
    let ephemeral = Array(start[..<32])
    let shared = try X25519KeyPair.sharedSecret(private: pair.privateKey, public: ephemeral)
    let wrapping = wrappingKey(shared, ephemeral, pair.publicKey)
    let key = try CommittingSeal.open(
      Array(start[32...]), under: wrapping, label: Labels.sealAudit, aad: aad)
    guard key.byteCount == 32 else { throw .malformed }
    return key
  }

  private static func wrappingKey(_ shared: borrowing SecretBytes, _ ephemeral: [UInt8], _ factor: [UInt8])
    -> SecretBytes
  {
    HKDF.derive(from: shared, info: Labels.auditWrap.utf8 + ephemeral + factor, byteCount: 32)
  }
}
