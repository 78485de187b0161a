import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// The login password as a member: presence and nothing else, and advisory.
@Suite("Presence by the login password", .bounded)
struct AuthenticationPresenceTests {
  private let clock = FixedClock()
  private let place: TemporaryVault

  init() { place = TemporaryVault(environment: .testing(clock: clock)) }

  private func makeCore() throws -> VaultCore {
    let core = try place.makeCore(passcode: "passcode")
    let login = try core.enrollLogin(passcode: Passcode(testing: "passcode"))
    #expect(login.name == "login" && login.source == .login)
    return core
  }

  private func add(_ name: String, _ constraints: Constraints, _ core: VaultCore) throws -> ItemID {
    let access = try AccessControl(constraints, accessibility: .afterFirstUnlock)
    return try core.add(
      NewItem(.genericPassword, name: name, access: access), secret: SecretBytes(testing: name)
    ).id
  }

  private func context(
    _ presence: ScriptedPresence, _ prompt: ScriptedPrompt? = nil, reuse: Duration = .zero
  ) -> AuthenticationContext {
    AuthenticationContext(reason: "because", prompt: prompt, presence: presence, reuse: reuse)
  }

  // Verified to fail when a source is asked where asking is not allowed.
  @Test("a source that says yes opens the item in a locked vault; one that says no, and none, do not")
  func opens() throws {
    let core = try makeCore()
    let id = try add("presence", .userPresence, core)
    core.lock()
    let yes = ScriptedPresence([nil])
    try expect(core.secret(of: id, context: context(yes)).bytesForTesting, equals: Array("presence".utf8))
    let request = try #require(yes.requests.first)
    #expect(request.subject == .presence && request.operation == "read the secret")
    #expect(request.label == "presence" && request.reason == "because")
    for code in [VaultError.Code.authenticationFailed, .cancelled] {
      // A no is a no: the passcode is not asked for.
      let prompt = ScriptedPrompt([.text("passcode")])
      let no = context(ScriptedPresence([.scripted(code)]), prompt)
      try expect(core.secret(failing: id, with: no), equals: code)
      #expect(prompt.requests.isEmpty)
    }
    try expect(
      core.secret(failing: id, with: AuthenticationContext(reason: "")), equals: .interactionNotAllowed)
    let silent = AuthenticationContext(
      reason: "", presence: ScriptedPresence([nil]), interaction: .notAllowed)
    try expect(core.secret(failing: id, with: silent), equals: .interactionNotAllowed)
    #expect(!core.isUnlocked)
  }

  @Test("a source that cannot be asked leaves the question to the passcode")
  func fallsBack() throws {
    let core = try makeCore()
    let id = try add("presence", .userPresence, core)
    for code in [VaultError.Code.unsupported, .verificationUnavailable] {
      let prompt = ScriptedPrompt([.text("passcode")])
      let context = context(ScriptedPresence([.scripted(code)]), prompt)
      #expect(try core.secret(failing: id, with: context) == nil)
      expect(prompt.requests.map(\.subject), equals: [.passcode])
    }
    let given = context(ScriptedPresence([]))
    given.provide(try Passcode(testing: "passcode"))
    #expect(try core.secret(failing: id, with: given) == nil)
  }

  private func expectNoBiometry(_ core: VaultCore) {
    for constraints: Constraints in [
      .biometryAny, .biometryCurrentSet, [.biometryAny, .devicePasscode, .or],
    ] {
      expect(.policy) { () throws(VaultError) in
        _ = try core.add(
          NewItem(.genericPassword, name: "n", access: AccessControl(constraints)),
          secret: SecretBytes(testing: "s"))
      }
    }
  }

  private func phrase() throws -> AuthenticationContext {
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    context.provide(try BiometricPhrase(testing: "phrase"))
    return context
  }

