import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Codes and seals that a server gets at once", .bounded, .requirement("A20"))
struct OnlineCodeTests {
  private typealias Scene = PeerScene
  private typealias Answer = KeyValuePairs<String, TransportValue>

  /// A peer that waits for a code, and answers to it.
  private static func peer(
    start: Answer = ["challenge": .text("ch-1")], finish: Answer = [:], error: VaultError? = nil
  ) -> ScriptedTransport {
    let (start, finish) = (TransportFields(start), TransportFields(finish))
    return ScriptedTransport { request throws(VaultError) in
      guard request.operation == .onlineFinish else { return start }
      if let error { throw error }
      return finish
    }
  }

  private func online(
    _ scene: PeerScene, _ pin: String? = "8306", over peer: ScriptedTransport
  ) throws(VaultError) -> (code: String, notices: [OTPResult.Notice]) {
    let context = try scene.rig.context(pin)
    guard scene.kind.suite != nil else {
      let result = try scene.core.onlineCode(of: scene.id, over: peer, context: context)
      return (result.code, result.notices)
    }
    let result = try scene.core.onlineOCRACode(with: scene.id, over: peer, context: context)
    return (result.code, result.notices)
  }

  private static let question = String(repeating: "0f", count: 32)

  /// Verified to fail when an online code is limited and counted.
  @Test("the server is told, gets the code of the PIN, and has its say", arguments: PeerScene.Kind.allCases)
  func code(kind: PeerScene.Kind) throws {
    let scene = try Scene(kind, OfflineLimits(codes: 1))
    try scene.code()
    expect(scene.refusal(), equals: .outOfStep)
    let peer = Self.peer(
      start: ["challenge": .text("ch-1"), "question": .text(Self.question), "lifeSeconds": .number(60)],
      finish: ["counter": .number(5), "unixTime": .number(1_700_000_007), "offlineCodes": .number(2)])
    let result = try online(scene, over: peer)
    #expect(peer.operations == [.onlineStart, .onlineFinish] && result.notices == [])
    let (start, finish) = (peer.requests[0].fields, peer.requests[1].fields)
    #expect(start.text("purpose") == "code" && start["question"] == nil)
    #expect(finish.text("challenge") == "ch-1" && finish.text("code") == result.code)
    #expect(finish.number("counter") == (kind.counts ? 1 : nil))
    if kind == .hotp { expect(result.code, equals: PINRig.rfc4226[1]) }
    if let text = kind.suite {
      let suite = try OCRASuite(text)
      let step = suite.timeStepSeconds == nil ? nil : try suite.timeStep(at: 1_700_000_000).number
      let expected = try OCRAGenerator(key: SecretBytes(copying: Scene.key), suite: suite).code(
        for: OCRADataInput(
          question: OCRAQuestion(Self.question, for: suite), counter: kind.counts ? 1 : nil, timeStep: step))
      expect(result.code, equals: expected)
    }
    let state = try scene.state
    #expect(state.counter == (kind.counts ? 5 : 0) && state.secondsOffset == 7)
    #expect(state.codesSinceSynchronization == 0 && state.lastSynchronization >= scene.rig.clock.now())
    for _ in 0..<2 { try scene.code() }
    expect(scene.refusal(), equals: .outOfStep)
  }

