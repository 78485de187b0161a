import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Authentication", .bounded)
struct AuthenticationTests {
  private let clock = FixedClock()
  private let place: TemporaryVault

  init() { place = TemporaryVault(environment: .testing(clock: clock)) }

  private func makeCore(_ access: AccessControl? = nil) throws -> (VaultCore, ItemID) {
    let core = try place.makeCore(passcode: "passcode")
    return (core, try add("n", try access ?? AccessControl(.devicePasscode), core))
  }

  private func add(_ name: String, _ access: AccessControl, _ core: VaultCore) throws -> ItemID {
    try core.add(
      NewItem(.genericPassword, name: name, access: access), secret: SecretBytes(testing: "secret of \(name)")
    ).id
  }

  private func context(
    _ prompt: ScriptedPrompt, reuse: Duration = .zero,
    interaction: AuthenticationContext.Interaction = .allowed
  ) -> AuthenticationContext {
    AuthenticationContext(reason: "because", prompt: prompt, reuse: reuse, interaction: interaction)
  }

  @Test("each use of a passcode item asks, with the operation, the name, the reason and who asks")
  func asks() throws {
    let (core, id) = try makeCore()
    let prompt = ScriptedPrompt([.text("passcode"), .text("passcode")])
    let context = context(prompt)
    for _ in 0..<2 {
      try expect(core.secret(of: id, context: context).bytesForTesting, equals: Array("secret of n".utf8))
    }
    expect(prompt.requests.count, equals: 2)
    let request = try #require(prompt.requests.first)
    #expect(request.subject == .passcode && request.operation == "read the secret")
    #expect(request.label == "n" && request.reason == "because" && request.problem == nil)
    #expect(request.requester?.executable != nil)
  }

  // Fails when the gate takes an unlocked session for a verification.
  @Test(
    "an unlocked vault opens no constrained item by itself, neither in a transaction nor without a context")
  func unlockedIsNotEnough() throws {
    let (core, id) = try makeCore()
    #expect(core.isUnlocked)
    try expect(core.secret(failing: id, with: nil), equals: .interactionNotAllowed)
    expect(.verificationNeeded) { () throws(VaultError) in
      try core.reading { transaction throws(VaultError) in
        _ = try transaction.useSecret(of: transaction.item(id), by: nil)
      }
    }
    let silent = context(ScriptedPrompt([.text("passcode")]), interaction: .notAllowed)
    try expect(core.secret(failing: id, with: silent), equals: .interactionNotAllowed)
    expect(.interactionNotAllowed) { () throws(VaultError) in
      _ = try core.update(id, ItemChanges(), context: nil)
    }
  }

  // Fails when `kept` ignores the window.
  @Test(
    "with reuse one prompt serves several items, until the window ends, the machine boots or the vault is locked"
  )
  func reuse() throws {
    let (core, one) = try makeCore()
    let two = try add("two", AccessControl(.userPresence), core)
    let prompt = ScriptedPrompt(Array(repeating: .text("passcode"), count: 9))
    let context = context(prompt, reuse: .seconds(60))
    func open(_ id: ItemID, asked: Int) throws {
      _ = try core.secret(of: id, context: context)
      expect(prompt.requests.count, equals: asked)
    }
    try open(one, asked: 1)
    try open(two, asked: 1)
    clock.advance(by: .milliseconds(59_999))
    try open(one, asked: 1)
    clock.advance(by: .milliseconds(1))
    try open(one, asked: 2)
    clock.reboot()
    clock.advance(by: .seconds(1_100))
    try open(two, asked: 3)
    core.lock()
    try open(one, asked: 4)
    let copy = context
    _ = try core.secret(of: two, context: copy)
    expect(prompt.requests.count, equals: 4)
    try core.changePasscode(from: Passcode(testing: "passcode"), to: Passcode(testing: "other"))
    prompt.empty()
    try expect(core.secret(failing: one, with: context), equals: .cancelled)
  }

  // Fails when `FactorSlots.half` does not compare the derivations: the slots of before are called damaged.
  @Test("a passcode that another process changes while the prompt is open is busy, never damage")
  func changedBehindPrompt() throws {
    let (core, id) = try makeCore()
    let prompt = ChangingPrompt(try place.openCore())
    try expect(
      core.secret(failing: id, with: AuthenticationContext(reason: "", prompt: prompt)), equals: .busy)
    let again = context(ScriptedPrompt([.text("other")]))
    try expect(core.secret(of: id, context: again).bytesForTesting, equals: Array("secret of n".utf8))
  }

