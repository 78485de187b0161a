import JOSE
public import SecretMemory
package import VaultCrypto
public import VaultKit
import VaultLogging

/// The signed tokens that an open key makes.
extension Signer {
  /// A proof for one request that its sender has this key (DPoP, RFC 9449 §4.2), for the header `DPoP`. Each has a name of its
  /// own: make one for each time that the request is sent.
  ///
  /// - Parameters:
  ///   - request: What the proof is for.
  ///   - now: The time in the proof; `nil` for the clock of the system.
  /// - Throws: ``VaultError/Code/io``.
  public func proof(for request: ProofRequest, at now: Instant? = nil) throws(VaultError) -> String {
    try proof(for: request, at: now ?? SystemClock().now(), random: SystemRandom())
  }

  /// The same in a world of a test.
  package func proof(
    for request: ProofRequest, at now: Instant, random: any RandomSource
  ) throws(VaultError) -> String {
    let token: UnsignedJWS
    do throws(JOSEError) {
      token = try request.proof.unsigned(by: key.publicKey, at: now.seconds, random: random)
    } catch { throw VaultError(jose: error) }
    VaultLog.debug(.authOAuth, "made a proof for a request to \(address: request.proof.target.text)")
    return try signed(token).expose { $0.text }
  }

  /// An assertion by which a client says who it is at a token endpoint (`private_key_jwt`, RFC 7523 §3).
  ///
  /// - Parameters:
  ///   - client: The id of the client at the server.
  ///   - audience: What the server calls itself.
  ///   - seconds: How long it lives, 1 to 300.
  ///   - keyID: The name of the key at the server.
  ///   - now: The time in the assertion; `nil` for the clock of the system.
  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/io``.
  public func assertion(
    client: String, audience: String, seconds: Int64 = 60, keyID: String? = nil, at now: Instant? = nil
  ) throws(VaultError) -> SecretBytes {
    let token: UnsignedJWS
    do throws(JOSEError) {
      let assertion = try ClientAssertion(client: client, audience: audience, life: seconds, keyID: keyID)
      token = try assertion.unsigned(
        by: key.publicKey, at: (now ?? SystemClock().now()).seconds, random: SystemRandom())
    } catch { throw VaultError(jose: error) }
    VaultLog.debug(.authOAuth, "made an assertion of \(name: client) for \(address: audience)")
    return try signed(token)
  }

  /// A JWT of these claims: a compact JWS (RFC 7515 §3.1).
  ///
  /// - Parameters:
  ///   - claims: An object of JSON, at most 128 KiB, signed byte for byte. Nothing is added.
  ///   - type: `typ` of the header, 1 to 255 visible ASCII characters.
  ///   - keyID: `kid` of the header, 1 to 1,024 bytes.
  /// - Throws: ``VaultError/Code/malformed``, also for claims that ``PublicKey/verify(token:expecting:at:)`` would not read;
  ///   ``VaultError/Code/io``.
  public func token(
    of claims: borrowing SecretBytes, type: String = "JWT", keyID: String? = nil
  ) throws(VaultError) -> SecretBytes {
    guard 1...255 ~= type.utf8.count, type.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw VaultError(.malformed, "the type of a token (typ) has 1 to 255 visible characters of ASCII")
    }
    guard 1...1024 ~= keyID?.utf8.count ?? 1 else {
      throw VaultError(.malformed, "the name of the key in a token (kid) has 1 to 1,024 bytes")
    }
    do throws(JOSEError) {
      guard claims.byteCount <= JOSE.longestToken / 2 else {
        throw .tooLong("the text of the claims", limit: JOSE.longestToken / 2)
      }
      _ = try JWTClaims(claims, as: "the text of the claims")
    } catch { throw Self.refusal(ofClaims: error) }
    return try signed(UnsignedJWS(JWSAlgorithm(of: key.publicKey), type: type, keyID: keyID, payload: claims))
  }

  /// The caller wrote the claims, so the error says what they must be.
  private static func refusal(ofClaims error: JOSEError) -> VaultError {
    switch error {
    case .wrongType(let name):
      VaultError(
        .malformed, "the claim '\(name)' has a value that it cannot have",
        hint:
          "iss, sub and jti are texts, aud is a text or a list of texts; exp, nbf and iat are whole seconds since 1970"
      )
    case .malformed, .tooLong:
      VaultError(.malformed, error.message, hint: "give the claims as one JSON object of at most 128 KiB")
    default: VaultError(jose: error)
    }
  }

  private func signed(_ token: borrowing UnsignedJWS) throws(VaultError) -> SecretBytes {
    do throws(CryptoError) {
      return try token.signed { (bytes) throws(CryptoError) in
        try key.sign(bytes, as: SignatureForm.raw.scheme(of: key.type))
      }
    } catch { throw VaultError(crypto: error) }
  }
}

/// What a proof is for: one request to a server.
public struct ProofRequest: Sendable {
  let proof: DPoPProof

  /// - Parameters:
  ///   - method: The method of the request, as it is sent.
  ///   - url: Its address, https or http, at most 2,048 bytes; query and fragment are left out of the proof.
  ///   - nonce: What the server sent in `DPoP-Nonce`, at most 1,024 characters.
  ///   - token: The access token that is sent along. The proof has its hash, and this value does not keep it.
  /// - Throws: ``VaultError/Code/malformed`` for a method, an address, a nonce or a token that is none.
  public init(
    method: String, url: String, nonce: String? = nil, token: borrowing SecretBytes? = nil
  ) throws(VaultError) {
    do throws(JOSEError) { proof = try DPoPProof(method: method, url: url, nonce: nonce, token: token) } catch
    {
      throw VaultError(
        .malformed, error.message, hint: "give method, address, nonce and token as they are sent")
    }
  }
}
