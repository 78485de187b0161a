import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultKit

/// The second step of a web login: a one-time password for each user.
struct LoginVerifier: Sendable {
  enum Answer: Equatable { case accepted, refused, wait(Duration) }

  let vault: Vault

  /// Enrolls a user. Returns the URI that the user's app scans: show it after the transaction.
  func enroll(_ user: String, in transaction: inout WriteTransaction) throws -> SecretBytes {
    let kind = OTPAuthURI.Kind.totp(periodSeconds: 30)
    let uri = try OTPAuthURI(kind: kind, account: user, secret: .random(byteCount: 20))
    let new = NewOTPCredential(kind, name: user, role: .verifier)
    try transaction.enroll(new, key: uri.secret.expose { SecretBytes(copying: $0) })
    return uri.text()
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