  // Verified to fail when `any` is wrapped to the login password too, and when that counts as a member of the set.
  @Test("it opens presence alone, is not biometry, and leaves the enrolled set unchanged")
  func presenceAlone() throws {
    let core = try makeCore()
    // Its own half, and presence wrapped to it: whoever has the device key gets no further.
    let slots = try Intruder(place: place).tamper { store throws(StorageError) in try store.slots() }
    expect(
      Set(slots.filter { $0.kind == 4 && $0.opener == 6 }.map(\.subject)), equals: [0x0200_0000, 0x0500_0000])
    expectNoBiometry(core)
    try core.removeMember(named: "login")
    _ = try core.enroll(
      BiometricPhrase(testing: "phrase"), named: "voice", passcode: Passcode(testing: "passcode"))
    let set = try add("set", .biometryCurrentSet, core)
    let any = try add("any", .biometryAny, core)
    let presence = try add("presence", .userPresence, core)
    _ = try core.enrollLogin(passcode: Passcode(testing: "passcode"))
    for isEnrolled in [true, false] {
      #expect(try core.enrolledMembers().map(\.name) == (isEnrolled ? ["voice", "login"] : ["voice"]))
      #expect(try core.secret(failing: set, with: phrase()) == nil)
      #expect(try core.secret(failing: any, with: phrase()) == nil)
      for id in [set, any] {
        let source = ScriptedPresence([nil])
        try expect(core.secret(failing: id, with: context(source)), equals: .interactionNotAllowed)
        #expect(source.requests.isEmpty)
      }
      let source = ScriptedPresence([nil])
      let code = try core.secret(failing: presence, with: context(source))
      #expect(code == (isEnrolled ? nil : .interactionNotAllowed))
      #expect(source.requests.count == (isEnrolled ? 1 : 0))
      try expect(core.verify().problems, equals: [])
      if isEnrolled { try core.removeMember(named: "login") }
    }
  }

  @Test(
    "it serves for the presence half of an item alone: the password of its own is asked for, and the class")
  func notAlone() throws {
    let core = try makeCore()
    let both = try core.add(
      NewItem(
        .genericPassword, name: "both",
        access: AccessControl([.userPresence, .applicationPassword], accessibility: .afterFirstUnlock)),
      secret: SecretBytes(testing: "s"), context: password("own"))
    let closed = try core.add(
      NewItem(.genericPassword, name: "closed", access: AccessControl(.userPresence)),
      secret: SecretBytes(testing: "s"))
    core.lock()
    for (text, expected) in [("wrong", VaultError.Code.authenticationFailed), ("own", nil)] {
      let source = ScriptedPresence([nil])
      let asked = context(source)
      asked.provide(try ApplicationPassword(testing: text))
      try expect(core.secret(failing: both.id, with: asked), equals: expected)
      expect(source.requests.count, equals: 1)
    }
    try expect(
      core.secret(failing: both.id, with: context(ScriptedPresence([nil]))), equals: .interactionNotAllowed)
    try expect(
      core.secret(failing: closed.id, with: context(ScriptedPresence([nil]))), equals: .interactionNotAllowed)
    #expect(!core.isUnlocked)
  }

  private func password(_ text: String) throws -> AuthenticationContext {
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    context.provide(try ApplicationPassword(testing: text))
    return context
  }

  // Verified to fail when what was kept serves whatever login password is enrolled.
  @Test("what was shown before a removal does not serve after it, also when it is enrolled again")
  func enrolledAnew() throws {
    let core = try makeCore()
    let id = try add("presence", .userPresence, core)
    let source = ScriptedPresence([nil, .scripted(.authenticationFailed)])
    let kept = context(source, reuse: .seconds(300))
    #expect(try core.secret(failing: id, with: kept) == nil)
    try core.removeMember(named: "login")
    _ = try core.enrollLogin(passcode: Passcode(testing: "passcode"))
    try expect(core.secret(failing: id, with: kept), equals: .authenticationFailed)
    expect(source.requests.count, equals: 2)
  }

  @Test("removed while the vault is locked it no longer opens anything, and the next unlock keeps the set")
  func removedWhileLocked() throws {
    let core = try makeCore()
    _ = try core.enroll(
      BiometricPhrase(testing: "phrase"), named: "voice", passcode: Passcode(testing: "passcode"))
    let set = try add("set", .biometryCurrentSet, core)
    let presence = try add("presence", .userPresence, core)
    let kept = context(ScriptedPresence([nil]), reuse: .seconds(300))
    core.lock()
    #expect(try core.secret(failing: presence, with: kept) == nil)
    #expect(try core.secret(failing: presence, with: kept) == nil)
    try core.removeMember(named: "login")
    try expect(core.secret(failing: presence, with: kept), equals: .interactionNotAllowed)
    try core.unlock(with: Passcode(testing: "passcode"))
    let given = AuthenticationContext(reason: "")
    given.provide(try BiometricPhrase(testing: "phrase"))
    #expect(try core.secret(failing: set, with: given) == nil)
    #expect(try core.secret(failing: presence, with: given) == nil)
    _ = try core.enrollLogin(passcode: Passcode(testing: "passcode"))
    #expect(try core.secret(failing: set, with: given) == nil)
    #expect(try core.secret(failing: presence, with: context(ScriptedPresence([nil]))) == nil)
    try expect(core.verify().problems, equals: [])
  }

