import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// The enrolled set with phrases in the place of fingers (R14).
@Suite("Enrolled set", .bounded, .requirement("R14"))
struct EnrolledSetTests {
  private let counter = Counter()
  private let clock = FixedClock()
  private let place: TemporaryVault

  init() {
    place = TemporaryVault(
      environment: .testing(clock: clock, derivationObserver: { [counter] in counter.add() }))
  }

  private func phrase(_ text: String) throws -> AuthenticationContext {
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    context.provide(try BiometricPhrase(testing: text))
    return context
  }

  private func enroll(_ text: String, _ name: String, _ core: VaultCore) throws {
    _ = try core.enroll(
      BiometricPhrase(testing: text), named: name, passcode: Passcode(testing: "passcode"))
  }

  private func add(_ name: String, _ access: AccessControl, _ core: VaultCore) throws -> ItemID {
    try core.add(
      NewItem(.genericPassword, name: name, access: access), secret: SecretBytes(testing: "secret of \(name)")
    ).id
  }

  // Fails when the next set has the old number, or one of its members is left out.
  @Test(
    "a changed set touches no item: items of the current set never open again, those of any member still do")
  func currentSet() throws {
    let core = try place.makeCore(passcode: "passcode")
    try enroll("one", "left", core)
    let current = try add("current", AccessControl(.biometryCurrentSet), core)
    let any = try add("any", AccessControl(.biometryAny), core)
    let either = try add("either", AccessControl([.biometryCurrentSet, .devicePasscode, .or]), core)
    let versions = try core.itemVersions()
    #expect(try core.secret(failing: current, with: phrase("one")) == nil)
    try enroll("two", "right", core)
    try expect(core.itemVersions(), equals: versions)
    for text in ["one", "two"] {
      try expect(core.secret(failing: current, with: phrase(text)), equals: .invalidated)
      #expect(try core.secret(failing: any, with: phrase(text)) == nil)
    }
    let entry = try #require(try core.auditEntries().last { $0.operation == .accessDenied })
    #expect(entry.result == .notFound && entry.item == current)
    #expect(entry.detail?.contains("set has changed") == true)
    let passcode = AuthenticationContext(reason: "", interaction: .notAllowed)
    passcode.provide(try Passcode(testing: "passcode"))
    #expect(try core.secret(failing: either, with: passcode) == nil)
    #expect(try core.isBeyondReach(core.item(named: "current")))
    #expect(try !core.isBeyondReach(core.item(named: "either")))
    // Back to the set of before is another set all the same.
    try core.removeMember(named: "right")
    try expect(core.secret(failing: current, with: phrase("one")), equals: .invalidated)
    // A listing asks no one, and has the item that nothing opens any more.
    try expect(core.items(matching: Query()).map(\.name), equals: ["current", "any", "either"])
    try expect(core.delete(Query(name: "current")), equals: 1)
    try expect(core.verify().problems, equals: [])
  }

  // Fails when a removal while locked leaves the set as it was.
  @Test(
    "a member leaves while the vault is locked and the others are absent; the next set is made at the next unlock"
  )
  func lockedRemoval() throws {
    let core = try place.makeCore(passcode: "passcode")
    try enroll("one", "left", core)
    try enroll("two", "right", core)
    let current = try add(
      "current", AccessControl(.biometryCurrentSet, accessibility: .afterFirstUnlock), core)
    let any = try add("any", AccessControl(.biometryAny, accessibility: .afterFirstUnlock), core)
    let locked = try place.openCore()
    counter.reset()
    #expect(try locked.secret(failing: current, with: phrase("two")) == nil)
    expect(counter.value, equals: 1)
    try locked.removeMember(named: "left")
    #expect(!locked.isUnlocked && counter.value == 1)
    try expect(locked.secret(failing: current, with: phrase("two")), equals: .invalidated)
    #expect(try locked.secret(failing: any, with: phrase("two")) == nil)
    try expect(locked.secret(failing: any, with: phrase("one")), equals: .authenticationFailed)
    // A process that has been unlocked all along makes the next set before it wraps to it.
    let next = try add(
      "next", AccessControl(.biometryCurrentSet, accessibility: .afterFirstUnlock), core)
    #expect(try core.secret(failing: next, with: phrase("two")) == nil)
    try expect(core.secret(failing: current, with: phrase("two")), equals: .invalidated)
    try locked.removeMember(named: "right")
    try locked.unlock(with: Passcode(testing: "passcode"))
    try expect(locked.secret(failing: any, with: phrase("two")), equals: .policy)
    try enroll("three", "other", locked)
    #expect(try locked.secret(failing: any, with: phrase("three")) == nil)
    try expect(locked.secret(failing: next, with: phrase("three")), equals: .invalidated)
    for vault in [core, locked, try place.openCore()] { try expect(vault.verify().problems, equals: []) }
  }

