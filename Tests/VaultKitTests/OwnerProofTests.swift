import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What a restore over a vault asks for (docs/security/invariants.md).
@Suite("A restore over a vault with a passcode", .bounded, .requirement("R24"))
struct OwnerProofTests {
  private let clock = FixedClock()
  private let place: TemporaryVault
  private let backup: String
  private let code: SharedSecret

  init() throws {
    place = TemporaryVault(environment: .testing(clock: clock))
    let core = try place.makeCore(passcode: "passcode")
    code = SharedSecret(try core.makeRecoveryCode().text)
    backup = place.folder + "/data/b.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "long phrase"))
  }

  private func replace(showing proof: consuming OwnerProof?) async throws(VaultError) -> RestoredVault {
    try await Vault.restore(
      from: VaultPath(backup), passphrase: Passcode(testing: "long phrase"), replacing: VaultPath(place.path),
      showing: proof, protector: place.protector, environment: place.environment)
  }

  /// Verified to fail when the restore does not look whether the owner agreed.
  @Test("without the passcode or the recovery code the vault stays")
  func refused() async throws {
    let before = try place.openCore().status()
    let refused = await thrown { () async throws(VaultError) in _ = try await replace(showing: nil) }
    expect(refused?.code, equals: .locked)
    let after = try place.openCore().status()
    #expect(after.sequence == before.sequence && after.deviceKey == before.deviceKey)
    let other = SharedSecret(try TemporaryVault().makeCore().makeRecoveryCode().text)
    let wrong = await thrown { () async throws(VaultError) in
      _ = try await replace(showing: .recoveryCode(RecoveryCode(text: other.bytes)))
    }
    expect(wrong?.code, equals: .authenticationFailed)
    let passcode = await thrown { () async throws(VaultError) in
      _ = try await replace(showing: .passcode(Passcode(testing: "wrong")))
    }
    #expect(passcode?.code == .authenticationFailed && passcode?.attemptsLeft == 4)
    try expect(place.openCore().status().passcodeFailures, equals: 1)
  }

  /// The passcode that was shown is that of the backup, so nothing has to be waited for.
  @Test("with the passcode there is no delay")
  func passcode() async throws {
    let byPasscode = try await replace(showing: .passcode(Passcode(testing: "passcode")))
    expect(byPasscode.report.passcodeDelay, equals: nil)
    try await byPasscode.vault.unlock(with: Passcode(testing: "passcode"))
  }

  /// Verified to fail when the delay depends on whether a passcode was shown, and not on which.
  @Test("a passcode that is not that of the backup leaves the delay")
  func otherPasscode() async throws {
    try place.openCore().changePasscode(from: Passcode(testing: "passcode"), to: Passcode(testing: "another"))
    let restored = try await replace(showing: .passcode(Passcode(testing: "another")))
    expect(restored.report.passcodeDelay, equals: .seconds(60))
    let early = await thrown { () async throws(VaultError) in
      try await restored.vault.unlock(with: Passcode(testing: "passcode"))
    }
    expect(early?.code, equals: .passcodeDelay)
  }

  /// Verified to fail when it counts as the passcode.
  @Test("the recovery code serves too, and leaves the delay")
  func recoveryCode() async throws {
    let restored = try await replace(showing: .recoveryCode(RecoveryCode(text: code.bytes)))
    expect(restored.report.passcodeDelay, equals: .seconds(60))
    clock.advance(by: .seconds(60))
    try await restored.vault.unlock(with: Passcode(testing: "passcode"))
  }

  @Test("a vault that does not open with the key that is named is not replaced")
  func otherKey() async throws {
    let empty = FileProtector(file: place.folder + "/none.key")
    let error = await thrown { () async throws(VaultError) in
      _ = try await Vault.restore(
        from: VaultPath(backup), passphrase: Passcode(testing: "long phrase"),
        replacing: VaultPath(place.path), showing: .passcode(Passcode(testing: "passcode")),
        protector: empty, environment: place.environment)
    }
    #expect(error?.code == .deviceKeyAbsent && error?.hint?.contains("move") == true)
  }
}
