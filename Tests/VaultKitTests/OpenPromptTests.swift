import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A vault with a passcode, and items with and without a rule.
private struct GuardedVault {
  let place: TemporaryVault
  let vault: Vault
  let guarded: ItemID
  let plain: ItemID

  init(
    _ constraints: Constraints = .devicePasscode, environment: VaultEnvironment = .testing(),
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
    while try await !vault.auditEntries().contains(where: isRight) {
      try await Task.sleep(for: .milliseconds(2))
    }
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

@Suite("An open prompt holds only its own call", .requirement("L5"), .timeLimit(.minutes(20)))
struct OpenPromptTests {
  // Verified to fail (by its time limit) when the call with the prompt runs on the actor.
  @Test("other calls of the same actor go on: reads, writes, a listing and a second prompt")
  func others() async throws {
    let held = try await GuardedVault()
    let (vault, prompt) = (held.vault, HeldPrompt())
    let open = held.reading(prompt)
    let request = await prompt.whenOpen()
    #expect(request?.label == "guarded" && request?.isCancelled == false)
    #expect(try await vault.secret(of: held.plain).byteCount == 5)
    let byteCount = try await vault.withSecret(of: held.plain) { $0.byteCount }
    #expect(byteCount == 5)
    #expect(try await vault.items(matching: Query()).count == 2)
    #expect(try await vault.status().itemCount == 2)
    _ = try await vault.add(NewItem(.genericPassword, name: "new"), secret: SecretBytes(testing: "s"))
    var changes = ItemChanges()
    changes.attributes[.label] = "label"
    try await vault.update(held.plain, changes)
    let other = ScriptedPrompt([.text("passcode")])
    let second = AuthenticationContext(reason: "", prompt: other)
    #expect(try await vault.secret(of: held.guarded, context: second).byteCount == 6)
    prompt.answer("passcode")
    #expect(await open.value == nil)
    #expect(try await vault.verify().problems == [])
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
    #expect(try await vault.status().itemCount == 2)
    prompt.answer("passcode")
    if call == 4 {
      await prompt.whenOpen()
      #expect(try await vault.status().itemCount == 2)
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
    #expect(try await vault.items(matching: Query()).count == 2)
    #expect(await !vault.isUnlocked)
    gate.answer("")
    try await unlocking.value
    #expect(await vault.isUnlocked)
  }
}

@Suite("A result that is not wanted any more is discarded", .requirement("L5"), .timeLimit(.minutes(20)))
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
    #expect(await open.value == .appCancelled)
    #expect(prompt.cancels == 1 && request?.isCancelled == true)
    held.vault.lock()
    if !obeys { prompt.answer("passcode") }
    try await held.log { $0.operation == .accessDenied && $0.item == held.guarded }
    #expect(try await held.vault.status().passcodeFailures == 0)
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
    #expect(try await task.value == .appCancelled)
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
    #expect(prompt.cancels == 1)
    if !obeys { prompt.answer("passcode") }
    #expect(await open.value == .appCancelled)
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
    #expect(await open.value == .appCancelled)
    // The attempt was not judged. It is taken back, and its entry is written last.
    try await held.log { $0.result == .cancelled }
    #expect(await !vault.isUnlocked)
    #expect(try await vault.status().passcodeFailures == 0)
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
    #expect(await open.value == .appCancelled)
    #expect(second.cancels == 0)
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
    case .deletion: #expect(code == .itemNotFound)
    // A new device key changes neither the item nor a factor.
    case .deviceKey: #expect(code == nil)
    default: #expect(code == .busy)
    }
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
    #expect(await prompt.whenOpen()?.subject == .applicationPassword)
    try await apply(.passcode, to: held)
    prompt.answer("password")
    #expect(await open.value == .busy)
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
    #expect(try await vault.status().itemCount == 3)
    open.cancel()
    #expect(await open.value == .appCancelled)
    await source.whenEnded()
    #expect(source.cancels == 1)
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
    case .deletion: try await other.delete(Query(id: held.guarded))
    case .member, .lastMember: try await other.removeMember(named: "voice")
    case .set: _ = try await enroll("third", held)
    case .deviceKey: try held.place.openCore().rotateDeviceKey()
    case .epoch: try held.place.openCore().rotateEpoch(passcode: Passcode(testing: "passcode"))
    case .passcode:
      try await other.changePasscode(from: Passcode(testing: "passcode"), to: Passcode(testing: "other"))
    }
  }
}

@Suite("Prompts and protectors that misbehave", .requirement("L5"), .timeLimit(.minutes(20)))
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
      #expect(await open.value == .appCancelled)
    }
    while gone != nil { try await Task.sleep(for: .milliseconds(2)) }
    prompt.answer("passcode")
    await prompt.whenEnded()
    let core = try place.openCore()
    #expect(try core.status().passcodeFailures == 0)
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
    #expect(try await held.vault.secret(of: held.guarded, context: context).byteCount == 6)
    #expect(long.requests[1].problem?.contains("1,024 bytes") == true)
    let endless = ScriptedPrompt(Array(repeating: .text(String(repeating: "a", count: 1025)), count: 9))
    let third = AuthenticationContext(reason: "", prompt: endless)
    await expect(.malformed, awaiting: { _ = try await held.vault.secret(of: held.guarded, context: third) })
    #expect(endless.unused == 6)
    #expect(try await held.vault.status().passcodeFailures == 0)
  }

  @Test("a protector that hangs holds only its call, which its task can leave")
  func hangingProtector() async throws {
    let held = try await GuardedVault()
    let protector = HangingProtector(held.place.protector)
    let vault = Vault(
      core: try VaultCore.open(at: held.place.path, protector: protector, environment: held.place.environment)
    )
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
    #expect(await open.value == .appCancelled)
    protector.letGo()
  }
}

extension HangingPromptTests {
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
    #expect(await open.value == .appCancelled)
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
    #expect(await open.value == .appCancelled)
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
    #expect(await open.value == .appCancelled)
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
    let adding = Task.detached {
      _ = try core.add(NewItem(.genericPassword, name: "new"), secret: SecretBytes(testing: "s"))
    }
    await protector.whenHanging()
    vault.lock()
    #expect(try core.items(matching: Query()).count == 3)
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
  func noteSequence(_ sequence: UInt64, under key: DeviceKeyID, of vault: VaultID) {
    if hangsWhenTold.load(ordering: .relaxed) {
      _ = try? gate.readSecret(PromptRequest(.passcode, operation: ""))
    }
  }
}