  @Test("one yes serves a reuse window; each yes and each no is in the audit")
  func audited() throws {
    let core = try makeCore()
    let one = try add("one", .userPresence, core)
    let two = try add("two", .userPresence, core)
    let before = try core.status().auditSequence
    let source = ScriptedPresence([nil, .scripted(.authenticationFailed)])
    let context = context(source, reuse: .seconds(60))
    #expect(try core.secret(failing: one, with: context) == nil)
    #expect(try core.secret(failing: two, with: context) == nil)
    expect(source.requests.count, equals: 1)
    clock.advance(by: .seconds(60))
    try expect(core.secret(failing: two, with: context), equals: .authenticationFailed)
    let entries = try core.auditEntries(from: before + 1)
    expect(
      entries.map { "\($0.operation.name) \($0.result.rawValue)" },
      equals: [
        "promptShown 0", "itemRead 0", "itemRead 0", "promptShown 3", "accessDenied 3",
      ])
  }

  @Test("a phrase is asked for first; an empty answer leaves it to the login password")
  func afterPhrase() throws {
    let core = try makeCore()
    _ = try core.enroll(
      BiometricPhrase(testing: "phrase"), named: "voice", passcode: Passcode(testing: "passcode"))
    let id = try add("presence", .userPresence, core)
    let prompt = ScriptedPrompt([.text("")])
    let source = ScriptedPresence([nil])
    #expect(try core.secret(failing: id, with: context(source, prompt)) == nil)
    #expect(prompt.requests.map(\.subject) == [.phrase] && source.requests.count == 1)
  }

  // Verified to fail when the context is not checked again after the source was asked.
  @Test("an invalidated context asks no source, and one invalidated meanwhile opens nothing")
  func invalidated() throws {
    let core = try makeCore()
    let id = try add("presence", .userPresence, core)
    let source = ScriptedPresence([])
    let first = context(source)
    first.invalidate()
    try expect(core.secret(failing: id, with: first), equals: .appCancelled)
    #expect(source.requests.isEmpty)
    let ending = EndingPresence()
    let second = AuthenticationContext(reason: "", presence: ending, reuse: .seconds(300))
    ending.context.withLock { $0 = second }
    for _ in 0..<2 { try expect(core.secret(failing: id, with: second), equals: .appCancelled) }
    #expect(ending.context.withLock { $0 } == nil)
  }

  @Test("it is advisory for presence and for nothing else, and is there once")
  func enforcement() throws {
    let core = try makeCore()
    let sources = try core.verificationSources()
    #expect(sources.hasLogin && !sources.hasFingers)
    let shown = try AccessControl(.userPresence).enforcement(with: sources).map(\.enforcement)
    expect(
      shown,
      equals: [.advisory("PAM gives no key: whoever has the device key opens it without the login password")])
    for constraint: Constraints in [.biometryAny, .biometryCurrentSet, .devicePasscode, .applicationPassword]
    {
      let access = try AccessControl(constraint)
      expect(access.enforcement(with: sources).map(\.enforcement), equals: [.keyDerivation])
    }
    expect(.duplicateItem) { () throws(VaultError) in
      _ = try core.enrollLogin(passcode: Passcode(testing: "passcode"))
    }
    let bare = try TemporaryVault(environment: .testing()).makeCore()
    expect(.policy) { () throws(VaultError) in
      _ = try bare.enrollLogin(passcode: Passcode(testing: "passcode"))
    }
  }

  @Test("a program enrolls it, and a reader's fingers, through the vault")
  func throughTheVault() async throws {
    let vault = try place.make(passcode: "passcode")
    try await expect(vault.enrollLogin(passcode: Passcode(testing: "passcode")).source, equals: .login)
    let reader = ScriptedBiometry(fingers: ["thumb"], [.finger("thumb")])
    let fingers = try await vault.enrollFingers(of: reader, passcode: Passcode(testing: "passcode"))
    expect(fingers.map(\.name), equals: ["thumb"])
    try await expect(vault.enrolledMembers().map(\.source), equals: [.login, .finger])
    let item = try await vault.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.userPresence)),
      secret: SecretBytes(testing: "s"))
    for context in [
      AuthenticationContext(reason: "", biometry: reader),
      AuthenticationContext(reason: "", presence: ScriptedPresence([nil])),
    ] {
      try await expect(vault.secret(of: item.id, context: context).byteCount, equals: 1)
    }
  }

  @Test("rotation, another passcode, backup and restore carry it")
  func carried() throws {
    let core = try makeCore()
    let id = try add("presence", .userPresence, core)
    try core.rotateEpoch(passcode: Passcode(testing: "passcode"))
    try core.changePasscode(from: Passcode(testing: "passcode"), to: Passcode(testing: "new"))
    let backup = place.folder + "/backup"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "passphrase"))
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "passphrase"), to: place.folder + "/data/second.vault",
      protector: FileProtector(folder: place.folder + "/second"), environment: place.environment
    ).core
    for vault in [core, restored] {
      #expect(try vault.secret(failing: id, with: context(ScriptedPresence([nil]))) == nil)
      try expect(vault.verify().problems, equals: [])
    }
  }
}

