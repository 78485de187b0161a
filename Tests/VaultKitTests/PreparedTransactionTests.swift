import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Verified to fail when the gate does not compare the grant of an item without constraints with session, time and
/// item; when the reading is not logged at the preparation; and when a transaction opens a secret whose reading is not
/// logged.
@Suite("Secrets in transactions", .bounded, .requirement("L7"))
struct PreparedTransactionTests {
  private let clock = FixedClock()
  private let place: TemporaryVault

  init() { place = TemporaryVault(environment: .testing(clock: clock)) }

  private struct Made {
    let vault: Vault
    let constrained: ItemID
    let logged: ItemID
    let plain: ItemID
    var all: [ItemID] { [constrained, logged, plain] }
  }

  private func make() async throws -> Made {
    let vault = try place.make(passcode: "passcode")
    let access = try AccessControl(.devicePasscode)
    var logged = NewItem(.genericPassword, name: "logged")
    logged.audit = .all
    return Made(
      vault: vault,
      constrained: try await vault.add(
        NewItem(.genericPassword, name: "constrained", access: access), secret: SecretBytes(testing: "s")
      ).id,
      logged: try await vault.add(logged, secret: SecretBytes(testing: "s")).id,
      plain: try await vault.add(
        NewItem(.genericPassword, name: "plain"), secret: SecretBytes(testing: "s")
      ).id)
  }

  private func context(_ answers: String...) -> AuthenticationContext {
    AuthenticationContext(reason: "because", prompt: ScriptedPrompt(answers.map { .text($0) }))
  }

  private func open(
    _ id: ItemID, _ vault: Vault, _ context: AuthenticationContext?
  ) async throws(VaultError) -> Int {
    try await vault.read { transaction throws(VaultError) in
      try transaction.secret(of: id, context: context).byteCount
    }
  }

  private func readings(_ vault: Vault) async throws -> Int {
    try await vault.auditEntries().count { $0.operation == .itemRead }
  }

  @Test("what is prepared opens once, in a read or in a write transaction, and is logged before")
  func prepared() async throws {
    let made = try await make()
    let vault = made.vault
    let context = context("passcode", "passcode")
    try await vault.prepareSecrets(of: made.all, context: context)
    try await expect(readings(vault), equals: 2)
    for id in made.all { try await expect(open(id, vault, context), equals: 1) }
    try await expect(readings(vault), equals: 2)
    for id in [made.constrained, made.logged] {
      await expect(.verificationNeeded, awaiting: { _ = try await open(id, vault, context) })
    }
    try await vault.prepareSecrets(of: [made.constrained], context: context)
    let count = try await vault.write { transaction throws(VaultError) in
      try transaction.secret(of: made.constrained, context: context).byteCount
    }
    expect(count, equals: 1)
  }

  @Test("without preparation only secrets open that need nobody and no entry")
  func unprepared() async throws {
    let made = try await make()
    let context = context("passcode")
    for id in [made.constrained, made.logged] {
      await expect(.verificationNeeded, awaiting: { _ = try await open(id, made.vault, context) })
      await expect(
        .verificationNeeded,
        awaiting: {
          _ = try await made.vault.write { transaction throws(VaultError) in
            try transaction.secret(of: id).byteCount
          }
        })
    }
    try await expect(open(made.plain, made.vault, nil), equals: 1)
    try await expect(readings(made.vault), equals: 0)
  }

  @Test("a lock, 30 seconds and an invalidated context end what was prepared")
  func ended() async throws {
    let made = try await make()
    let vault = made.vault
    let context = context("passcode", "passcode", "passcode")
    let ids = [made.constrained, made.logged]
    try await vault.prepareSecrets(of: ids, context: context)
    vault.lock()
    for id in ids { await expect(.locked, awaiting: { _ = try await open(id, vault, context) }) }
    try await vault.unlock(with: Passcode(testing: "passcode"))
    try await vault.prepareSecrets(of: ids, context: context)
    vault.lock()
    try await vault.unlock(with: Passcode(testing: "passcode"))
    for id in ids {
      await expect(.verificationNeeded, awaiting: { _ = try await open(id, vault, context) })
    }
    try await vault.prepareSecrets(of: ids, context: context)
    clock.advance(by: .seconds(30))
    for id in ids {
      await expect(.verificationNeeded, awaiting: { _ = try await open(id, vault, context) })
    }
  }

  @Test("a changed item, and another context, void what was prepared")
  func changed() async throws {
    let made = try await make()
    let context = context("passcode", "passcode")
    try await made.vault.prepareSecrets(of: [made.constrained, made.logged], context: context)
    let other = try place.openCore()
    try other.unlock(with: Passcode(testing: "passcode"))
    try other.update(made.logged, ItemChanges(), secret: SecretBytes(testing: "new"))
    await expect(.busy, awaiting: { _ = try await open(made.logged, made.vault, context) })
    await expect(
      .verificationNeeded, awaiting: { _ = try await open(made.constrained, made.vault, self.context()) })
    context.invalidate()
    await expect(
      .verificationNeeded, awaiting: { _ = try await open(made.constrained, made.vault, context) })
  }

  @Test("who declines prepares nothing")
  func declined() async throws {
    let made = try await make()
    let context = AuthenticationContext(reason: "because", prompt: ScriptedPrompt([.cancel]))
    await expect(
      .cancelled,
      awaiting: { try await made.vault.prepareSecrets(of: [made.constrained], context: context) })
    await expect(
      .verificationNeeded, awaiting: { _ = try await open(made.constrained, made.vault, context) })
    try await expect(readings(made.vault), equals: 0)
  }

  @Test("a locked vault asks for its passcode at the preparation, and never in the transaction")
  func locked() async throws {
    let made = try await make()
    made.vault.lock()
    let context = context("passcode")
    await expect(.locked, awaiting: { _ = try await open(made.plain, made.vault, context) })
    try await made.vault.prepareSecrets(of: [made.plain], context: context)
    try await expect(open(made.plain, made.vault, context), equals: 1)
  }
}
