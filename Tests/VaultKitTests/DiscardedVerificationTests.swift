import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("A result that is not wanted any more is discarded", .bounded, .requirement("L5"))
struct DiscardedVerificationTests {
  // Verified to fail when the answer is judged without a look at the task, and when the prompt is not told to end.
  @Test(
    "a cancelled task ends its prompt, or leaves a prompt that ignores it; nothing is opened",
    arguments: [true, false])
  func cancelledTask(obeys: Bool) async throws {
    let held = try await GuardedVault()
    let prompt = HeldPrompt(obeys: obeys)
    let open = held.reading(prompt, reuse: .seconds(300))
    let request = await prompt.whenOpen()
    open.cancel()
    await expect(open.value, equals: .appCancelled)
    #expect(prompt.cancels == 1 && request?.isCancelled == true)
    held.vault.lock()
    if !obeys { prompt.answer("passcode") }
    try await held.log { $0.operation == .accessDenied && $0.item == held.guarded }
    try await expect(held.vault.status().passcodeFailures, equals: 0)
    #expect(await !held.vault.isUnlocked)
  }

  @Test("a task that was cancelled before asks no one, and still does what needs no one")
  func cancelledBefore() async throws {
    let held = try await GuardedVault()
    let prompt = ScriptedPrompt([.text("passcode")])
    let context = AuthenticationContext(reason: "", prompt: prompt)
    let (vault, guarded, plain) = (held.vault, held.guarded, held.plain)
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      _ = try await vault.secret(of: plain, context: context)
      return await thrown(awaiting: { () throws(VaultError) in
        _ = try await vault.secret(of: guarded, context: context)
      })?.code
    }
    try await expect(task.value, equals: .appCancelled)
    #expect(prompt.requests.isEmpty)
  }

  // Verified to fail when `opened(with:)` does not compare the session: the vault is unlocked after the lock.
  @Test(
    "a lock while a prompt is open ends it, and the vault stays locked, whatever is typed",
    arguments: [true, false])
  func locked(obeys: Bool) async throws {
    let held = try await GuardedVault()
    let prompt = HeldPrompt(obeys: obeys)
    let open = held.reading(prompt)
    await prompt.whenOpen()
    held.vault.lock()
    expect(prompt.cancels, equals: 1)
    if !obeys { prompt.answer("passcode") }
    await expect(open.value, equals: .appCancelled)
    #expect(await !held.vault.isUnlocked)
  }

  // Verified to fail when `opened(with:)` does not ask whether the call is still wanted, and when the attempt is not taken
  // back: the next one finds it without a verdict.
  @Test("a lock or a cancelled task while the passcode is derived: the vault stays locked", arguments: 0..<4)
  func whileDerived(_ way: Int) async throws {
    let gate = HeldPrompt(obeys: false)
    let isHeld = Atomic(false)
    let clock = FixedClock()
    let environment = VaultEnvironment.testing(
      clock: clock,
      derivationObserver: {
        if isHeld.load(ordering: .relaxed) {
          _ = try? gate.readSecret(PromptRequest(.passcode, operation: ""))
        }
      })
    let held = try await GuardedVault(environment: environment)
    held.vault.lock()
    isHeld.store(true, ordering: .relaxed)
    let vault = held.vault
    let context = AuthenticationContext(reason: "", prompt: ScriptedPrompt([.text("passcode")]))
    let open = Task {
      await thrown(awaiting: { () throws(VaultError) in
        if way % 2 == 0 {
          try await vault.unlock(with: Passcode(testing: "passcode"))
        } else {
          try await vault.unlock(with: context)
        }
      })?.code
    }
    await gate.whenOpen()
    if way < 2 { vault.lock() } else { open.cancel() }
    gate.answer("")
    await expect(open.value, equals: .appCancelled)
    // The attempt was not judged. It is taken back, and its entry is written last.
    try await held.log { $0.result == .cancelled }
    #expect(await !vault.isUnlocked)
    try await expect(vault.status().passcodeFailures, equals: 0)
    isHeld.store(false, ordering: .relaxed)
    clock.advance(by: .seconds(10))
    try await vault.unlock(with: Passcode(testing: "passcode"))
    #expect(try await !vault.auditEntries().contains { $0.detail?.contains("killed") == true })
  }

  @Test("an invalidated context ends its prompt and no other")
  func invalidated() async throws {
    let held = try await GuardedVault()
    let (first, second) = (HeldPrompt(), HeldPrompt())
    let context = AuthenticationContext(reason: "", prompt: first)
    let (vault, guarded) = (held.vault, held.guarded)
    let open = Task {
      await thrown(awaiting: { () throws(VaultError) in
        _ = try await vault.secret(of: guarded, context: context)
      })?.code
    }
    let other = held.reading(second)
    await first.whenOpen()
    await second.whenOpen()
    context.invalidate()
    await expect(open.value, equals: .appCancelled)
    expect(second.cancels, equals: 0)
    second.answer("passcode")
    #expect(await other.value == nil)
  }

  /// What another process changes while the prompt is open.
  enum Change: CaseIterable {
    case material, policy, deletion, member, lastMember, set, passcode, deviceKey, epoch
  }

  // Verified to fail, for each change, when the gate does not compare the material, the policy, the halves, the members
  // or the session.
  @Test(
    "a change of the item or of the factors while the prompt is open discards the result",
    arguments: Change.allCases)
  func changed(_ change: Change) async throws {
    let constraints: Constraints =
      switch change {
      case .member, .lastMember: .biometryAny
      case .set: .biometryCurrentSet
      default: .devicePasscode
      }
    let held = try await GuardedVault(constraints)
    if change == .member { _ = try await enroll("second", held) }
    let prompt = HeldPrompt()
    let open = held.reading(prompt)
    await prompt.whenOpen()
    try await apply(change, to: held)
    let right = constraints == .devicePasscode ? "passcode" : "phrase"
    prompt.answer(change == .passcode ? "other" : right)
    let code = await open.value
    switch change {
    case .deletion: expect(code, equals: .itemNotFound)
    // A new device key changes neither the item nor a factor.
    case .deviceKey: #expect(code == nil)
    default: expect(code, equals: .busy)
    }
  }

  // Verified to fail with ebe6282a. What a person types is discarded all the same, as the test above shows.
  @Test("new keys of another process do not discard what was given in advance")
  func givenBeforeNewKeys() throws {
    let rotate = Mutex<(@Sendable () -> Void)?>(nil)
    let place = TemporaryVault(
      environment: .testing(derivationObserver: { rotate.withLock { $0.take() }?() }))
    let core = try place.makeCore(passcode: "passcode")
    let id = try core.add(
      NewItem(.genericPassword, name: "guarded", access: AccessControl(.devicePasscode)),
      secret: SecretBytes(testing: "secret")
    ).id
    let other = try place.openCore()
    let context = AuthenticationContext(reason: "")
    context.provide(try Passcode(testing: "passcode"))
    core.lock()
    rotate.withLock {
      $0 = { #expect(throws: Never.self) { try other.rotateEpoch(passcode: Passcode(testing: "passcode")) } }
    }
    try expect(core.secret(of: id, context: context).bytesForTesting, equals: Array("secret".utf8))
    try expect(core.status().generation, equals: 2)
  }

  // Verified to fail when the gate does not compare the passcode that the person showed.
  @Test("a passcode that is changed while the next prompt of the same call is open opens nothing")
  func passcodeBehindPassword() async throws {
    let held = try await GuardedVault()
    let vault = held.vault
    let given = AuthenticationContext(reason: "")
    given.provide(try ApplicationPassword(testing: "password"))
    // A class that stays open when another process changes the passcode: the gate alone stands in the way.
    let access = try AccessControl([.devicePasscode, .applicationPassword], accessibility: .afterFirstUnlock)
    let both = try await vault.add(
      NewItem(.genericPassword, name: "both", access: access),
      secret: SecretBytes(testing: "secret"), context: given
    ).id
    let prompt = HeldPrompt()
    let context = AuthenticationContext(reason: "", prompt: prompt)
    let open = Task {
      await thrown(awaiting: { () throws(VaultError) in
        _ = try await vault.secret(of: both, context: context)
      })?.code
    }
    await prompt.whenOpen()
    prompt.answer("passcode")
    await expect(prompt.whenOpen()?.subject, equals: .applicationPassword)
    try await apply(.passcode, to: held)
    prompt.answer("password")
    await expect(open.value, equals: .busy)
  }

  // Verified to fail when a source is not told to end.
  @Test("a reader and a presence source end with the task", arguments: [true, false])
  func sources(isReader: Bool) async throws {
    let held = try await GuardedVault()
    let (vault, source) = (held.vault, HeldPrompt())
    let passcode = "passcode"
    if isReader {
      _ = try await vault.enrollFingers(of: source, passcode: Passcode(testing: passcode))
    } else {
      _ = try await vault.enrollLogin(passcode: Passcode(testing: passcode))
    }
    let id = try await vault.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.userPresence)),
      secret: SecretBytes(testing: "s")
    ).id
    let context = AuthenticationContext(
      reason: "", presence: isReader ? nil : source, biometry: isReader ? source : nil)
    let open = Task {
      await thrown(awaiting: { () throws(VaultError) in _ = try await vault.secret(of: id, context: context) }
      )?
      .code
    }
    await source.whenOpen()
    try await expect(vault.status().itemCount, equals: 3)
    open.cancel()
    await expect(open.value, equals: .appCancelled)
    await source.whenEnded()
    expect(source.cancels, equals: 1)
    try await held.log { $0.operation == .accessDenied && $0.item == id }
    #expect(try await vault.canEvaluate(.userPresence))
  }

  private func enroll(_ name: String, _ held: GuardedVault) async throws -> EnrolledMember {
    try await held.place.open().enroll(
      BiometricPhrase(testing: name), named: name, passcode: Passcode(testing: "passcode"))
  }

  private func apply(_ change: Change, to held: GuardedVault) async throws {
    let other = try held.place.open()
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    context.provide(try Passcode(testing: "passcode"))
    var changes = ItemChanges()
    switch change {
    case .material:
      try await other.update(held.guarded, changes, secret: SecretBytes(testing: "new"), context: context)
    case .policy:
      changes.audit = .all
      try await other.update(held.guarded, changes, context: context)
    case .deletion:
      try await other.unlock(with: Passcode(testing: "passcode"))
      try await other.delete(Query(id: held.guarded))
    case .member, .lastMember: try await other.removeMember(named: "voice")
    case .set: _ = try await enroll("third", held)
    case .deviceKey: try held.place.openCore().rotateDeviceKey()
    case .epoch: try held.place.openCore().rotateEpoch(passcode: Passcode(testing: "passcode"))
    case .passcode:
      try await other.changePasscode(from: Passcode(testing: "passcode"), to: Passcode(testing: "other"))
    }
  }
}
