import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Verifying a person without an item", .bounded, .requirement("L15"))
struct EvaluationTests {
  private let clock = FixedClock()
  private let place: TemporaryVault

  init() { place = TemporaryVault(environment: .testing(clock: clock)) }

  private func make(members: [String] = []) async throws -> Vault {
    let vault = try place.make(passcode: "passcode")
    for member in members { try await enroll(member, in: vault) }
    return vault
  }

  @discardableResult
  private func enroll(_ name: String, in vault: Vault) async throws -> EnrolledMember {
    try await vault.enroll(
      BiometricPhrase(testing: name), named: name, passcode: Passcode(testing: "passcode"))
  }

  private func given(_ shown: ConstraintTable.Shown) throws -> AuthenticationContext {
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    if shown.contains(.passcode) { context.provide(try Passcode(testing: "passcode")) }
    if shown.contains(.member) { context.provide(try BiometricPhrase(testing: "voice")) }
    return context
  }

  // Verified to fail when one way of `or` is enough for `and`, and when the constraints are not bound to factors.
  @Test("every legal combination is satisfied by what opens an item with it, and by nothing less")
  func combinations() async throws {
    let vault = try await make(members: ["voice"])
    for number in 0..<128 {
      let constraints = ConstraintTable.combination(number)
      let isVerifiable =
        ConstraintTable.isLegal(constraints) && !constraints.contains(.applicationPassword)
        && !constraints.subtracting([.or, .and]).isEmpty
      for raw in 0..<4 {
        let shown = ConstraintTable.Shown(rawValue: raw)
        let context = try given(shown)
        let error = await thrown(awaiting: { () throws(VaultError) in
          let evaluation = try await vault.evaluate(constraints, context: context)
          expect(evaluation.constraints, equals: constraints)
        })
        if isVerifiable {
          #expect((error == nil) == shown.opens(constraints), "\(number) \(raw)")
        } else {
          #expect(error?.code == .policy || error?.code == .malformed, "\(number)")
        }
      }
    }
    await expect(.malformed, awaiting: { _ = try await vault.canEvaluate(.applicationPassword) })
    await expect(.malformed, awaiting: { _ = try await vault.evaluate([], context: given(.passcode)) })
  }

  // Verified to fail when the set of a locked vault is believed: a holder of the device key can plant a member.
  @Test("a locked vault is unlocked first, by one prompt for both")
  func locked() async throws {
    let vault = try await make(members: ["voice"])
    vault.lock()
    await expect(
      .interactionNotAllowed,
      awaiting: { _ = try await vault.evaluate(.biometryAny, context: given(.member)) })
    #expect(await !vault.isUnlocked)
    let prompt = ScriptedPrompt([.text("passcode")])
    _ = try await vault.evaluate(.devicePasscode, context: AuthenticationContext(reason: "", prompt: prompt))
    #expect(await vault.isUnlocked)
    expect(prompt.requests.map(\.operation), equals: ["verify you"])
    #expect(prompt.requests.first?.label == nil)
  }

  @Test("it can be evaluated when the vault has the factor, and neither a delay nor a lock is in the way")
  func canEvaluate() async throws {
    let bare = try TemporaryVault(environment: .testing()).make()
    #expect(try await !bare.canEvaluate(.devicePasscode))
    await expect(.policy, awaiting: { _ = try await bare.evaluate(.userPresence, context: given(.passcode)) })
    let vault = try await make()
    try await expect(can(vault), equals: [true, true, false, false])
    try await enroll("voice", in: vault)
    try await expect(can(vault), equals: [true, true, true, true])
    for _ in 0..<5 {
      let wrong = AuthenticationContext(reason: "", interaction: .notAllowed)
      wrong.provide(try BiometricPhrase(testing: "wrong"))
      wrong.provide(try Passcode(testing: "wrong"))
      await expect(
        .authenticationFailed, awaiting: { _ = try await vault.evaluate(.biometryAny, context: wrong) })
      await expect(
        .authenticationFailed, awaiting: { _ = try await vault.evaluate(.devicePasscode, context: wrong) })
    }
    try await expect(can(vault), equals: [false, false, false, false])
    clock.advance(by: .seconds(60))
    try await expect(can(vault), equals: [true, true, false, false])
    await expect(.policy, awaiting: { _ = try await vault.canEvaluate([.or, .and, .devicePasscode]) })
  }

  private func can(_ vault: Vault) async throws -> [Bool] {
    var can: [Bool] = []
    for constraint: Constraints in [.devicePasscode, .userPresence, .biometryAny, .biometryCurrentSet] {
      can.append(try await vault.canEvaluate(constraint))
    }
    return can
  }

  // Verified to fail when the session, the boot or the age is not compared.
  @Test("an evaluation counts for its vault, until a lock, a restart or its age ends it")
  func current() async throws {
    let vault = try await make()
    func evaluate() async throws -> Evaluation {
      try await vault.evaluate(.devicePasscode, context: given(.passcode))
    }
    let first = try await evaluate()
    #expect(await vault.isCurrent(first))
    let again = try place.open()
    #expect(await !again.isCurrent(first))
    clock.advance(by: .seconds(30))
    #expect(await vault.isCurrent(first))
    clock.advance(by: .milliseconds(1))
    #expect(await !vault.isCurrent(first))
    #expect(await vault.isCurrent(first, within: .seconds(1000)))
    clock.advance(by: .seconds(270))
    #expect(await !vault.isCurrent(first, within: .seconds(1000)))
    let second = try await evaluate()
    vault.lock()
    #expect(await !vault.isCurrent(second))
    let third = try await evaluate()
    #expect(await vault.isCurrent(third))
    #expect(await !vault.isCurrent(second))
    clock.reboot()
    clock.advance(by: .seconds(1_400))
    #expect(await !vault.isCurrent(third, within: .seconds(300)))
  }

