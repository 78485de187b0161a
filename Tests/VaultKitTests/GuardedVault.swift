import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A vault with a passcode, and items with and without a rule.
struct GuardedVault {
  let place: TemporaryVault
  let vault: Vault
  let guarded: ItemID
  let plain: ItemID

  init(
    _ constraints: Constraints = .devicePasscode,
    environment: VaultEnvironment = .testing(clock: FixedClock()),
    in place: TemporaryVault? = nil
  ) async throws {
    self.place = place ?? TemporaryVault(environment: environment)
    vault = try self.place.make(passcode: "passcode")
    if constraints != .devicePasscode {
      _ = try await vault.enroll(
        BiometricPhrase(testing: "phrase"), named: "voice", passcode: Passcode(testing: "passcode"))
    }
    guarded = try await vault.add(
      NewItem(.genericPassword, name: "guarded", access: AccessControl(constraints)),
      secret: SecretBytes(testing: "secret")
    ).id
    plain = try await vault.add(
      NewItem(.genericPassword, name: "plain"), secret: SecretBytes(testing: "plain")
    ).id
  }

  /// Waits until the log has such an entry.
  func log(has isRight: (AuditEntry) -> Bool) async throws {
    try await awaitUntil("the log has the entry") { try await vault.auditEntries().contains(where: isRight) }
  }

  /// Reads the guarded secret while `prompt` is open.
  func reading(_ prompt: HeldPrompt, reuse: Duration = .zero) -> Task<VaultError.Code?, Never> {
    let context = AuthenticationContext(reason: "", prompt: prompt, reuse: reuse)
    return Task { [vault, guarded] in
      await thrown(awaiting: { () throws(VaultError) in
        _ = try await vault.secret(of: guarded, context: context)
      })?.code
    }
  }
}
