package import SecretMemory
import TextFormats

/// The keys of one maker (RFC 7517 §5), of which a token names the one that signed it.
package struct JWKSet: Sendable {
  package let keys: [JWK]

  /// - Throws: As ``JWK/init(_:)-(SecretBytes)``; ``JOSEError/refusedKey(_:)`` for two keys of one name, for more than 64 keys, and
  ///   for a set that mixes secrets with public keys, because the owner of such a set is unknown.
  package init(_ json: consuming SecretBytes) throws(JOSEError) {
    var members: [JWKMembers]?
    try JSONObject.read(json, as: "the set of keys") { (name, reader) throws(TextError) in
      guard name == "keys" else { return false }
      var found: [JWKMembers] = []
      try reader.array { () throws(TextError) in
        guard found.count < 64 else { throw .malformed("there are more than 64 keys") }
        found.append(try JWKMembers(reader))
      }
      members = found
      return true
    }
    guard let members else { throw .missing("keys") }
    var keys: [JWK] = []
    for one in members { keys.append(try JWK(one)) }
    let names = keys.compactMap(\.keyID)
    guard Set(names).count == names.count else { throw .refusedKey("two keys of the set have one name") }
    let secrets = keys.count { if case .secret = $0.material { true } else { false } }
    guard secrets == 0 || secrets == keys.count else {
      throw .refusedKey("the set has secrets and public keys")
    }
    self.keys = keys
  }

  /// Verifies a token with the key that it names, or with the only one.
  ///
  /// - Throws: ``JOSEError/keyMismatch`` if the set has no such key; as ``JWK/verify(_:)``.
  package func verify(_ token: borrowing CompactJWS) throws(JOSEError) {
    let name = token.header.keyID
    let fitting = keys.filter { name == nil || $0.keyID.map { $0.isSame(as: name ?? "") } == true }
    guard fitting.count == 1 else { throw .keyMismatch }
    try fitting[0].verify(token)
  }
}
