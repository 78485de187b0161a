import SecretMemory
import TextFormats

/// What a token says about its signature (RFC 7515 §4). None of it is checked.
///
/// Members that name or bring a key (`jku`, `x5u`, `x5c`) are not followed.
package struct JWSHeader: Sendable {
  package let algorithm: JWSAlgorithm
  /// The type of the whole (`typ`), as it is written.
  package let type: String?
  /// Which key of its maker signed (`kid`).
  package let keyID: String?
  /// The key that the token brings along (`jwk`), public. Only a proof of possession is checked with it.
  package let key: JWK?

  /// - Throws: ``JOSEError/malformed(_:)``, ``JOSEError/unsecured``, ``JOSEError/unsupportedAlgorithm``,
  ///   ``JOSEError/criticalHeader``, ``JOSEError/refusedKey(_:)``.
  init(_ bytes: consuming SecretBytes) throws(JOSEError) {
    var (algorithm, type, keyID): (String?, String?, String?) = (nil, nil, nil)
    var members: JWKMembers?
    var isCritical = false
    try JSONObject.read(bytes, as: "the header") { (name, reader) throws(TextError) in
      switch name {
      case "alg": algorithm = try reader.string(limit: 64)
      case "typ": type = try reader.string(limit: 255)
      case "kid": keyID = try reader.string(limit: 1024)
      case "jwk": members = try JWKMembers(reader)
      case "crit", "b64", "zip":
        isCritical = true
        return false
      default: return false
      }
      return true
    }
    guard !isCritical else { throw .criticalHeader }
    guard let algorithm else { throw .missing("alg") }
    // Some programs compare without regard to case.
    guard algorithm.lowercased() != "none" else { throw .unsecured }
    guard let known = JWSAlgorithm(rawValue: algorithm) else { throw .unsupportedAlgorithm }
    self.algorithm = known
    self.type = type
    self.keyID = keyID
    if let members { key = try JWK(public: members) } else { key = nil }
  }

  /// Checks what the token is (RFC 8725 §3.11). One without `typ` counts as a JWT.
  ///
  /// - Throws: ``JOSEError/wrongValue(_:)``.
  package func checkType(_ expected: String) throws(JOSEError) {
    guard Self.mediaType(type ?? "JWT") == Self.mediaType(expected) else { throw .wrongValue("typ") }
  }

  /// In small letters. `application/` may be left out (RFC 7515 §4.1.9).
  private static func mediaType(_ text: String) -> [UInt8] {
    let type = text.utf8.map { 0x41...0x5A ~= $0 ? $0 + 0x20 : $0 }
    let prefix = Array("application/".utf8)
    let rest = Array(type.dropFirst(prefix.count))
    return type.starts(with: prefix) && !rest.contains(UInt8(ascii: "/")) ? rest : type
  }
}