  @Test("reuse is at most 300 s, and never negative")
  func reuseLimit() throws {
    let (core, id) = try makeCore()
    for (reuse, kept) in [(Duration.seconds(10_000), 299_999), (.seconds(-5), -1)] {
      let prompt = ScriptedPrompt([.text("passcode"), .text("passcode"), .text("passcode")])
      let context = context(prompt, reuse: reuse)
      _ = try core.secret(of: id, context: context)
      if kept > 0 {
        clock.advance(by: .milliseconds(kept))
        _ = try core.secret(of: id, context: context)
        expect(prompt.requests.count, equals: 1)
      }
      clock.advance(by: .milliseconds(1))
      _ = try core.secret(of: id, context: context)
      expect(prompt.requests.count, equals: 2)
    }
  }

  // Fails when `check` leaves out the boot clock or the session.
  @Test("a grant lapses after 30 s, with a reboot and with a lock", arguments: 0..<4)
  func grantLife(_ way: Int) throws {
    let (core, id) = try makeCore()
    func use(_ meanwhile: () -> Void) throws -> VaultError.Code? {
      let context = context(ScriptedPrompt([.text("passcode")]))
      do throws(VaultError) {
        try core.prepareSecrets(of: [id], context: context)
        meanwhile()
        var transaction = try core.beginReading()
        _ = try transaction.secret(of: id, context: context)
        return nil
      } catch { return error.code }
    }
    switch way {
    case 0: #expect(try use { clock.advance(by: .milliseconds(29_999)) } == nil)
    case 1: try expect(use { clock.advance(by: .seconds(30)) }, equals: .verificationNeeded)
    case 2: try expect(use { clock.reboot() }, equals: .verificationNeeded)
    default:
      try expect(
        use {
          core.lock()
          try? core.unlock(with: Passcode(testing: "passcode"))
        }, equals: .verificationNeeded)
    }
  }

  // Fails when the grant's public halves, policy or material are not compared.
  @Test("a grant is worth nothing when the item was given another secret meanwhile")
  func grantOfAnotherSecret() throws {
    let (core, id) = try makeCore()
    let context = context(ScriptedPrompt([.text("passcode"), .text("passcode")]))
    expect(.busy) { () throws(VaultError) in
      try core.prepareSecrets(of: [id], context: context)
      try core.update(id, ItemChanges(), secret: SecretBytes(testing: "new"), context: context)
      var transaction = try core.beginReading()
      _ = try transaction.secret(of: id, context: context)
    }
  }

  @Test("three wrong answers are asked for, counted each, and the right one of them opens")
  func wrongAnswers() throws {
    let (core, id) = try makeCore()
    let wrong = ScriptedPrompt([.text("a"), .text("b"), .text("c"), .text("passcode")])
    try expect(core.secret(failing: id, with: context(wrong)), equals: .authenticationFailed)
    expect(wrong.requests.count, equals: 3)
    expect(wrong.requests[1].problem, equals: "wrong passcode")
    try expect(core.status().passcodeFailures, equals: 3)
    let late = ScriptedPrompt([.text("d"), .text("passcode")])
    try expect(core.secret(of: id, context: context(late)).byteCount, equals: 11)
    try expect(core.status().passcodeFailures, equals: 0)
  }

  @Test("a passcode given in advance is tried once; a wrong one is not tried again")
  func givenInAdvance() throws {
    let (core, id) = try makeCore()
    let prompt = ScriptedPrompt([.text("passcode")])
    let context = context(prompt)
    context.provide(try Passcode(testing: "wrong"))
    try expect(core.secret(failing: id, with: context), equals: .authenticationFailed)
    #expect(prompt.requests.isEmpty)
    try expect(core.status().passcodeFailures, equals: 1)
    _ = try core.secret(of: id, context: context)
    expect(prompt.requests.count, equals: 1)
    context.provide(try Passcode(testing: "passcode"))
    for _ in 0..<3 { _ = try core.secret(of: id, context: context) }
    expect(prompt.requests.count, equals: 1)
  }

  @Test("an invalidated context is cancelled, also while its prompt is open, and forgets what it was given")
  func invalidation() throws {
    let (core, id) = try makeCore()
    let prompt = InvalidatingPrompt()
    let context = AuthenticationContext(reason: "", prompt: prompt)
    prompt.context.withLock { $0 = context }
    try expect(core.secret(failing: id, with: context), equals: .appCancelled)
    #expect(prompt.isCancelled.withLock { $0 })
    try expect(core.status().passcodeFailures, equals: 0)
    let given = AuthenticationContext(reason: "", reuse: .seconds(300))
    given.provide(try Passcode(testing: "passcode"))
    _ = try core.secret(of: id, context: given)
    given.invalidate()
    given.provide(try Passcode(testing: "passcode"))
    try expect(core.secret(failing: id, with: given), equals: .appCancelled)
  }

