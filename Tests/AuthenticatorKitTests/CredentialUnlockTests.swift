import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Unlock of a credential by its server", .bounded, .requirement("A8"))
struct CredentialUnlockTests {
  /// Verified to fail when the PIN is judged before the server, and when the block ends with all attempts.
  @Test(
    "with the current PIN: the code ends the block, a right PIN gives all attempts back")
  func currentPIN() throws {
    let scene = try ActivationScene()
    let (id, pin) = try scene.activated(limit: 5)
    expect(.wrongState) { () throws(VaultError) in try scene.core.startUnlock(of: id, over: scene.server) }
    try scene.block(id)
    try expect(scene.state(), equals: .blocked)
    expect(.wrongState) { () throws(VaultError) in
      try scene.finishUnlock(id, scene.rig.context("8306"))
    }
    try scene.core.startUnlock(of: id, over: scene.server)
    try expect(scene.state(), equals: .unlockStarted)
    scene.rig.derivations.reset()
    expect(.blocked) { () throws(VaultError) in
      _ = try scene.core.nextHOTPCode(of: id, context: scene.rig.typing("8306"))
    }
    scene.server.change {
      $0.before = { [derivations = scene.rig.derivations] _ in expect(derivations.count, equals: 0) }
    }
    try scene.finishUnlock(id, scene.rig.context("8306"))
    expect(scene.rig.derivations.count, equals: 1)
    try expect(scene.state(), equals: .active)
    try expect(scene.core.pinStatuses(of: pin).first?.attemptsLeft, equals: 5)
    try expect(scene.code(of: id), equals: scene.rig.code(at: 0))
  }

