package import SecretMemory
import VaultKit

/// Tokens that have no place here are revoked: what is not stored must not work.
extension TokenRequest {
  /// Ends a request whose answer cannot be used, and has the server revoke what is in it.
  ///
  /// - Parameters:
  ///   - flaw: Why it cannot be used.
  ///   - spent: The refresh token that was sent. Where the answer has no new one, it may work still, and would end with an access token
  ///     that is revoked.
  /// - Returns: How the request ends: never an error after which a program sends the same again.
  func discard(
    _ given: GivenTokens, because flaw: VaultError, spending spent: SharedSecret?
  ) -> VaultError {
    let isWorthless = given.access == nil && given.refresh == nil
    guard let spent else {
      return isWorthless
        ? flaw.advising(flaw.advice(or: .requestTokens))
        : withdraw(
          access: given.access, refresh: given.refresh, because: flaw, next: flaw.advice(or: .requestTokens))
    }
    guard let new = given.refresh, !new.isSame(as: spent) else {
      return flaw.advising(flaw.advice(or: .refreshOnce))
    }
    return withdraw(access: given.access, refresh: new, because: flaw, next: flaw.advice(or: .requestTokens))
  }

  /// Has the server revoke tokens. A server can give one token twice: those of newer tokens, which are stored, stay.
  ///
  /// - Parameters:
  ///   - reason: Why they have no place.
  ///   - next: What to do once they are revoked.
  /// - Returns: How the request ends.
  func withdraw(
    access: SharedSecret?, refresh: SharedSecret?, because reason: VaultError, next: Hint?
  ) -> VaultError {
    if isStored(access: access, refresh: refresh) {
      return reason.ending("\(reason.message); newer ones are stored", hint: nil)
    }
    guard registration.revocationEndpoint != nil else {
      return reason.ending(
        "\(reason.message); the server revokes no tokens, so they end by themselves", hint: next)
    }
    do throws(VaultError) { try revoke(refresh: refresh, access: access) } catch {
      return reason.ending(
        "\(reason.message), and the server did not revoke the new ones: \(error.message)",
        hint: "have its operator revoke the tokens of this client")
    }
    return reason.ending("\(reason.message); the server has revoked the new ones", hint: next)
  }
}

extension VaultError {
  /// What a malformed answer advises is to tell the operator; what to do with the client is more urgent.
  fileprivate func advice(or next: Hint) -> Hint? { code == .network ? next : advice }

  /// The same error in other words. What was final stays final.
  fileprivate func ending(_ message: String, hint: Hint?) -> VaultError {
    let error = VaultError(code, message, hint: hint)
    return isFinal ? error.final() : error
  }
}

extension SharedSecret {
  package func isSame(as other: SharedSecret?) -> Bool {
    other.map { bytes.isEqualInConstantTime(to: $0.bytes) } ?? false
  }
}
