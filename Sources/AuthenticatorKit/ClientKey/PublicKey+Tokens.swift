import JOSE
public import SecretMemory
public import VaultKit

/// What the holder of a public key expects of a token, besides its signature and its time. What is `nil` is not compared.
public struct TokenExpectation: Sendable, Equatable {
  /// One of the values of `aud`.
  public var audience: String?
  /// `iss`.
  public var issuer: String?
  /// `jti`.
  public var id: String?
  /// What the token is: `typ`, a media type, with or without `application/`. A token of another type is refused, so that none is taken
  /// for what it is not (RFC 8725 §3.11): a proof of possession, say. One that names no type is a `JWT`.
  public var type = "JWT"

  /// A JWT, of which nothing else is expected.
  public init() {}
}

extension PublicKey {
  /// Checks a JWT: its signature by this key, its time, and what is expected.
  ///
  /// - Parameters:
  ///   - token: A compact JWS, at most 256 KiB, without a line end.
  ///   - expected: What else must hold.
  ///   - now: The time to judge by; `nil` for the clock of the system.
  /// - Returns: The payload, an object of JSON.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for a wrong signature, for none, and for the algorithm of another key;
  ///   ``VaultError/Code/expired``; ``VaultError/Code/policy`` for another type, audience, issuer or name;
  ///   ``VaultError/Code/malformed``, also without `exp`; ``VaultError/Code/unsupported``.
  public func verify(
    token: borrowing SecretBytes, expecting expected: TokenExpectation = TokenExpectation(),
    at now: Instant? = nil
  ) throws(VaultError) -> SecretBytes {
    do throws(JOSEError) {
      let read = try CompactJWS(token)
      try read.verify(with: key)
      try read.header.checkType(expected.type)
      let claims = try JWTClaims(read.payload)
      try claims.checkTimes(at: (now ?? SystemClock().now()).seconds)
      if let audience = expected.audience { try claims.checkAudience(audience) }
      if let issuer = expected.issuer { try claims.checkIssuer(issuer) }
      if let id = expected.id { try claims.checkID(id) }
      return read.payload.copy()
    } catch {
      guard error == .unsupportedAlgorithm else { throw VaultError(jose: error) }
      throw VaultError(
        .unsupported, error.message, hint: "have the other side sign with \(JWSAlgorithm(of: key).rawValue)")
    }
  }
}
