import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("An open prompt holds only its own call", .bounded, .requirement("L5"))
struct OpenPromptTests {
  // Verified to fail (by its time limit) when the call with the prompt runs on the actor.
  @Test("other calls of the same actor go on: reads, writes, a listing and a second prompt")
  func others() async throws {
    let held = try await GuardedVault()
    let (vault, prompt) = (held.vault, HeldPrompt())
    let open = held.reading(prompt)
    let request = await prompt.whenOpen()
    #expect(request?.label == "guarded" && request?.isCancelled == false)
    try await expect(vault.secret(of: held.plain).byteCount, equals: 5)
    let byteCount = try await vault.withSecret(of: held.plain) { $0.byteCount }
    expect(byteCount, equals: 5)
    try await expect(vault.items(matching: Query()).count, equals: 2)
    try await expect(vault.status().itemCount, equals: 2)
    _ = try await vault.add(NewItem(.genericPassword, name: "new"), secret: SecretBytes(testing: "s"))
    var changes = ItemChanges()
    changes.attributes[.label] = "label"
    try await vault.update(held.plain, changes)
    let other = ScriptedPrompt([.text("passcode")])
    let second = AuthenticationContext(reason: "", prompt: other)
    try await expect(vault.secret(of: held.guarded, context: second).byteCount, equals: 6)
    prompt.answer("passcode")
    #expect(await open.value == nil)
    try await expect(vault.verify().problems, equals: [])
  }

  // Verified to fail when a call that asks runs on the actor, for each call.
  @Test("each call that may ask leaves the actor free", arguments: 0..<5)
  func each(_ call: Int) async throws {
    let held = try await GuardedVault()
    let (vault, guarded, prompt) = (held.vault, held.guarded, HeldPrompt())
    let context = AuthenticationContext(reason: "", prompt: prompt)
    if call == 0 { vault.lock() }
    let open = Task {
      switch call {
      case 0: try await vault.unlock(with: context)
      case 1: _ = try await vault.withSecret(of: guarded, context: context) { $0.byteCount }
      case 2:
        try await vault.update(guarded, ItemChanges(), secret: SecretBytes(testing: "n"), context: context)
      case 3: _ = try await vault.evaluate(.devicePasscode, context: context)
      default:
        _ = try await vault.add(
          NewItem(.genericPassword, name: "p", access: AccessControl(.applicationPassword)),
          secret: SecretBytes(testing: "s"), context: context)
      }
    }
    await prompt.whenOpen()
    try await expect(vault.status().itemCount, equals: 2)
    prompt.answer("passcode")
    if call == 4 {
      await prompt.whenOpen()
      try await expect(vault.status().itemCount, equals: 2)
      prompt.answer("passcode")
    }
    try await open.value
    #expect(await vault.isUnlocked)
  }

  // Verified to fail when the derivation of a passcode runs on the actor.
  @Test("a key derivation leaves the actor free")
  func derivation() async throws {
    let gate = HeldPrompt()
    let isHeld = Atomic(false)
    let environment = VaultEnvironment.testing(derivationObserver: {
      if isHeld.load(ordering: .relaxed) { _ = try? gate.readSecret(PromptRequest(.passcode, operation: "")) }
    })
    let held = try await GuardedVault(environment: environment)
    held.vault.lock()
    isHeld.store(true, ordering: .relaxed)
    let vault = held.vault
    let unlocking = Task { try await vault.unlock(with: Passcode(testing: "passcode")) }
    await gate.whenOpen()
    try await expect(vault.items(matching: Query()).count, equals: 2)
    #expect(await !vault.isUnlocked)
    gate.answer("")
    try await unlocking.value
    #expect(await vault.isUnlocked)
  }
}
