import JOSE
public import SecretMemory
public import VaultKit

/// The key that a merchant's server has in common with the service that answers. **Only a server has it**, so only this type
/// says that an answer is true.
///
/// ```swift
/// let key = try ServerKey(.contents(ofFile: "/etc/shop/card.key"))
/// let answer = try key.verify(token, answering: order)
/// ```
public struct ServerKey: ~Copyable, Sendable {
  private let key: MACKey

  /// - Parameter key: 32 bytes or more, as the service gave it; it is wiped.
  /// - Throws: ``VaultError/Code/policy`` for a shorter one, and for a public key or a certificate.
  public init(_ key: consuming SecretBytes) throws(VaultError) {
    self.key = try Self.macKey(key)
  }

  private static func macKey(_ key: borrowing SecretBytes) throws(VaultError) -> MACKey {
    do throws(JOSEError) { return try MACKey(key) } catch { throw VaultError(jose: error) }
  }

  /// Checks the signature of an answer (HS256), and that it answers this request, for this session, and has not expired.
  ///
  /// - Parameters:
  ///   - token: The token of the answer, as the client sent it.
  ///   - request: The request of this server.
  ///   - now: The time to judge by; `nil` for the clock of the system.
  /// - Returns: What the service says. Whether the payment goes on is the outcome, not the signature.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for a wrong signature, for none, and for another algorithm;
  ///   ``VaultError/Code/policy`` for the answer to another request, ``VaultError/Code/expired``,
  ///   ``VaultError/Code/malformed``, ``VaultError/Code/unsupported``.
  public func verify(
    _ token: borrowing SecretBytes, answering request: CardChallengeRequest, at now: Instant? = nil
  ) throws(VaultError) -> VerifiedCardAnswer {
    let signed = try CompactJWS.received(token)
    do throws(JOSEError) { try signed.verify(with: key) } catch { throw VaultError(jose: error) }
    let time = now ?? SystemClock().now()
    return VerifiedCardAnswer(try ResponseToken(signed, answering: request, at: time))
  }
}

/// An answer whose signature a server has checked.
public struct VerifiedCardAnswer: Sendable, Equatable {
  /// How the challenge ended.
  public let outcome: CardOutcome
  /// The number of the error; 0 if there is none.
  public let errorNumber: UInt32
  /// The error in words; `nil` if the answer has none.
  public let errorText: String?
  /// What the service says about its own check (`Validated`); `nil` if it says nothing.
  public let isValidated: Bool?
  /// When the answer ends.
  public let expires: Instant

  init(_ token: ResponseToken) {
    (outcome, errorNumber, errorText) = (token.outcome, token.errorNumber, token.errorText)
    (isValidated, expires) = (token.saysValidated, token.expires)
  }
}

extension CompactJWS {
  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/unsupported``, ``VaultError/Code/authenticationFailed`` for a token
  ///   that nothing signs.
  static func received(_ token: borrowing SecretBytes) throws(VaultError) -> CompactJWS {
    guard token.byteCount <= ResponseRecord.longestAnswer else {
      throw VaultError(jose: .tooLong("the token", limit: ResponseRecord.longestAnswer))
    }
    do throws(JOSEError) { return try CompactJWS(token) } catch { throw VaultError(jose: error) }
  }
}
