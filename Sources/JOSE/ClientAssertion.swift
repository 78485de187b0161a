import TextFormats
package import VaultCrypto

/// How a client says who it is at a token endpoint, without sending its secret (RFC 7523 §3): `iss` and `sub` are the client, and
/// each assertion has a name of its own and lives at most five minutes.
package struct ClientAssertion: Sendable {
  /// The longest life, in seconds.
  package static let longestLife: Int64 = 300

  private let client: String
  private let audience: String
  private let life: Int64
  private let keyID: String?

  /// - Parameters:
  ///   - client: The id of the client at the server, 1 to 1,024 bytes.
  ///   - audience: What the server calls itself: its issuer, or the address of its token endpoint; 1 to 2,048 bytes.
  ///   - life: Seconds, 1 to 300.
  ///   - keyID: The name of the key at the server; `nil` if the client has one key.
  /// - Throws: ``JOSEError/malformed(_:)``.
  package init(client: String, audience: String, life: Int64 = 60, keyID: String? = nil) throws(JOSEError) {
    guard 1...1024 ~= client.utf8.count, 1...2048 ~= audience.utf8.count, keyID?.utf8.count ?? 1 <= 1024
    else { throw .malformed("a client and a server have names that are neither empty nor long") }
    guard 1...Self.longestLife ~= life else {
      throw .malformed("an assertion lives for 1 to \(Self.longestLife) seconds")
    }
    (self.client, self.audience, self.life, self.keyID) = (client, audience, life, keyID)
  }

  /// The assertion, which the key then signs: `private_key_jwt`.
  ///
  /// - Parameter now: Seconds since 1970, as the server counts them.
  /// - Throws: ``JOSEError/library(_:)``.
  package func unsigned(
    by key: VerifyingKey, at now: Int64, random: some RandomSource
  ) throws(JOSEError) -> UnsignedJWS {
    try unsigned(JWSAlgorithm(of: key), at: now, random: random)
  }

  /// The assertion for a secret that client and server have, HS256: `client_secret_jwt`.
  ///
  /// - Throws: ``JOSEError/library(_:)``.
  package func unsignedForSecret(at now: Int64, random: some RandomSource) throws(JOSEError) -> UnsignedJWS {
    try unsigned(.hs256, at: now, random: random)
  }

  private func unsigned(
    _ algorithm: JWSAlgorithm, at now: Int64, random: some RandomSource
  ) throws(JOSEError) -> UnsignedJWS {
    let id = try TokenID.make(random)
    return UnsignedJWS(algorithm) {
      Field("typ", "JWT")
      Field("kid", keyID)
    } claims: {
      Field("iss", client)
      Field("sub", client)
      Field("aud", audience)
      Field("jti", id)
      Field("iat", now)
      Field("exp", now + life)
    }
  }
}
