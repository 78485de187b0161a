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

  /// Nothing is expected.
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
  ///   ``VaultError/Code/expired``; ``VaultError/Code/policy`` for another audience, issuer or name;
  ///   ``VaultError/Code/malformed``, also without `exp`; ``VaultError/Code/unsupported``.
  public func verify(
    token: borrowing SecretBytes, expecting expected: TokenExpectation = TokenExpectation(),
    at now: Instant? = nil
  ) throws(VaultError) -> SecretBytes {
    do throws(JOSEError) {
      let read = try CompactJWS(token)
      try read.verify(with: key)
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