  @Test("a locked vault is unlocked by the same passcode: one prompt for both")
  func lockedVault() throws {
    let (core, id) = try makeCore()
    let plain = try add("plain", AccessControl(), core)
    core.lock()
    let prompt = ScriptedPrompt([.text("passcode"), .text("passcode")])
    _ = try core.secret(of: id, context: context(prompt))
    #expect(prompt.requests.count == 1 && core.isUnlocked)
    core.lock()
    try expect(core.secret(failing: plain, with: nil), equals: .locked)
    _ = try core.secret(of: plain, context: context(prompt))
    expect(prompt.requests.count, equals: 2)
    core.lock()
    let added = try core.add(
      NewItem(.genericPassword, name: "later"), secret: SecretBytes(testing: "whole"),
      context: context(ScriptedPrompt([.text("passcode")])))
    try expect(core.secret(of: added.id).byteCount, equals: 5)
  }

  // Fails when a denial is not written.
  @Test("every use of a constrained item and every denial is in the log; deleting needs the unlocked vault")
  func audited() throws {
    let (core, id) = try makeCore()
    let before = try core.status().auditSequence
    _ = try core.secret(of: id, context: context(ScriptedPrompt([.text("passcode")])))
    _ = try core.secret(failing: id, with: nil)
    _ = try core.secret(failing: id, with: context(ScriptedPrompt([.cancel])))
    _ = try core.secret(failing: id, with: context(ScriptedPrompt([.text("x"), .nobody])))
    let entries = try core.auditEntries(from: before + 1).filter { $0.operation != .unlocked }
    expect(
      entries.map { "\($0.operation.name) \($0.result.rawValue)" },
      equals: [
        "promptShown 0", "itemRead 0", "accessDenied 6", "promptShown 5", "accessDenied 5", "promptShown 3",
        "accessDenied 3",
      ])
    #expect(entries.allSatisfy { $0.item == id })
    core.lock()
    expect(.locked) { () throws(VaultError) in try core.delete(Query(name: "n")) }
    try core.unlock(with: Passcode(testing: "passcode"))
    try expect(core.delete(Query(name: "n")), equals: 1)
  }

  // Verified to fail when an item is given the policy of the item before it, and when a listing refuses constrained
  // items unless the query says otherwise.
  @Test(
    "listing asks no one, also in a locked vault: constrained items are listed, left out or refused, as the query says",
    .requirement("L11"))
  func listing() async throws {
    let (core, id) = try makeCore()
    _ = try add("presence", AccessControl(.userPresence), core)
    _ = try add("plain", AccessControl(), core)
    let before = try core.status().auditSequence
    core.lock()
    let vault = Vault(core: core)
    let listed = try await vault.items(matching: Query())
    #expect(listed.map(\.name) == ["n", "presence", "plain"] && listed.first?.id == id)
    let inside = try await vault.read { transaction in try transaction.items(matching: Query()).count }
    expect(inside, equals: 3)
    var query = Query()
    query.constrained = .skip
    try expect(core.items(matching: query).map(\.name), equals: ["plain"])
    query.constrained = .fail
    expect(.verificationNeeded) { () throws(VaultError) in _ = try core.items(matching: query) }
    // Nothing was denied and nothing was shown: only the secret asks.
    #expect(try core.status().auditSequence == before && !core.isUnlocked)
    try expect(core.secret(failing: id, with: nil), equals: .interactionNotAllowed)
  }

  // Fails when `rewrite` seals a constrained item as one without constraint.
  @Test("a changed item keeps its rule, with its old secret and with a new one")
  func updating() throws {
    let (core, _) = try makeCore()
    func given() throws -> AuthenticationContext {
      let context = AuthenticationContext(reason: "", interaction: .notAllowed)
      context.provide(try Passcode(testing: "passcode"))
      context.provide(try ApplicationPassword(testing: "password"))
      return context
    }
    let access = try AccessControl([.devicePasscode, .applicationPassword])
    let new = NewItem(.genericPassword, name: "both", access: access)
    let id = try core.add(new, secret: SecretBytes(testing: "old"), context: given()).id
    var changes = ItemChanges()
    changes.attributes[.label] = "label"
    try core.update(id, changes, context: given())
    try expect(core.secret(of: id, context: given()).bytesForTesting, equals: Array("old".utf8))
    try core.update(id, ItemChanges(), secret: SecretBytes(testing: "new"), context: given())
    changes.audit = .all
    try core.update(id, changes, context: given())
    try expect(core.secret(of: id, context: given()).bytesForTesting, equals: Array("new".utf8))
    let half = AuthenticationContext(reason: "", interaction: .notAllowed)
    half.provide(try Passcode(testing: "passcode"))
    try expect(core.secret(failing: id, with: half), equals: .interactionNotAllowed)
    half.provide(try ApplicationPassword(testing: "passwort"))
    try expect(core.secret(failing: id, with: half), equals: .authenticationFailed)
    try expect(core.verify().problems, equals: [])
  }

