import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Locks a vault while the n-th derivation from now on runs.
private final class LockingDerivations: Sendable {
  private let state = Mutex((vault: Vault?.none, left: 0))

  func lock(_ vault: Vault, at derivation: Int) { state.withLock { $0 = (vault, derivation) } }

  func observe() {
    let vault = state.withLock { state -> Vault? in
      state.left -= 1
      return state.left == 0 ? state.vault : nil
    }
    vault?.lock()
  }
}

@Suite("A vault that is locked while its keys change stays locked", .bounded, .requirement("L5"))
struct LockedMeanwhileTests {
  private let derivations = LockingDerivations()
  private let place: TemporaryVault

  init() {
    place = TemporaryVault(
      environment: .testing(derivationObserver: { [derivations] in derivations.observe() }))
  }

  // Verified to fail when the change is reported as cancelled: a program would keep the old passcode.
  @Test("a lock while the new passcode is derived: the call succeeds, and the new passcode opens the vault")
  func changed() async throws {
    let vault = try place.make(passcode: "old")
    derivations.lock(vault, at: 2)
    try await vault.changePasscode(from: Passcode(testing: "old"), to: Passcode(testing: "new"))
    #expect(await !vault.isUnlocked)
    await expect(.authenticationFailed, awaiting: { try await vault.unlock(with: Passcode(testing: "old")) })
    try await vault.unlock(with: Passcode(testing: "new"))
  }

  @Test("a lock while the old passcode is derived: nothing is changed")
  func unchanged() async throws {
    let vault = try place.make(passcode: "old")
    derivations.lock(vault, at: 1)
    await expect(
      .appCancelled,
      awaiting: {
        try await vault.changePasscode(from: Passcode(testing: "old"), to: Passcode(testing: "new"))
      })
    #expect(await !vault.isUnlocked)
    try await vault.unlock(with: Passcode(testing: "old"))
  }

  // Verified to fail as above.
  @Test("a lock while the first passcode is derived: the call succeeds")
  func set() async throws {
    let vault = try place.make()
    derivations.lock(vault, at: 1)
    try await vault.setPasscode(Passcode(testing: "new"))
    #expect(await !vault.isUnlocked)
    try await vault.unlock(with: Passcode(testing: "new"))
  }

  // Verified to fail when the session of the end of the measurements counts.
  @Test("a lock while derivations are measured")
  func recalibrated() async throws {
    let vault = try place.make(passcode: "passcode")
    derivations.lock(vault, at: 2)
    try await vault.recalibrate(Passcode(testing: "passcode"), target: .zero)
    #expect(await !vault.isUnlocked)
  }

  // Verified to fail when the rotation opens the vault again with the passcode that it was given.
  @Test("a lock during a rotation of the epoch: the rotation stops, and goes on after the next unlock")
  func rotated() throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    let error = thrown { () throws(VaultError) in
      try core.rotateEpoch(passcode: Passcode(testing: "passcode"), progress: { _ in core.lock() })
    }
    expect(error?.code, equals: .locked)
    #expect(!core.isUnlocked)
    try core.rotateEpoch(passcode: Passcode(testing: "passcode"))
    try expect(core.verify().problems, equals: [])
  }

  // Verified to fail (the process traps) when lock() always waits for the transaction.
  @Test("a lock in the closure of a transaction takes effect at its end; the transaction is made")
  func inTransaction() async throws {
    let vault = try place.make(passcode: "passcode")
    let guarded = NewItem(.genericPassword, name: "n", access: AccessControl(.whenUnlocked))
    let id = try await vault.write { transaction in
      vault.lock()
      return try transaction.add(guarded, secret: SecretBytes(testing: "s")).id
    }
    #expect(await !vault.isUnlocked)
    await expect(.locked, awaiting: { _ = try await vault.secret(of: id) })
    try await vault.unlock(with: Passcode(testing: "passcode"))
    _ = try await vault.verify(progress: { _ in vault.lock() })
    #expect(await !vault.isUnlocked)
    try await vault.unlock(with: Passcode(testing: "passcode"))
    try await expect(vault.secret(of: id).byteCount, equals: 1)
  }
}
