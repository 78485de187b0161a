import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultKit

/// The second step of a web login: a one-time password for each user.
struct LoginVerifier: Sendable {
  enum Answer: Equatable { case accepted, refused, wait(Duration) }

  let vault: Vault

  /// Enrolls a user, and lends the URI that the user's app scans to `show`.
  func enroll(_ user: String, show: (borrowing SecretBytes) throws -> Void) async throws {
    let key = try SecretBytes.random(byteCount: 20)
    let uri = try OTPAuthURI(kind: .totp(periodSeconds: 30), account: user, secret: key).text()
    _ = try await OTPCredential.enroll(uri, role: .verifier, named: user, in: vault)
    try show(uri)
  }

  /// Judges a code. An accepted code is refused from then on; an unknown user gets the answer of a wrong code.
  func logIn(_ user: String, code: String) async throws -> Answer {
    do {
      _ = try await OTPCredential.named(user, in: vault).verify(code)
      return .accepted
    } catch {
      switch error.code {
      case .authenticationFailed, .alreadyUsed, .malformed, .itemNotFound: return .refused
      case .lockedOut: return .wait(error.retryAfter ?? .zero)
      default: throw error
      }
    }
  }
}