  @Test(
    "presence is shown by a member or by the passcode, and a member's key derivation is one for all members")
  func presence() throws {
    let core = try place.makeCore(passcode: "passcode")
    for (index, text) in ["one", "two", "three"].enumerated() { try enroll(text, "member \(index)", core) }
    let id = try add("presence", AccessControl(.userPresence), core)
    counter.reset()
    #expect(try core.secret(failing: id, with: phrase("three")) == nil)
    expect(counter.value, equals: 1)
    // An empty answer declines the phrase: the passcode is asked for in its place.
    let prompt = ScriptedPrompt([.text(""), .text("passcode")])
    #expect(try core.secret(failing: id, with: AuthenticationContext(reason: "", prompt: prompt)) == nil)
    expect(prompt.requests.map(\.subject), equals: [.phrase, .passcode])
    let decliner = ScriptedPrompt([.cancel])
    try expect(
      core.secret(failing: id, with: AuthenticationContext(reason: "", prompt: decliner)), equals: .cancelled)
    expect(decliner.requests.count, equals: 1)
  }

  @Test("enrolment needs the passcode; names and phrases are enrolled once")
  func enrolment() throws {
    let bare = try TemporaryVault(environment: .testing()).makeCore()
    expect(.policy) { () throws(VaultError) in
      _ = try bare.enroll(
        BiometricPhrase(testing: "p"), named: "n", passcode: Passcode(testing: "passcode"))
    }
    let core = try place.makeCore(passcode: "passcode")
    expect(.authenticationFailed) { () throws(VaultError) in
      _ = try core.enroll(BiometricPhrase(testing: "p"), named: "n", passcode: Passcode(testing: "wrong"))
    }
    try enroll("p", "n", core)
    for (text, name) in [("p", "m"), ("q", "n")] {
      expect(.duplicateItem) { () throws(VaultError) in
        _ = try core.enroll(
          BiometricPhrase(testing: text), named: name, passcode: Passcode(testing: "passcode"))
      }
    }
    expect(.itemNotFound) { () throws(VaultError) in try core.removeMember(named: "nobody") }
    try expect(core.enrolledMembers().map(\.name), equals: ["n"])
  }

  // The count before the derivation is shown by processes in a race (R5).
  @Test("five wrong phrases lock biometry, without a further derivation, until the passcode was right")
  func lockout() throws {
    let core = try place.makeCore(passcode: "passcode")
    try enroll("right", "n", core)
    let id = try add("any", AccessControl(.biometryAny), core)
    for _ in 0..<4 { _ = try core.secret(failing: id, with: phrase("wrong")) }
    #expect(try core.secret(failing: id, with: phrase("right")) == nil)
    counter.reset()
    for _ in 0..<5 {
      try expect(core.secret(failing: id, with: phrase("wrong")), equals: .authenticationFailed)
    }
    for _ in 0..<3 { try expect(core.secret(failing: id, with: phrase("right")), equals: .biometryLocked) }
    expect(counter.value, equals: 5)
    #expect(try place.openCore().secret(failing: id, with: phrase("right")) != nil)
    clock.advance(by: .milliseconds(1 << 40))
    clock.reboot()
    try expect(core.secret(failing: id, with: phrase("right")), equals: .biometryLocked)
    try expect(core.status().passcodeFailures, equals: 0)
    try core.unlock(with: Passcode(testing: "passcode"))
    #expect(try core.secret(failing: id, with: phrase("right")) == nil)
  }

  @Test("while biometry is locked, presence asks for the passcode, which ends the lock")
  func presenceAfterLockout() throws {
    let core = try place.makeCore(passcode: "passcode")
    try enroll("right", "n", core)
    let id = try add("presence", AccessControl(.userPresence), core)
    for _ in 0..<5 { _ = try core.secret(failing: id, with: phrase("wrong")) }
    let prompt = ScriptedPrompt([.text("passcode"), .text("right")])
    let context = AuthenticationContext(reason: "", prompt: prompt)
    #expect(try core.secret(failing: id, with: context) == nil)
    #expect(try core.secret(failing: id, with: context) == nil)
    expect(prompt.requests.map(\.subject), equals: [.passcode, .phrase])
  }