  @Test("a seal tells the question that is signed, and signs that", .requirement("A17"))
  func seal() throws {
    let scene = try Scene(.countedSuite)
    let peer = Self.peer()
    let request = try Scene.request(for: "Pay 12 EUR to Anna")
    let seal = try scene.core.onlineSeal(
      request, with: scene.id, over: peer, context: scene.rig.context("8306"))
    expect(peer.requests[0].fields.text("purpose"), equals: "seal")
    expect(peer.requests[0].fields.text("question"), equals: request.question.text)
    let suite = try OCRASuite(try #require(PeerScene.Kind.countedSuite.suite))
    let expected = try OCRAGenerator(key: SecretBytes(copying: Scene.key), suite: suite).code(
      for: OCRADataInput(question: request.question, counter: 0))
    #expect(seal.code == expected && peer.requests[1].fields.text("code") == expected)
    expect(peer.requests[1].fields.number("counter"), equals: 0)
  }

  @Test("by biokey where the server takes one, and by nothing else", arguments: [1, 8, 9])
  func biokey(mode: Int) throws {
    let scene = try BiokeyScene()
    try scene.core.activate(scene.bank, mode: PINFactors(rawValue: mode))
    let peer = Self.peer()
    func code(pin: String? = nil, phrase: String? = nil) -> VaultError.Code? {
      thrown { () throws(VaultError) in
        let context: AuthenticationContext
        do { context = try BiokeyScene.given(pin: pin, phrase: phrase) } catch {
          throw VaultError(.malformed, "\(error)")
        }
        _ = try scene.core.onlineCode(of: scene.bank, over: peer, context: context)
      }?.code
    }
    let (byPIN, byBiokey) = (mode != 8, mode != 1)
    #expect(code(phrase: "right") == (byPIN ? .interactionNotAllowed : .policy), "there is no biokey")
    try scene.register()
    #expect(code(phrase: "right") == (byBiokey ? nil : .interactionNotAllowed))
    #expect(code(pin: "8306") == (byPIN ? nil : .interactionNotAllowed))
    #expect(try scene.core.state(of: scene.bank).counter == (mode == 9 ? 2 : 1))
    #expect(peer.operations.filter { $0 == .onlineFinish }.count == (mode == 9 ? 2 : 1))
  }

  @Test("a wrong PIN counts, and the server gets nothing")
  func wrongPIN() throws {
    let scene = try Scene()
    let peer = Self.peer()
    let error = thrown { () throws(VaultError) in _ = try online(scene, "8307", over: peer) }
    #expect(error?.code == .authenticationFailed && error?.attemptsLeft == 9)
    expect(peer.operations, equals: [.onlineStart])
    try expect(scene.state.counter, equals: 0)
  }

  /// Verified to fail when the deadline is not looked at before the code is told.
  @Test("a code that is ready too late is not told, and its counter stays used", arguments: [299, 300])
  func late(seconds: Int) throws {
    let scene = try Scene()
    let (clock, peer) = (scene.rig.clock, Self.peer())
    scene.rig.derivations.reset { _ in clock.advance(by: .seconds(seconds)) }
    let error = thrown { () throws(VaultError) in _ = try online(scene, over: peer) }
    #expect(error?.code == (seconds < 300 ? nil : .expired))
    #expect(peer.operations.count == (seconds < 300 ? 2 : 1))
    try expect(scene.state.counter, equals: 1)
  }

  /// Verified to fail when the deadline is on the wall clock.
  @Test("the time runs on the clock since boot, and the wall clock does not count")
  func wallClock() throws {
    let scene = try Scene()
    let (clock, peer) = (
      scene.rig.clock, Self.peer(start: ["challenge": .text("c"), "lifeSeconds": .number(70)])
    )
    scene.rig.derivations.reset { _ in
      clock.advance(by: .seconds(69))
      clock.set(to: Instant(seconds: 1_800_000_000))
    }
    _ = try online(scene, over: peer)
    scene.rig.derivations.reset { _ in
      clock.advance(by: .seconds(70))
      clock.set(to: Instant(seconds: 1_700_000_000))
    }
    expect(thrown { () throws(VaultError) in _ = try online(scene, over: peer) }?.code, equals: .expired)
    scene.rig.derivations.reset { _ in clock.reboot() }
    expect(thrown { () throws(VaultError) in _ = try online(scene, over: peer) }?.code, equals: .expired)
    #expect(try scene.state.counter == 3 && peer.operations.filter { $0 == .onlineFinish }.count == 1)
  }

  /// Verified to fail when the server is told before the vault is unlocked.
  @Test("a locked vault is unlocked before the server waits")
  func locked() throws {
    let scene = try Scene(passcode: "passcode")
    let peer = Self.peer()
    for passcode in ["wrong", "passcode"] {
      scene.core.lock()
      let context = try scene.rig.context("8306", passcode: passcode)
      let error = thrown { () throws(VaultError) in
        _ = try scene.core.onlineCode(of: scene.id, over: peer, context: context)
      }
      #expect(error?.code == (passcode == "wrong" ? .authenticationFailed : nil))
      #expect(peer.requests.isEmpty == (passcode == "wrong"))
    }
  }

  @Test(
    "an announcement that makes no sense asks for no PIN",
    arguments: [
      [:], ["challenge": .text("")], ["challenge": .text(String(repeating: "x", count: 65))],
      ["challenge": .number(1)], ["challenge": .text("c"), "lifeSeconds": .number(0)],
      ["challenge": .text("c"), "lifeSeconds": .number(315_360_000)],
      ["challenge": .text("c"), "lifeSeconds": .text("300")],
    ] as [KeyValuePairs<String, TransportValue>])
  func malformed(start: KeyValuePairs<String, TransportValue>) throws {
    let scene = try Scene()
    let (peer, state) = (Self.peer(start: start), try scene.state)
    expect(thrown { () throws(VaultError) in _ = try online(scene, over: peer) }?.code, equals: .network)
    #expect(try scene.rig.derivations.count == 0 && scene.state == state && peer.requests.count == 1)
  }

  @Test("a question that is none of the suite is a failure of the server", arguments: ["", "12", "0x", nil])
  func malformedQuestion(question: String?) throws {
    let scene = try Scene(.plainSuite)
    let fields: Answer =
      question.map {
        ["challenge": .text("c"), "question": .text($0 == "12" ? String(repeating: "1", count: 65) : $0)]
      }
      ?? ["challenge": .text("c")]
    let peer = Self.peer(start: fields)
    expect(thrown { () throws(VaultError) in _ = try online(scene, over: peer) }?.code, equals: .network)
    expect(scene.rig.derivations.count, equals: 0)
  }

  @Test(
    "a code that the server refuses is an error, and nothing of it is stored",
    arguments: [("CODE", .authenticationFailed), ("TIMEOUT", .expired), ("DESYNCHRONIZED", .outOfStep)]
      as [(String, VaultError.Code)])
  func refused(word: String, code: VaultError.Code) throws {
    let scene = try Scene(.hotp, OfflineLimits(codes: 3))
    try scene.code()
    let peer = Self.peer(error: VaultError(peer: word, "no"))
    expect(thrown { () throws(VaultError) in _ = try online(scene, over: peer) }?.code, equals: code)
    #expect(try scene.state.counter == 2 && scene.state.codesSinceSynchronization == 1)
  }

  /// Verified to fail when a malformed answer to an accepted code is an error, and when each refusal for being out of step
  /// counts as accepted.
  @Test(
    "an accepted code is a code, also where the two sides stay out of step",
    arguments: [
      ["synchronized": .flag(false), "counter": .number(7)], ["counter": .number(.max)],
      ["counter": .number(2_000_000)], ["unixTime": .number(5)], ["synchronized": .text("no")],
      ["offlineCodes": .text("9")],
    ] as [KeyValuePairs<String, TransportValue>])
  func outOfStep(finish: KeyValuePairs<String, TransportValue>) throws {
    let scene = try Scene(.hotp, OfflineLimits(codes: 3))
    try scene.code()
    let result = try online(scene, over: Self.peer(finish: finish))
    #expect(result.code == PINRig.rfc4226[1] && result.notices == [.synchronizationFailed])
    #expect(try scene.state.counter == 2 && scene.state.codesSinceSynchronization == 1)
    try expect(scene.state.secondsOffset, equals: 0)
    let failed = VaultError(peer: "SYNCHROFAILED", "done")
    try expect(online(scene, over: Self.peer(error: failed)).notices, equals: [.synchronizationFailed])
  }

  @Test("what makes no code here announces none")
  func notNow() throws {
    let peer = Self.peer()
    let scene = try Scene()
    let id = scene.id
    for (state, needsResync, isBlocked, code) in [
      (.blocked, false, false, .blocked), (.disabled, false, false, .wrongState),
      (.started, false, false, .wrongState), (.active, true, false, .outOfStep),
      (.active, false, true, .expired),
    ] as [(CredentialState, Bool, Bool, VaultError.Code)] {
      try scene.core.writing { transaction throws(VaultError) in
        try transaction.changeState(of: id) {
          $0.set(state)
          ($0.needsResync, $0.isBlocked) = (needsResync, isBlocked)
        }
      }
      expect(thrown { () throws(VaultError) in _ = try online(scene, over: peer) }?.code, equals: code)
    }
    try scene.core.writing { transaction throws(VaultError) in
      try transaction.changeState(of: id) { $0.isBlocked = false }
    }
    for _ in 0..<10 { _ = scene.refusal("8307") }
    expect(thrown { () throws(VaultError) in _ = try online(scene, over: peer) }?.code, equals: .blocked)
    let alone = try Scene(mode: nil)
    expect(thrown { () throws(VaultError) in _ = try online(alone, over: peer) }?.code, equals: .policy)
    #expect(peer.requests.isEmpty)
  }

  /// Verified to fail when an accepted code makes the credential active.
  @Test("a block by another terminal while the server waits is not lifted by the code")
  func blockedMeanwhile() throws {
    let scene = try Scene()
    let (id, place) = (scene.id, scene.rig.place)
    let peer = ScriptedTransport { request throws(VaultError) in
      guard request.operation == .onlineFinish else { return TransportFields(["challenge": .text("c")]) }
      try place.openCore().writing { transaction throws(VaultError) in
        try transaction.changeState(of: id) { $0.set(.blocked) }
      }
      return TransportFields()
    }
    try expect(online(scene, over: peer).code, equals: PINRig.rfc4226[0])
    try expect(scene.state.credentialState(), equals: .blocked)
  }

  @Test("through the actor", arguments: [false, true])
  func actor(hasSuite: Bool) async throws {
    let place = TemporaryVault()
    let vault = try place.make()
    let peer = Self.peer(start: ["challenge": .text("c"), "question": .text(Self.question)])
    if hasSuite {
      let suite = try OCRASuite("OCRA-1:HOTP-SHA1-6:C-QH64")
      let credential = try await OCRACredential.enroll(
        NewOCRACredential(suite, name: "x"), key: SecretBytes(copying: Scene.key), in: vault)
      try place.openCore().activate(credential.id, mode: [])
      try await expect(credential.onlineCode(over: peer).counter, equals: 0)
      try await expect(credential.onlineSeal(Scene.request(), over: peer).counter, equals: 1)
      let active = Scene.answering(["state": .text("active")])
      try await expect(credential.synchronize(over: active).counter, equals: 2)
    } else {
      let credential = try await OTPCredential.enroll(
        NewOTPCredential(.hotp(counter: 0), name: "x"), key: SecretBytes(copying: Scene.key), in: vault)
      try place.openCore().activate(credential.id, mode: [])
      try await expect(credential.onlineCode(over: peer).code, equals: PINRig.rfc4226[0])
    }
  }
}