  // Verified to fail when the factors that were shown are not compared.
  @Test(
    "an evaluation ends with the passcode or the member that was shown, also if another process changes them")
  func factorsChanged() async throws {
    let vault = try await make(members: ["voice", "other"])
    let byPasscode = try await vault.evaluate(.devicePasscode, context: given(.passcode))
    let byMember = try await vault.evaluate(.biometryAny, context: given(.member))
    #expect(await vault.isCurrent(byPasscode))
    #expect(await vault.isCurrent(byMember))
    try await vault.removeMember(named: "voice")
    #expect(await vault.isCurrent(byPasscode))
    #expect(await !vault.isCurrent(byMember))
    try await vault.changePasscode(from: Passcode(testing: "passcode"), to: Passcode(testing: "new"))
    #expect(await !vault.isCurrent(byPasscode))
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    context.provide(try Passcode(testing: "new"))
    let later = try await vault.evaluate(.devicePasscode, context: context)
    #expect(await vault.isCurrent(later))
    try place.openCore().changePasscode(from: Passcode(testing: "new"), to: Passcode(testing: "passcode"))
    #expect(await !vault.isCurrent(later))
  }

  // Verified to fail when `confirm` compares nothing.
  @Test(
    "a lock or a change of the factors while the prompt is open discards it", .requirement("L5"),
    arguments: [true, false])
  func discarded(isLock: Bool) async throws {
    let vault = try await make(members: ["voice", "other"])
    let prompt = HeldPrompt(obeys: false)
    let context = AuthenticationContext(reason: "", prompt: prompt)
    let open = Task {
      await thrown(awaiting: { () throws(VaultError) in
        _ = try await vault.evaluate(.biometryAny, context: context)
      })?.code
    }
    await prompt.whenOpen()
    if isLock { vault.lock() } else { try await vault.removeMember(named: "voice") }
    prompt.answer("voice")
    #expect(await open.value == (isLock ? .appCancelled : .busy))
  }

  @Test("each prompt and each denial is in the audit log")
  func audited() async throws {
    let vault = try await make()
    let before = try await vault.status().auditSequence
    for answer in [ScriptedPrompt.Answer.text("passcode"), .cancel] {
      let context = AuthenticationContext(reason: "", prompt: ScriptedPrompt([answer]))
      _ = await thrown(awaiting: { () throws(VaultError) in
        _ = try await vault.evaluate(.devicePasscode, context: context)
      })
    }
    let entries = try await vault.auditEntries(from: before + 1)
    expect(
      entries.map { "\($0.operation.name) \($0.result.rawValue)" },
      equals: [
        "promptShown 0", "unlocked 0", "promptShown 5", "accessDenied 5",
      ])
    #expect(entries.allSatisfy { $0.item == nil })
  }

  // Verified to fail without the number of the set: a change that is taken back.
  @Test("the digest of the set changes with each change of the set and with nothing else")
  func digest() async throws {
    let vault = try await make()
    #expect(try await vault.enrolledSetDigest() == nil)
    var seen: [[UInt8]] = []
    func expectNew() async throws {
      let digest = try #require(try await vault.enrolledSetDigest())
      #expect(digest.count == 32 && !seen.contains(digest))
      try expect(place.openCore().enrolledSetDigest(), equals: digest)
      seen.append(digest)
    }
    try await enroll("one", in: vault)
    try await expectNew()
    try await enroll("two", in: vault)
    try await expectNew()
    _ = try await vault.enrollLogin(passcode: Passcode(testing: "passcode"))
    try await vault.removeMember(named: "login")
    try await vault.changePasscode(from: Passcode(testing: "passcode"), to: Passcode(testing: "new"))
    try await vault.changePasscode(from: Passcode(testing: "new"), to: Passcode(testing: "passcode"))
    try place.openCore().rotateEpoch(passcode: Passcode(testing: "passcode"))
    try place.openCore().rotateDeviceKey()
    try await expect(vault.enrolledSetDigest(), equals: seen.last)
    try await enroll("three", in: vault)
    try await expectNew()
    // Back to the members of before is another set all the same.
    try await vault.removeMember(named: "three")
    try await expectNew()
    for name in ["one", "two"] { try await vault.removeMember(named: name) }
    #expect(try await vault.enrolledSetDigest() == nil)
    try await enroll("one", in: vault)
    try await expectNew()
  }

  // Verified to fail without the ids of the members: two removals from a locked vault lead to the same next set.
  @Test("each removal from a locked vault changes the digest, and the next unlock changes nothing more")
  func lockedDigest() async throws {
    let vault = try await make(members: ["one", "two", "three"])
    var seen: [[UInt8]?] = [try await vault.enrolledSetDigest()]
    for name in ["two", "three"] {
      try await place.open().removeMember(named: name)
      seen.append(try await vault.enrolledSetDigest())
    }
    expect(Set(seen).count, equals: 3)
    vault.lock()
    try await vault.unlock(with: Passcode(testing: "passcode"))
    try await expect(vault.enrolledSetDigest(), equals: seen.last)
  }
}
