import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Synchronization with a server", .bounded)
struct SynchronizationTests {
  private typealias Scene = PeerScene
  private static let active: KeyValuePairs<String, TransportValue> = ["state": .text("active")]

  /// Verified to fail when the counter of the server counts although it is smaller.
  @Test("the PIN makes a code for it, the larger counter counts, and codes pass again", .requirement("A9"))
  func counter() throws {
    let scene = try Scene(.hotp, OfflineLimits(codes: 2))
    for _ in 0..<2 { try scene.code() }
    expect(scene.refusal(), equals: .outOfStep)
    let (place, id) = (scene.rig.place, scene.id)
    let stored = Mutex<UInt64>(0)
    let peer = ScriptedTransport { _ throws(VaultError) in
      let counter = try place.openCore().state(of: id).counter
      stored.withLock { $0 = counter }
      return TransportFields(["state": .text("active"), "counter": .number(9)])
    }
    scene.rig.clock.advance(by: .seconds(5))
    let sequence = try scene.sequence
    let result = try scene.synchronize(over: peer)
    #expect(result.counter == 9 && result.offlineCodes == 2 && result.offlineSeconds == nil)
    let fields = try #require(peer.requests.first).fields
    #expect(peer.operations == [.synchronize] && fields.text("peer") == "c-17")
    expect(fields.text("code"), equals: PINRig.rfc4226[2])
    #expect(fields.number("counter") == 3 && fields.number("codes") == 2)
    expect(stored.withLock { $0 }, equals: 3, "the counter is on disk before its code is sent")
    try expect(scene.sequence, equals: sequence + 3, "an attempt, its verdict, and what the peer said")
    let state = try scene.state
    #expect(state.lastSynchronization == scene.rig.clock.now() && state.codesSinceSynchronization == 0)
    try expect(scene.core.auditEntries().last?.operation, equals: .synchronized)
    let codes = try (0..<2).map { _ in try scene.code() }
    let generator = try HOTPGenerator(key: SecretBytes(copying: Scene.key))
    expect(codes, equals: [generator.code(at: 9), generator.code(at: 10)])
    expect(scene.refusal(), equals: .outOfStep)
    // A peer that is behind takes our counter from the request.
    _ = try scene.synchronize(over: Scene.answering(["state": .text("active"), "counter": .number(1)]))
    try expect(scene.state.counter, equals: 12)
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when the mode is not looked at.
  @Test(
    "the PIN is asked for where the mode has CURRENT", .requirement("A9"),
    arguments: [(0, false), (1, true), (2, true), (8, false), (9, true)], PeerScene.Kind.allCases)
  func modes(mode: (number: Int, asks: Bool), kind: PeerScene.Kind) throws {
    let scene = try Scene(kind, mode: PINFactors(rawValue: mode.number))
    let peer = Scene.answering(Self.active)
    _ = try scene.synchronize(over: peer)
    #expect(scene.rig.derivations.count == (mode.asks ? 1 : 0))
    let makesCode = mode.asks && kind.suite == nil
    #expect((peer.requests.first?.fields["code"] != nil) == makesCode)
    #expect(peer.requests.first?.fields.number("counter") == (kind.counts ? makesCode ? 1 : 0 : nil))
    if mode.asks {
      let wrong = Scene.answering(Self.active)
      let error = thrown { () throws(VaultError) in _ = try scene.synchronize("8307", over: wrong) }
      #expect(error?.code == .authenticationFailed && error?.attemptsLeft == 9)
      #expect(wrong.requests.isEmpty)
      expect(
        thrown { () throws(VaultError) in _ = try scene.synchronize(nil, over: wrong) }?.code,
        equals: .interactionNotAllowed)
    }
  }

  /// Verified to fail when the offset is added the other way round, and when the moment of `--at` is moved.
  @Test(
    "codes of time obey the clock of the server", .requirement("A9", "A15"),
    arguments: [-86_400, -31, 0, 40, 86_400])
  func clock(offset: Int64) throws {
    let now: Int64 = 1_700_000_000
    for kind in [Scene.Kind.totp, .timedSuite] {
      let scene = try Scene(kind, guarded: false)
      let peer = Scene.answering(["state": .text("active"), "unixTime": .number(UInt64(now + offset))])
      try expect(scene.synchronize(over: peer).clockOffset, equals: Int(offset))
      try expect(scene.code(), equals: expected(kind, at: now + offset))
    }
    let scene = try Scene(.totp, guarded: false)
    _ = try scene.synchronize(
      over: Scene.answering(["state": .text("active"), "unixTime": .number(UInt64(now + offset))]))
    try expect(scene.core.timedCode(of: scene.id, at: 59).code, equals: expected(.totp, at: 59))
    let timed = try scene.core.timedCode(of: scene.id)
    guard case .time(let from, let to, let remaining, _) = timed.factor else {
      Issue.record("no time")
      return
    }
    #expect(from <= now + offset && now + offset < to && remaining == to - (now + offset))
    // An answer without a clock changes none.
    _ = try scene.synchronize(over: Scene.answering(Self.active))
    try expect(scene.state.secondsOffset, equals: Int32(offset))
  }

  private func expected(_ kind: PeerScene.Kind, at time: Int64) throws -> String {
    let key = SecretBytes(copying: Scene.key)
    guard let text = kind.suite else {
      return try TOTPGenerator(
        key: key, algorithm: .sha1, format: .decimal(6), steps: TimeSteps(periodSeconds: 30)
      ).code(at: time).code
    }
    let suite = try OCRASuite(text)
    return try OCRAGenerator(key: key, suite: suite).code(
      for: OCRADataInput(
        question: Scene.request().question, timeStep: suite.timeStep(at: time).number))
  }

  /// Verified to fail when the state is stored before the other members are checked, and when a counter may be any number
  /// ahead.
  @Test(
    "an answer with a member that is missing, unknown or out of its bounds is stored in no part",
    arguments: [
      [:], ["state": .text("")], ["state": .text("ACTIVE")], ["state": .number(1)], ["state": .flag(true)],
      ["state": .text("blocked"), "counter": .number(.max)],
      ["state": .text("blocked"), "counter": .number(1_000_002)],
      ["state": .text("active"), "counter": .text("9")],
      ["state": .text("disabled"), "unixTime": .number(1_700_000_000 + 86_401)],
      ["state": .text("active"), "unixTime": .number(1_700_000_000 - 86_401)],
      ["state": .text("active"), "unixTime": .number(0)],
      ["state": .text("active"), "unixTime": .number(.max)],
      ["state": .text("active"), "unixTime": .number(UInt64(Int64.max))],
      ["state": .text("active"), "counter": .number(9), "offlineCodes": .number(1 << 32)],
      ["state": .text("active"), "counter": .number(9), "offlineSeconds": .text("60")],
    ] as [KeyValuePairs<String, TransportValue>])
  func malformed(answer: KeyValuePairs<String, TransportValue>) throws {
    let scene = try Scene(.hotp, OfflineLimits(codes: 2))
    let attributes = try scene.item.attributes
    let error = thrown { () throws(VaultError) in _ = try scene.synchronize(over: Scene.answering(answer)) }
    expect(error?.code, equals: .network)
    var expected = try scene.state
    #expect(expected.counter == 1 && expected.uses == 1 && expected.unconfirmed == 1)
    (expected.counter, expected.uses, expected.unconfirmed) = (1, 1, 1)
    #expect(try scene.state == expected && scene.state.credentialState() == .active)
    try expect(scene.item.attributes, equals: attributes)
    #expect(try scene.core.auditEntries().allSatisfy { $0.operation != .synchronized })
    try expect(scene.code(), equals: PINRig.rfc4226[1])
  }

  /// Verified to fail when the state of the answer is not stored, and when the state is looked at after the PIN alone.
  @Test(
    "a server blocks and unblocks: blocked is BLOCKED with no derivation", .requirement("A21"),
    arguments: PeerScene.Kind.allCases)
  func blocked(kind: PeerScene.Kind) throws {
    let scene = try Scene(kind)
    let blocks = Scene.answering(["state": .text("blocked"), "counter": .number(4)])
    expect(
      thrown { () throws(VaultError) in _ = try scene.synchronize(over: blocks) }?.code, equals: .blocked)
    try expect(scene.core.auditEntries().suffix(2).map(\.operation), equals: [.stateChanged, .synchronized])
    scene.rig.derivations.reset()
    for pin in ["8306", "8307", nil] { expect(scene.refusal(pin), equals: .blocked) }
    // Still blocked: no PIN, no code, and the peer is asked all the same.
    let again = Scene.answering(["state": .text("blocked")])
    expect(
      thrown { () throws(VaultError) in _ = try scene.synchronize("8307", over: again) }?.code,
      equals: .blocked)
    #expect(again.requests.count == 1 && again.requests.first?.fields["code"] == nil)
    _ = try scene.synchronize(nil, over: Scene.answering(Self.active))
    expect(scene.rig.derivations.count, equals: 0)
    try expect(scene.core.pinStatuses().first?.attemptsLeft, equals: 10)
    try scene.code()
    #expect(try scene.state.counter == (kind.counts ? 5 : 0))
  }

  @Test(
    "a server disables for good: only a new activation ends that", .requirement("A21"),
    arguments: ["active", "blocked", "disabled"])
  func disabled(then answer: String) throws {
    let scene = try Scene()
    let disables = Scene.answering(["state": .text("disabled")])
    expect(
      thrown { () throws(VaultError) in _ = try scene.synchronize(over: disables) }?.code, equals: .wrongState
    )
    scene.rig.derivations.reset()
    expect(scene.refusal(), equals: .wrongState)
    let later = Scene.answering(["state": .text(answer)])
    expect(
      thrown { () throws(VaultError) in _ = try scene.synchronize(over: later) }?.code, equals: .wrongState)
    #expect(try scene.state.credentialState() == .disabled && scene.rig.derivations.count == 0)
    #expect(later.requests.first?.fields["code"] == nil)
  }

  /// Verified to fail when the device credential stays active.
  @Test("a device credential ends with its credential", .requirement("A21"))
  func deviceCredential() throws {
    let scene = try Scene()
    let uri = try scene.rig.uri(Scene.key, kind: .hotp(counter: 0))
    let device = try scene.core.addOTP(uri, named: "bank-device").item.id
    try scene.core.activate(device, mode: [], peer: nil)
    try scene.core.setDevice(device, of: scene.id)
    for answer in ["disabled", "disabled"] {
      let peer = Scene.answering(["state": .text(answer)])
      expect(
        thrown { () throws(VaultError) in _ = try scene.synchronize(over: peer) }?.code, equals: .wrongState)
      expect(.wrongState) { () throws(VaultError) in _ = try scene.core.nextHOTPCode(of: device) }
    }
    try expect(scene.core.auditEntries().count { $0.operation == .stateChanged }, equals: 2)
  }

  @Test("an unlock that is under way goes on, or ends with the block", arguments: [true, false])
  func unlockStarted(isOver: Bool) throws {
    let scene = try Scene()
    let (id, clock) = (scene.id, scene.rig.clock)
    let deadline = try Deadline(seconds: 1, clock: clock)
    var transaction = try scene.core.beginWriting()
    try transaction.changeState(of: id) { state in
      state.set(.unlockStarted)
      state.deadline = deadline
    }
    try transaction.commit()
    if isOver { scene.rig.clock.advance(by: .seconds(2)) }
    let blocks = Scene.answering(["state": .text("blocked")])
    expect(
      thrown { () throws(VaultError) in _ = try scene.synchronize(over: blocks) }?.code, equals: .blocked)
    #expect(try scene.state.credentialState() == (isOver ? .blocked : .unlockStarted))
    try expect((scene.state.deadline == nil), equals: isOver)
    _ = try scene.synchronize(over: Scene.answering(Self.active))
    #expect(try scene.state.credentialState() == .active && scene.state.deadline == nil)
    expect(scene.rig.derivations.count, equals: 0)
  }

  /// Verified to fail when the PIN of a blocked PIN item is asked for.
  @Test("a blocked PIN is not asked for, and stays blocked", .requirement("A21"))
  func blockedPIN() throws {
    let scene = try Scene()
    for _ in 0..<10 { _ = scene.refusal("8307") }
    scene.rig.derivations.reset()
    let peer = Scene.answering(["state": .text("active"), "counter": .number(3)])
    let error = thrown { () throws(VaultError) in _ = try scene.synchronize(over: peer) }
    #expect(error?.code == .blocked && error?.advice == .unlockCredential)
    #expect(scene.rig.derivations.count == 0 && peer.requests.first?.fields["code"] == nil)
    try expect(scene.state.counter, equals: 3)
  }

  /// Verified to fail when its PIN is not judged.
  @Test("a marked credential shows its PIN without a code, and the counter of the server ends the mark")
  func marked() throws {
    let scene = try Scene()
    let id = scene.id
    try scene.core.writing { transaction throws(VaultError) in
      try transaction.changeState(of: id) { $0.needsResync = true }
    }
    let peer = Scene.answering(["state": .text("active"), "counter": .number(7)])
    expect(
      thrown { () throws(VaultError) in _ = try scene.synchronize("8307", over: peer) }?.code,
      equals: .authenticationFailed)
    #expect(peer.requests.isEmpty)
    _ = try scene.synchronize(over: Scene.answering(Self.active))
    expect(scene.refusal(), equals: .outOfStep, "the peer named no counter")
    _ = try scene.synchronize(over: peer)
    #expect(peer.requests.first?.fields["code"] == nil && peer.requests.first?.fields.number("counter") == 0)
    try expect(scene.code(), equals: PINRig.rfc4226[7])
  }

  @Test("a camouflaged PIN makes the code, whatever was typed")
  func camouflaged() throws {
    let rig = try PINRig()
    let id = try rig.masked(behind: rig.camouflaged())
    try rig.core.activate(id)
    for (pin, isRight) in [("8306", true), ("8307", false)] {
      let peer = Scene.answering(Self.active)
      let counter = try rig.counter(of: id)
      _ = try rig.core.synchronize(id, over: peer, context: rig.context(pin))
      let code = peer.requests.first?.fields.text("code")
      #expect(try (code == rig.code(at: counter)) == isRight && code?.utf8.count == 6)
    }
  }

  /// Verified to fail when any transport is permitted.
  @Test("another transport needs the passcode, and without a passcode nothing allows it")
  func otherTransport() throws {
    let open = try Scene()
    let other = Scene.answering(Self.active, "/opt/other")
    expect(thrown { () throws(VaultError) in _ = try open.synchronize(over: other) }?.code, equals: .policy)
    #expect(other.requests.isEmpty && open.rig.derivations.count == 0)
    let scene = try Scene(passcode: "passcode")
    expect(.authenticationFailed) { () throws(VaultError) in
      _ = try scene.synchronize(passcode: "wrong", over: other)
    }
    #expect(other.requests.isEmpty)
    _ = try scene.synchronize(passcode: "passcode", over: other)
    _ = try scene.synchronize(over: other)
    expect(other.requests.count, equals: 2)
  }

  @Test("the limits of the server are stored, and those that it does not name stay", .requirement("A9"))
  func limits() throws {
    let scene = try Scene(.hotp, OfflineLimits(codes: 2, seconds: 60))
    let result = try scene.synchronize(
      over: Scene.answering(["state": .text("active"), "offlineSeconds": .number(90)]))
    #expect(result.offlineCodes == 2 && result.offlineSeconds == 90)
    try expect(OfflineLimits(scene.item), equals: OfflineLimits(codes: 2, seconds: 90))
    let sequence = try scene.sequence
    _ = try scene.synchronize(
      over: Scene.answering(["state": .text("active"), "offlineSeconds": .number(90)]))
    try expect(scene.sequence, equals: sequence + 3)
    #expect(try scene.core.auditEntries().last { $0.operation == .itemUpdated } != nil)
  }

  @Test(
    "an error of the server that is not about the state changes nothing",
    arguments: ["ACCESS", "CODE", "NODEVICE", "NETWORK", "word"])
  func refused(word: String) throws {
    let scene = try Scene(.totp)
    let peer = ScriptedTransport { _ throws(VaultError) in throw VaultError(peer: word, "no") }
    let state = try scene.state
    expect(
      thrown { () throws(VaultError) in _ = try scene.synchronize(over: peer) }?.code,
      equals: VaultError(peer: word, "no").code)
    try expect(scene.state, equals: state)
    try scene.code()
  }

  /// Verified to fail when the count of codes becomes 0, and when the counter of the answer is stored as it is.
  @Test("codes that another terminal makes meanwhile stay used and counted")
  func twoTerminals() throws {
    let scene = try Scene(.hotp, OfflineLimits(codes: 5))
    try scene.code()
    let peer = ScriptedTransport { _ throws(VaultError) in
      for _ in 0..<2 { try scene.code(in: scene.rig.place.openCore()) }
      return TransportFields(["state": .text("active"), "counter": .number(2)])
    }
    try expect(scene.synchronize(over: peer).counter, equals: 4)
    try expect(scene.state.codesSinceSynchronization, equals: 2)
    try expect(scene.code(), equals: PINRig.rfc4226[4])
  }

  @Test("a credential that is activated again meanwhile keeps its new state")
  func activatedAgain() throws {
    let scene = try Scene()
    let (id, place) = (scene.id, scene.rig.place)
    let peer = ScriptedTransport { _ throws(VaultError) in
      try place.openCore().activate(id, peer: "c-18")
      return TransportFields(["state": .text("blocked")])
    }
    expect(thrown { () throws(VaultError) in _ = try scene.synchronize(over: peer) }?.code, equals: .busy)
    try expect(scene.state.credentialState(), equals: .active)
  }

  @Test("neither a verifier, nor a credential without a server or an activation, nor another item")
  func others() throws {
    let scene = try Scene(mode: nil)
    let peer = Scene.answering(Self.active)
    expect(thrown { () throws(VaultError) in _ = try scene.synchronize(over: peer) }?.code, equals: .policy)
    let id = scene.id
    try scene.core.activate(id)
    try scene.core.writing { transaction throws(VaultError) in
      try transaction.changeState(of: id) { $0.set(.started) }
    }
    expect(
      thrown { () throws(VaultError) in _ = try scene.synchronize(over: peer) }?.code, equals: .wrongState)
    let verifier = try scene.core.addOTP(scene.rig.uri(Scene.key), named: "v", role: .verifier).item.id
    try scene.core.activate(verifier)
    expect(.policy) { () throws(VaultError) in _ = try scene.core.synchronize(verifier, over: peer) }
    let pin = try #require(scene.pin)
    expect(.itemNotFound) { () throws(VaultError) in _ = try scene.core.synchronize(pin, over: peer) }
    #expect(peer.requests.isEmpty && scene.rig.derivations.count == 0)
  }

  /// The rule guards the secret and the attributes. Verified to fail when the state asks as they do.
  @Test("an access rule asks for a person only where the server changes the limits of the credential")
  func accessRule() throws {
    let rig = try PINRig(passcode: "passcode")
    let id = try rig.core.addOTP(
      rig.uri(Scene.key), named: "bank", access: AccessControl(.devicePasscode),
      limits: OfflineLimits(codes: 2)
    ).item.id
    let prompt = ScriptedPrompt([.text("passcode"), .text("passcode")])
    let context = AuthenticationContext(reason: "", prompt: prompt)
    let given = try rig.context(passcode: "passcode")
    var changes = ItemChanges()
    changes.attributes[Attribute<String>(code: 75)] = "/opt/peer"
    changes.attributes[Attribute<String>(code: 76)] = "c-17"
    changes.attributes[Attribute<[UInt8]>(code: 77)] = [UInt8](repeating: 7, count: 16)
    try rig.core.update(id, changes, by: .otp, context: given)
    try rig.core.writing { transaction throws(VaultError) in
      try transaction.changeState(of: id) { $0.set(CredentialState.active) }
    }
    for (answer, asked) in [(2, 0), (3, 1)] as [(UInt64, Int)] {
      let peer = Scene.answering(["state": .text("active"), "offlineCodes": .number(answer)])
      let result = try rig.core.synchronize(id, over: peer, context: context)
      #expect(result.offlineCodes == UInt32(answer) && prompt.requests.count == asked)
    }
  }

  /// Verified to fail when the answer is stored although its task was cancelled.
  @Test("the end of the task ends the request at once, and nothing of the answer is stored")
  func cancelled() async throws {
    let place = TemporaryVault()
    let vault = try place.make()
    let credential = try await OTPCredential.enroll(
      SecretBytes(testing: "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"), named: "x",
      in: vault)
    try place.openCore().activate(credential.id)
    let (asked, asking) = AsyncStream.makeStream(of: Void.self)
    weak var gone: ScriptedTransport?
    do {
      let peer = ScriptedTransport { request throws(VaultError) in
        asking.yield()
        try? waitUntil("the request is cancelled") { request.isCancelled }
        return TransportFields(["state": .text("blocked"), "counter": .number(9)])
      }
      gone = peer
      let task = Task { try await credential.synchronize(over: peer) }
      for await _ in asked { break }
      task.cancel()
      let result = await task.result
      #expect(throws: VaultError.self) { try result.get() }
    }
    // The thread of the call goes on after its caller left. It has the peer until its end.
    try await awaitUntil("the thread of the call ends") { gone == nil }
    let core = try place.openCore()
    try expect(core.state(of: credential.id).counter, equals: 0)
    try expect(core.state(of: credential.id).credentialState(), equals: .active)
    let good = Scene.answering(["state": .text("active"), "counter": .number(9)])
    try await expect(credential.synchronize(over: good).counter, equals: 9)
  }
}