  @Test("an application password is asked for twice when it is set, and the two must be the same")
  func newApplicationPassword() throws {
    let core = try place.makeCore()
    let new = NewItem(.genericPassword, name: "n", access: try AccessControl(.applicationPassword))
    expect(.malformed) { () throws(VaultError) in
      _ = try core.add(
        new, secret: SecretBytes(testing: "s"),
        context: context(ScriptedPrompt([.text("one"), .text("two")])))
    }
    expect(.interactionNotAllowed) { () throws(VaultError) in
      _ = try core.add(new, secret: SecretBytes(testing: "s"))
    }
    #expect(try core.items(matching: Query()).isEmpty)
    let prompt = ScriptedPrompt([.text("one"), .text("one"), .text("two"), .text("one")])
    let id = try core.add(new, secret: SecretBytes(testing: "s"), context: context(prompt)).id
    try expect(core.secret(of: id, context: context(prompt)).byteCount, equals: 1)
    expect(prompt.requests.map(\.subject), equals: Array(repeating: .applicationPassword, count: 4))
    expect(prompt.requests[3].problem, equals: "wrong application password")
  }

  @Test("rotation, purge, backup and restore carry constrained items, and ask no member")
  func carried() throws {
    let (core, id) = try makeCore()
    _ = try core.enroll(
      BiometricPhrase(testing: "phrase"), named: "voice", passcode: Passcode(testing: "passcode"))
    let set = try add("set", AccessControl(.biometryCurrentSet), core)
    try core.rotateEpoch(passcode: Passcode(testing: "passcode"))
    try core.purge(passcode: Passcode(testing: "passcode"))
    try core.changePasscode(from: Passcode(testing: "passcode"), to: Passcode(testing: "new"))
    let backup = place.folder + "/backup"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "passphrase"))
    try expect(core.verify().problems, equals: [])
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "passphrase"), to: place.folder + "/data/second.vault",
      protector: FileProtector(folder: place.folder + "/second"), environment: place.environment
    ).core
    place.environment.passRestoreDelay()
    for vault in [core, try place.openCore(), restored] {
      let context = AuthenticationContext(reason: "")
      context.provide(try Passcode(testing: "new"))
      context.provide(try BiometricPhrase(testing: "phrase"))
      try expect(vault.secret(of: id, context: context).bytesForTesting, equals: Array("secret of n".utf8))
      try expect(vault.secret(of: set, context: context).bytesForTesting, equals: Array("secret of set".utf8))
      try expect(vault.enrolledMembers().map(\.name), equals: ["voice"])
      try expect(vault.verify().problems, equals: [])
    }
  }

  // Fails when removing the passcode leaves an item behind that nobody can open.
  @Test("removing the passcode destroys the items behind a factor, which it names before, and nothing else")
  func passcodeRemoved() throws {
    let (core, _) = try makeCore()
    _ = try core.enroll(
      BiometricPhrase(testing: "phrase"), named: "voice", passcode: Passcode(testing: "passcode"))
    _ = try add("any", AccessControl(.biometryAny, accessibility: .afterFirstUnlock), core)
    _ = try add("plain", AccessControl(), core)
    let password = AuthenticationContext(reason: "")
    password.provide(try ApplicationPassword(testing: "password"))
    _ = try core.add(
      NewItem(.genericPassword, name: "password", access: AccessControl(.applicationPassword)),
      secret: SecretBytes(testing: "s"), context: password)
    try expect(core.itemsBehindPasscode().items.map(\.name), equals: ["n", "any"])
    try expect(core.removePasscode(Passcode(testing: "passcode")).items.map(\.name), equals: ["n", "any"])
    try expect(core.items(matching: Query()).map(\.name), equals: ["plain", "password"])
    #expect(try core.enrolledMembers().isEmpty)
    let id = try core.item(named: "password").id
    try expect(core.secret(of: id, context: password).byteCount, equals: 1)
    try core.setPasscode(Passcode(testing: "again"))
    _ = try core.enroll(
      BiometricPhrase(testing: "phrase"), named: "voice", passcode: Passcode(testing: "again"))
    try expect(core.verify().problems, equals: [])
  }
}

/// Invalidates the context that it belongs to while it is open.
private final class InvalidatingPrompt: Prompt {
  let context = Mutex<AuthenticationContext?>(nil)
  let isCancelled = Mutex(false)

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    context.withLock { $0 }?.invalidate()
    return SecretBytes(testing: "passcode")
  }

  func confirm(_ request: PromptRequest) -> Bool { false }

  func cancel() { isCancelled.withLock { $0 = true } }
}

/// While it is open another process changes the passcode; the new one is typed.
private final class ChangingPrompt: Prompt {
  private let other: VaultCore

  init(_ other: VaultCore) { self.other = other }

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    try other.changePasscode(from: Passcode(testing: "passcode"), to: Passcode(testing: "other"))
    return SecretBytes(testing: "other")
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { false }
}
