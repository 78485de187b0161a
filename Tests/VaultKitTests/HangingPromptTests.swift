import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Prompts and protectors that misbehave", .bounded, .requirement("L5"))
struct HangingPromptTests {
  // Verified to fail when the caller waits for the thread of the prompt.
  @Test("a vault ends while a cancelled call's prompt still hangs; the late answer opens and changes nothing")
  func deallocated() async throws {
    let place = TemporaryVault(environment: .testing())
    let prompt = HeldPrompt(obeys: false)
    weak var gone: Vault?
    let before: UInt64
    do {
      let held = try await GuardedVault(in: place)
      gone = held.vault
      before = try await held.vault.status().auditSequence
      let open = held.reading(prompt)
      await prompt.whenOpen()
      open.cancel()
      await expect(open.value, equals: .appCancelled)
    }
    try await awaitUntil("the vault ends") { gone == nil }
    prompt.answer("passcode")
    await prompt.whenEnded()
    let core = try place.openCore()
    try expect(core.status().passcodeFailures, equals: 0)
    #expect(try !core.auditEntries(from: before + 1).contains { $0.operation == .itemRead })
  }

  @Test(
    "a prompt that returns 0 bytes declines; 1,025 bytes and NUL are asked for again, and are no attempts")
  func strangeAnswers() async throws {
    let held = try await GuardedVault()
    let empty = AuthenticationContext(reason: "", prompt: ScriptedPrompt([.text("")]))
    await expect(.cancelled, awaiting: { _ = try await held.vault.secret(of: held.guarded, context: empty) })
    let long = ScriptedPrompt([
      .text(String(repeating: "a", count: 1025)), .text("pass\0"), .text("passcode"),
    ])
    let context = AuthenticationContext(reason: "", prompt: long)
    try await expect(held.vault.secret(of: held.guarded, context: context).byteCount, equals: 6)
    #expect(long.requests[1].problem?.contains("1024 bytes") == true)
    let endless = ScriptedPrompt(Array(repeating: .text(String(repeating: "a", count: 1025)), count: 9))
    let third = AuthenticationContext(reason: "", prompt: endless)
    await expect(.malformed, awaiting: { _ = try await held.vault.secret(of: held.guarded, context: third) })
    expect(endless.unused, equals: 6)
    try await expect(held.vault.status().passcodeFailures, equals: 0)
  }

  @Test("a protector that hangs holds only its call, which its task can leave")
  func hangingProtector() async throws {
    let held = try await GuardedVault()
    let (vault, protector) = try reopened(held)
    let (prompt, guarded) = (HeldPrompt(), held.guarded)
    let context = AuthenticationContext(reason: "", prompt: prompt)
    let open = Task {
      await thrown(awaiting: { () throws(VaultError) in
        _ = try await vault.secret(of: guarded, context: context)
      })?.code
    }
    await prompt.whenOpen()
    // New keys: the call has to load the device key before it can judge the answer.
    try held.place.openCore().rotateEpoch(passcode: Passcode(testing: "passcode"))
    protector.hang()
    prompt.answer("passcode")
    await protector.whenHanging()
    vault.lock()
    open.cancel()
    await expect(open.value, equals: .appCancelled)
    protector.letGo()
  }

  // Verified to fail (by its time limit) when the protector is asked on the actor.
  @Test("a protector that hangs in the first step of a call leaves the actor free, and the task can leave it")
  func hangingProtectorFirst() async throws {
    let held = try await GuardedVault()
    let (vault, protector) = try reopened(held)
    let plain = held.plain
    try held.place.openCore().rotateEpoch(passcode: Passcode(testing: "passcode"))
    protector.hang()
    let open = Task {
      await thrown(awaiting: { () throws(VaultError) in
        _ = try await vault.secret(of: plain, context: AuthenticationContext(reason: ""))
      })?.code
    }
    await protector.whenHanging()
    #expect(await !vault.isUnlocked)
    open.cancel()
    await expect(open.value, equals: .appCancelled)
    protector.letGo()
  }

  // Verified to fail (by its time limit) when the caller waits for the protector because the call uses what it opened.
  @Test("a protector that hangs in the last step of a call holds no cancelled task")
  func hangingProtectorLast() async throws {
    let held = try await GuardedVault()
    let given = AuthenticationContext(reason: "")
    given.provide(try ApplicationPassword(testing: "password"))
    let access = try AccessControl(.applicationPassword, accessibility: .afterFirstUnlock)
    let id = try await held.vault.add(
      NewItem(.genericPassword, name: "n", access: access), secret: SecretBytes(testing: "s"), context: given
    ).id
    let (vault, protector) = try reopened(held)
    try await vault.unlock(with: Passcode(testing: "passcode"))
    let prompt = HeldPrompt()
    let context = AuthenticationContext(reason: "", prompt: prompt)
    let open = Task {
      await thrown(awaiting: { () throws(VaultError) in _ = try await vault.secret(of: id, context: context) }
      )?
      .code
    }
    await prompt.whenOpen()
    try held.place.openCore().rotateEpoch(passcode: Passcode(testing: "passcode"))
    protector.hang()
    prompt.answer("password")
    await protector.whenHanging()
    open.cancel()
    await expect(open.value, equals: .appCancelled)
    protector.letGo()
  }

