import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Verified to fail with b5afbda, whose `updateState` sets any counter without asking and without a log entry.
@Suite("Counters that would go back", .bounded, .requirement("L4"))
struct CounterBackTests {
  private let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=5"

  @Test(
    "no public call changes the state of a kind of ours",
    arguments: [16, 17, 18, 19, 20] as [UInt32])
  func publicCall(kind: UInt32) async throws {
    let core = try TemporaryVault().makeCore()
    let kind = ItemKind(rawValue: kind)
    let item = try core.add(
      NewItem(kind, name: "n"), secret: SecretBytes(testing: "k"), by: Component(kind))
    let (vault, id) = (Vault(core: core), item.id)
    await expect(
      .policy,
      awaiting: {
        try await vault.write { transaction in try transaction.updateState(of: id) { $0.counter = 1 } }
      })
    let counter = try await vault.read { transaction in try transaction.state(of: id).counter }
    expect(counter, equals: 0)
  }

  @Test("a smaller counter needs force, and is logged with the old and the new one")
  func force() async throws {
    let vault = try TemporaryVault().make()
    let credential = try await OTPCredential.enroll(SecretBytes(testing: uri), named: "n", in: vault)
    for _ in 0..<3 { _ = try await credential.nextCode() }
    await expect(.policy, awaiting: { try await credential.setCounter(to: 7) })
    try await credential.setCounter(to: 8)
    try await credential.setCounter(to: 6, force: true)
    try await expect(credential.nextCode().factor, equals: .counter(6))
    let details = try await vault.auditEntries().filter { $0.operation == .counterSet }.map(\.detail)
    expect(details, equals: ["8 to 8", "8 to 6"])
  }

  @Test("the last counter is not set again without force once its code was given")
  func end() async throws {
    let vault = try TemporaryVault().make()
    let last = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=18446744073709551615"
    let credential = try await OTPCredential.enroll(SecretBytes(testing: last), named: "n", in: vault)
    try await expect(credential.nextCode().factor, equals: .counter(.max))
    await expect(.policy, awaiting: { try await credential.setCounter(to: .max) })
  }

  @Test("a counter is set in the unlocked vault alone, forward and back")
  func gate() async throws {
    let vault = try TemporaryVault().make(passcode: "1234")
    let credential = try await OTPCredential.enroll(SecretBytes(testing: uri), named: "n", in: vault)
    _ = try await credential.nextCode()
    vault.lock()
    await expect(.locked, awaiting: { try await credential.setCounter(to: 9) })
    await expect(.locked, awaiting: { try await credential.setCounter(to: 0, force: true) })
    let id = credential.id
    try await expect(vault.read { transaction in try transaction.state(of: id).counter }, equals: 6)
    try await vault.unlock(with: Passcode(testing: "1234"))
    try await credential.setCounter(to: 9)
    try await credential.setCounter(to: 5, force: true)
    try await expect(credential.nextCode().factor, equals: .counter(5))
  }
}