/// Says yes, after the context that asks was given up.
private final class EndingPresence: PresenceSource {
  let context = Mutex<AuthenticationContext?>(nil)

  func verifyPresence(_ request: PromptRequest, asking prompt: any Prompt) throws(VaultError) {
    context.withLock { $0.take() }?.invalidate()
  }
}

/// What a changed list of a reader's fingers does, and who decides it.
@Suite("A reader's list of fingers", .bounded)
struct AuthenticationReaderTests {
  private let place = TemporaryVault(environment: .testing())

  private func add(_ constraints: Constraints, _ core: VaultCore) throws -> ItemID {
    try core.add(
      NewItem(.genericPassword, name: "\(constraints.rawValue)", access: AccessControl(constraints)),
      secret: SecretBytes(testing: "s")
    ).id
  }

  // Fails when the members that go are removed before the ones that come are known to be possible.
  @Test("fingers that cannot become members leave the set, and the items behind it, unchanged")
  func impossibleFingers() throws {
    let core = try place.makeCore(passcode: "passcode")
    let reader = ScriptedBiometry(fingers: ["left-thumb"], [.finger("left-thumb")])
    _ = try core.enrollFingers(of: reader, passcode: Passcode(testing: "passcode"))
    _ = try core.enroll(
      BiometricPhrase(testing: "phrase"), named: "nose", passcode: Passcode(testing: "passcode"))
    let set = try add(.biometryCurrentSet, core)
    let members = try core.enrolledMembers()
    let impossible: [([String], VaultError.Code)] = [
      (["toe", "nose"], .duplicateItem), (["toe", "toe"], .duplicateItem),
      ((0..<16).map { "toe-\($0)" }, .policy), (["toe", ""], .malformed),
      (["toe", String(repeating: "x", count: 1 << 16)], .malformed),
    ]
    for (fingers, expected) in impossible {
      expect(expected) { () throws(VaultError) in
        _ = try core.enrollFingers(
          of: ScriptedBiometry(fingers: fingers), passcode: Passcode(testing: "passcode"))
      }
      try expect(core.enrolledMembers(), equals: members, "\(fingers.count)")
    }
    let context = AuthenticationContext(reason: "", biometry: reader)
    #expect(try core.secret(failing: set, with: context) == nil)
  }

  // Verified to fail when a finger that the reader has no longer stays a member.
  @Test("another list closes items and destroys nothing; enrolling again makes another set permanently")
  func enrolledAnew() throws {
    let core = try place.makeCore(passcode: "passcode")
    let reader = ScriptedBiometry(fingers: ["left-thumb", "right-thumb"], [.finger("left-thumb")])
    _ = try core.enrollFingers(of: reader, passcode: Passcode(testing: "passcode"))
    let set = try add(.biometryCurrentSet, core)
    let any = try add(.biometryAny, core)
    let context = AuthenticationContext(reason: "", biometry: reader)
    for list in [["left-thumb"], ["left-thumb", "nose", "right-thumb"], []] {
      reader.enroll(list)
      for id in [set, any] {
        let error = try #require(throws: VaultError.self) { _ = try core.secret(of: id, context: context) }
        #expect(error.code == .unsupported && error.message.contains("biometry is unavailable"))
        expect(error.advice, equals: .enrollFingersAgain)
      }
      try expect(core.enrolledMembers().map(\.name), equals: ["left-thumb", "right-thumb"])
    }
    // A bus that names no finger decides nothing, not even with the passcode.
    expect(.policy) { () throws(VaultError) in
      _ = try core.enrollFingers(of: reader, passcode: Passcode(testing: "passcode"))
    }
    reader.enroll(["left-thumb", "right-thumb"])
    #expect(try core.secret(failing: set, with: context) == nil)
    expect(reader.requests.count, equals: 1)

    let other = ScriptedBiometry(fingers: ["nose", "right-thumb"], [.finger("nose")])
    let enrolled = try core.enrollFingers(of: other, passcode: Passcode(testing: "passcode"))
    expect(enrolled.map(\.name), equals: ["nose"])
    try expect(core.enrolledMembers().map(\.name), equals: ["right-thumb", "nose"])
    let now = AuthenticationContext(reason: "", biometry: other)
    try expect(core.secret(failing: set, with: now), equals: .invalidated)
    #expect(try core.secret(failing: any, with: now) == nil)
    try expect(core.verify().problems, equals: [])
  }
}