  // Verified to fail (by its time limit) when the caller waits because the passcode has unlocked the vault before.
  @Test("a reader that hangs before its verification, after the vault was unlocked, holds no cancelled task")
  func hangingReader() async throws {
    let held = try await GuardedVault()
    let (vault, reader) = (held.vault, HangingReader())
    _ = try await vault.enrollFingers(of: reader, passcode: Passcode(testing: "passcode"))
    let id = try await vault.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.biometryAny)),
      secret: SecretBytes(testing: "s")
    ).id
    vault.lock()
    reader.hangs.store(true, ordering: .relaxed)
    let context = AuthenticationContext(
      reason: "", prompt: ScriptedPrompt([.text("passcode")]), biometry: reader)
    let open = Task {
      await thrown(awaiting: { () throws(VaultError) in _ = try await vault.secret(of: id, context: context) }
      )?
      .code
    }
    await reader.gate.whenOpen()
    open.cancel()
    await expect(open.value, equals: .appCancelled)
    reader.gate.answer("")
  }

  // Verified to fail (by its time limit) when the protector is told inside of the lock around the store.
  @Test("a protector that hangs when it is told of a commit holds neither a read nor a lock")
  func told() async throws {
    let held = try await GuardedVault()
    let (vault, protector) = try reopened(held)
    try await vault.unlock(with: Passcode(testing: "passcode"))
    protector.hangWhenTold()
    let core = await vault.core
    let adding = onThread {
      _ = try core.add(NewItem(.genericPassword, name: "new"), secret: SecretBytes(testing: "s"))
    }
    await protector.whenHanging()
    vault.lock()
    try expect(core.items(matching: Query()).count, equals: 3)
    protector.letGo()
    try await adding.value
  }

  private func reopened(_ held: GuardedVault) throws -> (Vault, HangingProtector) {
    let protector = HangingProtector(held.place.protector)
    let core = try VaultCore.open(
      at: held.place.path, protector: protector, environment: held.place.environment)
    return (Vault(core: core), protector)
  }
}

/// A reader that tells its fingers only when it is let go.
private final class HangingReader: BiometrySource {
  let gate = HeldPrompt()
  let hangs = Atomic(false)

  func enrolledFingers() throws(VaultError) -> [String] {
    if hangs.load(ordering: .relaxed) { _ = try gate.readSecret(PromptRequest(.finger, operation: "")) }
    return ["thumb"]
  }

  func verify(_ request: PromptRequest, showing progress: (String) -> Void) throws(VaultError) -> String? {
    "thumb"
  }
}

/// A file protector that answers only when it is let go.
private final class HangingProtector: Protector {
  private let base: FileProtector
  private let gate = HeldPrompt()
  private let hangs = Atomic(false)
  private let hangsWhenTold = Atomic(false)

  init(_ base: FileProtector) { self.base = base }

  func hang() { hangs.store(true, ordering: .relaxed) }
  func hangWhenTold() { hangsWhenTold.store(true, ordering: .relaxed) }
  func whenHanging() async { await gate.whenOpen() }
  func letGo() {
    hangs.store(false, ordering: .relaxed)
    hangsWhenTold.store(false, ordering: .relaxed)
    gate.answer("")
  }

  var kind: ProtectorKind { base.kind }
  func probe(_ vault: VaultID) throws(VaultError) -> ProtectorState { try base.probe(vault) }
  func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    if hangs.load(ordering: .relaxed) { _ = try gate.readSecret(PromptRequest(.passcode, operation: "")) }
    return try base.loadKey(key, of: vault)
  }
  func storeKey(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError) {
    try base.storeKey(key, of: vault)
  }
  func deleteKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) {
    try base.deleteKey(key, of: vault)
  }
  func promoteKey(_ key: DeviceKeyID, replacing old: DeviceKeyID, of vault: VaultID) throws(VaultError) {
    try base.promoteKey(key, replacing: old, of: vault)
  }
  func keys(of vault: VaultID) throws(VaultError) -> [DeviceKeyID] { try base.keys(of: vault) }
  func noteCommit(_ commit: SeenCommit, under key: DeviceKeyID, of vault: VaultID) {
    if hangsWhenTold.load(ordering: .relaxed) {
      _ = try? gate.readSecret(PromptRequest(.passcode, operation: ""))
    }
  }
}