  @Test("a fingerprint reader is asked for enrolled fingers; its refusal does not change the set")
  func fingers() throws {
    let core = try place.makeCore(passcode: "passcode")
    let reader = ScriptedBiometry(fingers: ["left-thumb", "right-thumb"])
    let enrolled = try core.enrollFingers(of: reader, passcode: Passcode(testing: "passcode"))
    expect(enrolled.map(\.name), equals: ["left-thumb", "right-thumb"])
    let id = try add("set", AccessControl(.biometryCurrentSet), core)
    #expect(try core.verificationSources().hasFingers)
    func read(_ outcome: ScriptedBiometry.Outcome) throws -> VaultError.Code? {
      let source = ScriptedBiometry(fingers: ["left-thumb", "right-thumb"], [outcome])
      let prompt = ScriptedPrompt()
      let context = AuthenticationContext(reason: "", prompt: prompt, biometry: source)
      let code = try core.secret(failing: id, with: context)
      expect(prompt.lines, equals: ["place your finger on the reader"])
      return code
    }
    #expect(try read(.finger("left-thumb")) == nil)
    try expect(read(.finger("nose")), equals: .authenticationFailed)
    try expect(read(.failure(.scripted(.authenticationFailed))), equals: .authenticationFailed)
    try expect(read(.failure(.scripted(.unsupported))), equals: .unsupported)
    try expect(read(.failure(.scripted(.cancelled))), equals: .cancelled)
    #expect(try read(.finger("right-thumb")) == nil)
    try expect(core.secret(failing: id, with: AuthenticationContext(reason: "")), equals: .unsupported)
    try expect(core.secret(failing: id, with: nil), equals: .interactionNotAllowed)
  }
}

extension VaultCore {
  /// The version of every item's row: a change of one shows.
  func itemVersions() throws -> [UInt64] { try items(matching: Query()).map(\.version) }
}

/// Random changes and uses of the set against a model of twenty lines (R14, short form).
@Suite("Enrolled set, by a model", .bounded, .requirement("R14"))
struct EnrolledSetModelTests {
  /// What ought to be.
  private struct Model {
    var members: [String] = []
    var generation = 0
    /// Item name to the generation of its set, `nil` for any.
    var items: [(id: ItemID, generation: Int?)] = []
    var isLocked = false

    func opens(_ generation: Int?, by member: String) -> Bool {
      members.contains(member) && (generation == nil || generation == self.generation)
    }
  }

  // Fails when a removal leaves the set as it is, or when a set made again leaves one of its members out.
  @Test("an item opens if and only if its set is unchanged and the phrase is a member's", arguments: 0..<8)
  func sequences(_ seed: Int) throws {
    let random = SeededRandom(seed: UInt64(seed))
    let place = TemporaryVault(environment: .testing())
    var core = try place.makeCore(passcode: "passcode")
    var model = Model()
    for step in 0..<125 {
      switch random.below(12) {
      case 0, 1:
        let name = "m\(step)"
        if model.isLocked { try unlock(core, &model) }
        guard model.members.count < 4 else { continue }
        _ = try core.enroll(
          BiometricPhrase(testing: name), named: name, passcode: Passcode(testing: "passcode"))
        model.members.append(name)
        model.generation += 1
      case 2:
        guard !model.members.isEmpty else { continue }
        let name = model.members.remove(at: random.below(model.members.count))
        try core.removeMember(named: name)
        model.generation += 1
      case 3, 4: try add(step, core, &model, isCurrent: random.below(2) == 0)
      case 5:
        core = try place.openCore()
        model.isLocked = true
      case 6 where random.below(4) == 0:
        try core.rotateEpoch(passcode: Passcode(testing: "passcode"))
        model.isLocked = false
      default: try use(core, model, random, step)
      }
    }
    try unlock(core, &model)
    try expect(core.verify().problems, equals: [])
    try expect(core.enrolledMembers().map(\.name), equals: model.members)
  }

  private func unlock(_ core: VaultCore, _ model: inout Model) throws {
    try core.unlock(with: Passcode(testing: "passcode"))
    model.isLocked = false
  }

  private func add(_ step: Int, _ core: VaultCore, _ model: inout Model, isCurrent: Bool) throws {
    guard !model.isLocked, !model.members.isEmpty else { return }
    // Opened with the device key while locked: the member's phrase alone decides.
    let access = try AccessControl(
      isCurrent ? .biometryCurrentSet : .biometryAny, accessibility: .afterFirstUnlock)
    let item = try core.add(
      NewItem(.genericPassword, name: "item \(step)", access: access), secret: SecretBytes(testing: "s"))
    model.items.append((item.id, isCurrent ? model.generation : nil))
  }

  private func use(_ core: VaultCore, _ model: Model, _ random: SeededRandom, _ step: Int) throws {
    guard !model.items.isEmpty else { return }
    let item = model.items[random.below(model.items.count)]
    let member = model.members.isEmpty ? "nobody" : model.members[random.below(model.members.count)]
    let name = random.below(5) == 0 ? "stranger" : member
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    context.provide(try BiometricPhrase(testing: name))
    let code = try core.secret(failing: item.id, with: context)
    if code == .biometryLocked { return try core.endBiometryLock() }
    #expect(
      (code == nil) == model.opens(item.generation, by: name), "step \(step): \(String(describing: code))")
  }
}

extension VaultCore {
  fileprivate func endBiometryLock() throws {
    let wasUnlocked = isUnlocked
    try unlock(with: Passcode(testing: "passcode"))
    if !wasUnlocked { lock() }
  }
}
