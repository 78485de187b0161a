import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultKit

/// The second step of a web login: a one-time password for each user.
struct LoginVerifier: Sendable {
  private let vault: Vault

  /// Makes the credential that stands for all unknown users, if it is not there.
  init(_ vault: Vault) async throws {
    self.vault = vault
    try await vault.write { vault in
      guard try vault.items(matching: Query(name: "no user")).isEmpty else { return }
      let new = NewOTPCredential(.totp(periodSeconds: 30), name: "no user", role: .verifier)
      try vault.enroll(new, key: .random(byteCount: 20))
    }
  }

  /// Enrolls a user. Returns the URI that the user's app scans: show it after the transaction.
  func enroll(_ user: String, in transaction: inout WriteTransaction) throws -> SecretBytes {
    let kind = OTPAuthURI.Kind.totp(periodSeconds: 30)
    let uri = try OTPAuthURI(kind: kind, account: user, secret: .random(byteCount: 20))
    let new = NewOTPCredential(kind, name: "user \(user)", role: .verifier)
    try transaction.enroll(new, key: uri.secret.expose { SecretBytes(copying: $0) })
    return uri.text()
  }

  /// Whether a code lets a user in: once. The code of an unknown user is judged and refused like a wrong one.
  func logIn(_ user: String, code: String) async throws -> Bool {
    let isKnown = try await !vault.items(matching: Query(name: "user \(user)")).isEmpty
    do {
      _ = try await OTPCredential.named(isKnown ? "user \(user)" : "no user", in: vault).verify(code)
      return isKnown
    } catch {
      let refusals: [VaultError.Code] = [.authenticationFailed, .alreadyUsed, .lockedOut, .malformed]
      guard refusals.contains(error.code) else { throw error }
      return false
    }
  }
}