  /// Verified to fail when the block ends with all attempts.
  @Test("with the current PIN: a wrong PIN after the code blocks again")
  func wrongPIN() throws {
    let scene = try ActivationScene()
    let (id, pin) = try scene.activated(limit: 5)
    try scene.block(id)
    try scene.core.startUnlock(of: id, over: scene.server)
    let error = thrown { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.typing("8307")) }
    #expect(error?.code == .authenticationFailed && error?.attemptsLeft == 0)
    #expect(try scene.core.pinStatuses(of: pin).first?.isBlocked == true)
    try expect(scene.state(), equals: .blocked)
    // The code was used: only another unlock ends the block.
    expect(.wrongState) { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.context("8306")) }
  }

  /// Verified to fail when the count is written after the answer, and when a restart of the same unlock resets it.
  @Test("five wrong codes refuse an unlock for good, also across a crash")
  func fiveCodes() throws {
    let scene = try ActivationScene()
    let (id, _) = try scene.activated()
    try scene.block(id)
    try scene.core.startUnlock(of: id, over: scene.server)
    let place = scene.rig.place
    let counted = Mutex<[UInt8]>([])
    scene.server.change {
      $0.before = { request in
        guard request.operation == .unlockFinish else { return }
        let count = try? place.openCore().state(of: id).wrongUnlockCodes
        counted.withLock { $0.append(count ?? 99) }
      }
    }
    for left in [4, 3, 2, 1] {
      let error = thrown { () throws(VaultError) in
        try scene.finishUnlock(id, code: "wrong", scene.rig.context("8306"))
      }
      #expect(error?.code == .authenticationFailed && error?.attemptsLeft == left)
    }
    expect(.blocked) { () throws(VaultError) in
      try scene.finishUnlock(id, code: "wrong", scene.rig.context("8306"))
    }
    expect(counted.withLock { $0 }, equals: [1, 2, 3, 4, 5])
    // The right code no longer helps, and neither does the same unlock.
    expect(.blocked) { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.context("8306")) }
    expect(.blocked) { () throws(VaultError) in try scene.core.startUnlock(of: id, over: scene.server) }
    expect(scene.server.operations.filter { $0 == .unlockFinish }.count, equals: 5)
    try expect(scene.state(), equals: .blocked)
    scene.server.change { $0.unlock = ["unlock": .text("u-2")] }
    try scene.core.startUnlock(of: id, over: scene.server)
    try scene.finishUnlock(id, scene.rig.context("8306"))
    try expect(scene.state(), equals: .active)
  }

  /// Verified to fail when a code that did not reach the server is counted, and when one with another answer, or none, is not.
  @Test(
    "a code counts unless it surely did not reach the server",
    arguments: [("NETWORK", true), ("OTHER", true), ("NETWORK", false), ("TIMEOUT", true), (nil, false)]
      as [(String?, Bool)])
  func noAnswer(word: String?, isUnsent: Bool) throws {
    let scene = try ActivationScene()
    let (id, _) = try scene.activated()
    try scene.block(id)
    try scene.core.startUnlock(of: id, over: scene.server)
    scene.server.change {
      $0.before = { _ throws(VaultError) in
        throw word.map { VaultError(peer: $0, "no answer", isUnsent: isUnsent) }
          ?? VaultError(.network, "the transport was killed")
      }
    }
    for _ in 0..<4 {
      let code: VaultError.Code = ["TIMEOUT": .expired, "OTHER": .peerFailed][word] ?? .network
      expect(code) { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.context("8306")) }
    }
    // A server that has seen the code says TIMEOUT, whatever else it says.
    let counts = !isUnsent || word == "TIMEOUT"
    try expect(scene.core.state(of: id).wrongUnlockCodes, equals: counts ? 4 : 0)
    scene.server.change { $0.before = nil }
    try scene.finishUnlock(id, scene.rig.context("8306"))
    try expect(scene.core.state(of: id).wrongUnlockCodes, equals: 0)
  }

  /// Verified to fail when the PIN is judged after the code, and when the unlock ends without a PIN.
  @Test("a server's block of a credential whose PIN is not blocked ends with the code and the right PIN")
  func rightPINFirst() throws {
    let scene = try ActivationScene()
    let (id, pin) = try scene.activated(limit: 5)
    try scene.core.write { try $0.changeState(of: id) { $0.set(CredentialState.blocked) } }
    try scene.core.startUnlock(of: id, over: scene.server)
    let error = thrown { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.typing("8307")) }
    #expect(error?.code == .authenticationFailed && error?.attemptsLeft == 4)
    expect(.interactionNotAllowed) { () throws(VaultError) in try scene.finishUnlock(id) }
    try expect(scene.state(), equals: .unlockStarted)
    #expect(!scene.server.operations.contains(.unlockFinish))
    try expect(scene.core.state(of: id).wrongUnlockCodes, equals: 0)
    try scene.finishUnlock(id, scene.rig.context("8306"))
    try expect(scene.state(), equals: .active)
    try expect(scene.core.pinStatuses(of: pin).first?.attemptsLeft, equals: 5)
  }

  /// Verified to fail when a blocked PIN is asked for after the code.
  @Test("who ends at the prompt of a blocked PIN has used no code")
  func noPIN() throws {
    let scene = try ActivationScene()
    let (id, pin) = try scene.activated(limit: 5)
    try scene.block(id)
    try scene.core.startUnlock(of: id, over: scene.server)
    expect(.interactionNotAllowed) { () throws(VaultError) in try scene.finishUnlock(id) }
    #expect(!scene.server.operations.contains(.unlockFinish))
    #expect(try scene.core.pinStatuses(of: pin).first?.isBlocked == true)
    try expect(scene.state(), equals: .unlockStarted)
  }

  /// Verified to fail when an unlock whose time is over takes no answer.
  @Test("an answer after the deadline counts, also when somebody looked meanwhile", arguments: [true, false])
  func lateAnswer(isAccepted: Bool) throws {
    let scene = try ActivationScene()
    let (id, _) = try scene.activated()
    try scene.block(id)
    scene.server.change { $0.unlock["lifeSeconds"] = .number(60) }
    try scene.core.startUnlock(of: id, over: scene.server)
    let (clock, other) = (scene.rig.clock, try scene.rig.place.openCore())
    scene.server.change {
      $0.before = { _ throws(VaultError) in
        clock.advance(by: .seconds(60))
        expect(try? other.credentialStatus(named: "bank").state, equals: .blocked)
        guard isAccepted else { throw VaultError(peer: "NETWORK", "no answer", isUnsent: true) }
      }
    }
    let error = thrown { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.context("8306")) }
    expect(error?.code, equals: isAccepted ? nil : .network)
    try expect(scene.state(), equals: isAccepted ? .active : .blocked)
    try expect(scene.core.state(of: id).wrongUnlockCodes, equals: 0)
  }

  /// Verified to fail when the answer to the last code is dropped once somebody has recorded the end of the unlock.
  @Test(
    "the answer to a fifth code counts, whatever others do meanwhile",
    arguments: [true, false], [true, false])
  func answerToTheLast(isAccepted: Bool, lapses: Bool) throws {
    let scene = try ActivationScene()
    let (id, _) = try scene.activated()
    try scene.block(id)
    scene.server.change { $0.unlock["lifeSeconds"] = .number(60) }
    try scene.core.startUnlock(of: id, over: scene.server)
    scene.server.change { $0.before = { _ throws(VaultError) in throw VaultError(peer: "CODE", "wrong") } }
    for _ in 0..<4 {
      expect(.authenticationFailed) { () throws(VaultError) in
        try scene.finishUnlock(id, scene.rig.context("8306"))
      }
    }
    let (clock, other) = (scene.rig.clock, try scene.rig.place.openCore())
    let context = try scene.rig.context("8306")
    scene.server.change {
      $0.before = { _ throws(VaultError) in
        if lapses { clock.advance(by: .seconds(60)) }
        // A sixth code is not sent. The end of the unlock is recorded.
        expect(.blocked) { () throws(VaultError) in
          try other.finishUnlock(
            of: id, code: SharedSecret(SecretBytes(testing: "sixth")), over: scene.server, context: context)
        }
        expect(try? other.credentialStatus(named: "bank").state, equals: .blocked)
        guard isAccepted else { throw VaultError(peer: "NETWORK", "no answer", isUnsent: true) }
      }
    }
    let error = thrown { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.context("8306")) }
    expect(error?.code, equals: isAccepted ? nil : .network)
    expect(scene.server.operations.filter { $0 == .unlockFinish }.count, equals: 5)
    try expect(scene.state(), equals: isAccepted ? .active : .blocked)
    try expect(scene.core.state(of: id).wrongUnlockCodes, equals: isAccepted ? 0 : 4)
  }

  /// Verified to fail when the answer is dropped because the credential is active, and when it ends each block.
  @Test(
    "an answer counts after a synchronization that says active, and not for a block that came later",
    arguments: [true, false])
  func synchronizedMeanwhile(isBlockedAnew: Bool) throws {
    let scene = try ActivationScene()
    let (id, pin) = try scene.activated(limit: 5)
    try scene.block(id)
    try scene.core.startUnlock(of: id, over: scene.server)
    let (other, server) = (try scene.rig.place.openCore(), scene.server)
    server.change {
      $0.before = { request throws(VaultError) in
        guard request.operation == .unlockFinish else { return }
        for state in isBlockedAnew ? ["active", "blocked"] : ["active"] {
          server.change { $0.synchronized = ["state": .text(state)] }
          // The PIN is blocked still.
          expect(.blocked) { () throws(VaultError) in _ = try other.synchronize(id, over: server) }
        }
      }
    }
    let error = thrown { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.context("8306")) }
    expect(error?.code, equals: isBlockedAnew ? .busy : nil)
    try expect(scene.state(), equals: isBlockedAnew ? .blocked : .active)
    try expect(scene.core.pinStatuses(of: pin).first?.isBlocked, equals: isBlockedAnew)
  }

  /// Verified to fail when a newer block begins the count again.
  @Test("an unlock that was refused for good stays refused after a newer block")
  func refusedForGood() throws {
    let scene = try ActivationScene()
    let (id, _) = try scene.activated()
    try scene.block(id)
    try scene.core.startUnlock(of: id, over: scene.server)
    for _ in 0..<5 {
      _ = thrown { () throws(VaultError) in
        try scene.finishUnlock(id, code: "wrong", scene.rig.context("8306"))
      }
    }
    for state in ["active", "blocked"] {
      scene.server.change { $0.synchronized = ["state": .text(state)] }
      expect(.blocked) { () throws(VaultError) in _ = try scene.core.synchronize(id, over: scene.server) }
    }
    expect(.blocked) { () throws(VaultError) in try scene.core.startUnlock(of: id, over: scene.server) }
    expect(.blocked) { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.context("8306")) }
    expect(scene.server.operations.filter { $0 == .unlockFinish }.count, equals: 5)
    scene.server.change { $0.unlock = ["unlock": .text("u-2")] }
    try scene.core.startUnlock(of: id, over: scene.server)
    try scene.finishUnlock(id, scene.rig.context("8306"))
    try expect(scene.state(), equals: .active)
  }

  /// Verified to fail when a right PIN ends a block that came after it.
  @Test("a PIN that is blocked while the code is under way stays blocked")
  func blockedMeanwhile() throws {
    let scene = try ActivationScene()
    let (id, pin) = try scene.activated(limit: 5)
    try scene.core.write { try $0.changeState(of: id) { $0.set(CredentialState.blocked) } }
    try scene.core.startUnlock(of: id, over: scene.server)
    let other = try scene.rig.place.openCore()
    scene.server.change {
      $0.before = { _ throws(VaultError) in
        try other.writing { transaction throws(VaultError) in
          try transaction.changeState(of: pin) { ($0.isBlocked, $0.failures) = (true, 5) }
        }
      }
    }
    try scene.finishUnlock(id, scene.rig.context("8306"))
    #expect(try scene.core.pinStatuses(of: pin).first?.isBlocked == true)
    try expect(scene.state(), equals: .blocked)
  }

  /// Verified to fail when the deadline of an unlock is not looked at.
  @Test("after its deadline an unlock is over, and the credential is blocked")
  func deadline() throws {
    let scene = try ActivationScene()
    let (id, _) = try scene.activated()
    try scene.block(id)
    scene.server.change { $0.unlock["lifeSeconds"] = .number(60) }
    try scene.core.startUnlock(of: id, over: scene.server)
    scene.rig.clock.advance(by: .seconds(60))
    expect(.wrongState) { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.context("8306")) }
    try expect(scene.core.state(of: id).credentialState(), equals: .blocked)
    #expect(!scene.server.operations.contains(.unlockFinish))
  }

  /// Verified to fail when the transport of the credential is compared with the one that it had before.
  @Test("an unlock that ends over another transport ends the block")
  func otherTransport() throws {
    let scene = try ActivationScene(passcode: "passcode")
    let other = ActivationServer("/opt/other")
    scene.server.change { $0.device = ActivationServer.credential(key: [UInt8](repeating: 1, count: 20)) }
    try scene.start()
    let done = try scene.finish()
    let device = try #require(done.deviceCredential)
    try scene.core.write { transaction in
      for id in [done.credential, device] {
        try transaction.changeState(of: id) { $0.set(CredentialState.blocked) }
      }
    }
    try scene.core.startUnlock(of: done.credential, over: scene.server)
    try scene.core.finishUnlock(
      of: done.credential, code: SharedSecret(SecretBytes(testing: "third")), over: other,
      context: scene.rig.context(passcode: "passcode"))
    #expect(try scene.state() == .active && scene.state("bank-device") == .active)
    try expect(scene.core.credentialStatus(named: "bank").transport, equals: "/opt/other")
  }

  /// Verified to fail when the deadline is looked at only before the prompt.
  @Test("an unlock whose time ends at the prompt asks the server nothing")
  func deadlineAtPrompt() throws {
    let scene = try ActivationScene()
    let (id, pin) = try scene.activated()
    try scene.block(id)
    scene.server.change { ($0.unlock["pinMode"], $0.unlock["lifeSeconds"]) = (.number(2), .number(60)) }
    try scene.core.startUnlock(of: id, over: scene.server)
    let prompt = SlowPrompt { [clock = scene.rig.clock] in clock.advance(by: .seconds(60)) }
    let context = AuthenticationContext(reason: "test", prompt: prompt)
    expect(.wrongState) { () throws(VaultError) in try scene.finishUnlock(id, context) }
    #expect(!scene.server.operations.contains(.unlockFinish))
    try expect(scene.core.state(of: id).wrongUnlockCodes, equals: 0)
    try expect(scene.state(), equals: .blocked)
    #expect(try scene.core.pinStatuses(of: pin).first?.isBlocked == true)
  }

  @Test("with a new PIN by the unlock key of the server, for all behind it")
  func newPINByKey() throws {
    let scene = try ActivationScene(mode: 1)
    scene.server.change { $0.start["keepsUnlockKey"] = .flag(true) }
    let key = try PINUnlockKey.fresh()
    var new = NewPINItem(.checked)
    new.unlockKey = key
    let pin = try scene.core.makePIN(new, context: scene.rig.context(new: "8306")).id
    try scene.start()
    let id = try scene.finish(pin: pin, unlockKey: key, scene.rig.context("8306")).credential
    guard case .secret(let sent)? = scene.server.requests.last?.fields["unlockKeyBase64"] else {
      Issue.record("the server has no unlock key")
      return
    }
    #expect(try scene.core.credentialStatus(named: "bank").keepsUnlockKey)
    try scene.start("second")
    #expect(try scene.core.credentialStatus(named: "second").keepsUnlockKey, "as it asked for")
    try scene.finish("second", pin: pin, scene.rig.context("8306"))
    #expect(try !scene.core.credentialStatus(named: "second").keepsUnlockKey, "it got none")
    let shop = try scene.rig.credential(behind: pin, named: "shop")
    try scene.block(id)
    scene.server.change {
      $0.unlock["pinMode"] = .number(2)
      $0.unlocked = ["unlockKeyBase64": .secret(TransportSecret(SecretBytes(copying: sent.bytes)))]
    }
    try scene.core.startUnlock(of: id, over: scene.server)
    #expect(try scene.core.credentialStatus(named: "bank").unlockNeedsNewPIN)
    try scene.finishUnlock(id, scene.rig.context(new: "5207"))
    try expect(scene.state(), equals: .active)
    try expect(scene.code(of: id, "5207"), equals: scene.rig.code(at: 0))
    try expect(scene.code(of: shop, "5207"), equals: PINRig.rfc4226[0])
    expect(.authenticationFailed) { () throws(VaultError) in
      _ = try scene.core.nextHOTPCode(of: id, context: scene.rig.typing("8306"))
    }
  }

  @Test("an unlock key that does not open the PIN is a failure of the server, and nothing is changed")
  func wrongKey() throws {
    let scene = try ActivationScene()
    let (id, pin) = try scene.activated()
    try scene.block(id)
    scene.server.change {
      $0.unlock["pinMode"] = .number(2)
      $0.unlocked = ["unlockKeyBase64": .secret([UInt8](repeating: 3, count: 16))]
    }
    try scene.core.startUnlock(of: id, over: scene.server)
    expect(.network) { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.context(new: "5207")) }
    scene.server.change { $0.unlocked = [:] }
    expect(.network) { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.context(new: "5207")) }
    #expect(try scene.core.pinStatuses(of: pin).first?.isBlocked == true)
    try expect(scene.state(), equals: .unlockStarted)
  }

  /// Verified to fail when others behind the PIN are not looked for.
  @Test("with a new PIN and a new secret, only where nothing else is behind the PIN")
  func newSecret() throws {
    let scene = try ActivationScene()
    let (id, pin) = try scene.activated()
    let shop = try scene.rig.credential(behind: pin, named: "shop")
    try scene.block(id)
    let key = [UInt8](repeating: 0xC1, count: 24)
    scene.server.change {
      $0.unlock["pinMode"] = .number(2)
      $0.unlocked = ["credential": .fields(ActivationServer.credential(key: key, ["counter": .number(7)]))]
    }
    try scene.core.startUnlock(of: id, over: scene.server)
    let error = thrown { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.context(new: "5207")) }
    #expect(error?.code == .policy && error?.message.contains("'shop'") == true)
    #expect(!scene.server.operations.contains(.unlockFinish))
    try scene.core.delete(Query(id: shop))
    let before = try scene.core.item(named: "bank").attributes[Attribute<[UInt8]>(code: 77)]
    try scene.finishUnlock(id, scene.rig.context(new: "5207"))
    let item = try scene.core.item(named: "bank")
    #expect(item.id == id && item.attributes[Attribute<[UInt8]>(code: 77)] == before)
    try expect(scene.state(), equals: .active)
    let expected = try HOTPGenerator(key: SecretBytes(copying: key)).code(at: 7)
    try expect(scene.code(of: id, "5207"), equals: expected)
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when the biokeys stay.
  @Test("with a new PIN the biokeys are gone")
  func biokeys() throws {
    let scene = try BiokeyScene()
    let server = ActivationServer()
    server.change {
      $0.unlock["pinMode"] = .number(2)
      $0.unlocked = ["credential": .fields(ActivationServer.credential())]
    }
    try scene.register()
    try scene.core.activate(scene.bank, mode: [.current, .biometric])
    try scene.core.write { transaction in
      try transaction.changeState(of: scene.bank) { $0.set(CredentialState.blocked) }
    }
    try scene.core.startUnlock(of: scene.bank, over: server)
    try scene.core.finishUnlock(
      of: scene.bank, code: SharedSecret(SecretBytes(testing: "third")), over: server,
      context: BiokeyScene.given(new: "5207"))
    #expect(try scene.core.biokeys().isEmpty)
    try expect(scene.code(BiokeyScene.given(pin: "5207")).count, equals: 6)
  }

  /// Verified to fail when the others behind the PIN become active too.
  @Test("a credential that the server has blocked is unlocked the same way, and no other one with it")
  func blockedByServer() throws {
    let scene = try ActivationScene()
    let (id, pin) = try scene.activated()
    let others = try ["blocked", "refused"].map { try scene.rig.credential(behind: pin, named: $0) }
    for other in others { try scene.core.activate(other) }
    try scene.core.write { transaction in
      for item in [id] + others { try transaction.changeState(of: item) { $0.set(CredentialState.blocked) } }
      try transaction.changeState(of: others[1]) { $0.wrongUnlockCodes = 5 }
    }
    try scene.core.startUnlock(of: id, over: scene.server)
    try scene.finishUnlock(id, scene.rig.context("8306"))
    try expect(
      [scene.state(), scene.state("blocked"), scene.state("refused")], equals: [.active, .blocked, .blocked])
    try expect(scene.core.read { try $0.state(of: others[1]).wrongUnlockCodes }, equals: 5)
  }

  @Test("answers that are none change nothing")
  func badAnswers() throws {
    let scene = try ActivationScene()
    let (id, _) = try scene.activated()
    try scene.block(id)
    let answers: [[String: TransportValue]] = [
      [:], ["unlock": .text("")], ["unlock": .number(1)],
      ["unlock": .text(String(repeating: "x", count: 65))],
      ["unlock": .text("u"), "pinMode": .number(3)], ["unlock": .text("u"), "lifeSeconds": .number(0)],
      ["unlock": .text("u"), "lifeSeconds": .number(315_360_000)],
    ]
    let before = try scene.core.status().sequence
    for answer in answers {
      scene.server.change { $0.unlock = answer }
      expect(.network) { () throws(VaultError) in try scene.core.startUnlock(of: id, over: scene.server) }
    }
    try expect(scene.core.status().sequence, equals: before)
    let open = try ActivationScene()
    try open.start()
    let plain = try open.finish().credential
    try open.core.write { try $0.changeState(of: plain) { $0.set(CredentialState.blocked) } }
    open.server.change { $0.unlock["pinMode"] = .number(2) }
    expect(.network) { () throws(VaultError) in try open.core.startUnlock(of: plain, over: open.server) }
    open.server.change { $0.unlock["pinMode"] = nil }
    try open.core.startUnlock(of: plain, over: open.server)
    try open.finishUnlock(plain)
    try expect(open.state(), equals: .active)
  }
}

/// A person who types a new PIN after some time.
private struct SlowPrompt: Prompt {
  let wait: @Sendable () -> Void

  func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    wait()
    return SecretBytes(testing: "5207")
  }

  func confirm(_ request: PromptRequest) throws(VaultError) -> Bool { true }
}
