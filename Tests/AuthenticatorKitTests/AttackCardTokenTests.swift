import AuthenticatorKit
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What an attack on card tokens and consents tried.
@Suite("Attacks on card tokens and consents", .bounded)
struct AttackCardTokenTests {
  // MARK: Clocks

  /// The attack succeeded: such a clock made the row look as if it had ended more than a day ago, nothing was deleted, and
  /// the token came back with the clock. Verified to fail when only *expired* is recorded, not *no such item*.
  @Test(
    "a clock that goes days ahead and comes back revives no token", .requirement("C7"),
    arguments: [90_000, 172_800, 40 * 86_400])
  func farAhead(seconds: Int64) throws {
    let scene = try CardScene()
    let id = try scene.store(uses: 9)
    let start = scene.clock.now().seconds
    scene.clock.set(to: Instant(seconds: start + seconds))
    #expect([.expired, .itemNotFound].contains(scene.refusal(id)))
    try expect(scene.sealed(), equals: 0)
    scene.clock.set(to: Instant(seconds: start))
    #expect([.expired, .itemNotFound].contains(scene.refusal(id)))
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test(
    "an opening under a clock that disagrees ends tokens and consents, whose bytes leave the file",
    .requirement("C3", "C7"),
    arguments: [-86_400, -3600, -61, 3600, 86_400])
  func opened(seconds: Int64) throws {
    let scene = try CardScene()
    let id = try scene.store(uses: 9)
    let consent = try scene.core.issueConsent(CardScene.new).consent.id
    let files = VaultFiles(place: scene.place)
    let sealed = try files.sealedSecrets()
    expect(sealed.count, equals: 2)
    let start = scene.clock.now().seconds
    scene.clock.set(to: Instant(seconds: start + seconds))
    let core = try scene.place.openCore()
    scene.clock.set(to: Instant(seconds: start))
    try expect(scene.sealed(), equals: 0)
    for secret in sealed { #expect(try !files.contain(secret)) }
    expect(scene.refusal(id, in: core), equals: .expired)
    try expect(scene.status(consent), equals: .expired)
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test(
    "an opening under a clock by which all tokens are valid writes nothing", .requirement("C3"),
    arguments: [-60, 0, 2, 160])
  func openedInTime(seconds: Int64) throws {
    let scene = try CardScene()
    let id = try scene.store()
    let before = try scene.core.status().sequence
    scene.clock.set(to: Instant(seconds: scene.clock.now().seconds + seconds))
    let core = try scene.place.openCore()
    try expect(core.status().sequence, equals: before)
    try expect(scene.take(id, in: core), equals: CardScene.token)
  }

  // MARK: A rotation under way

  /// Every write begins with the end of what is due. Verified to fail when an end moves the token to the new generation, for
  /// which its key has to open.
  @Test(
    "a token that is due ends in a locked vault, and with a damaged key, while a rotation is under way",
    arguments: [false, true])
  func rotating(isDamaged: Bool) throws {
    let scene = try CardScene(passcode: "passcode")
    // A locked vault lets it go.
    let new = NewItem(.genericPassword, name: "other", access: AccessControl(.afterFirstUnlock))
    let other = try scene.core.add(new, secret: SecretBytes(testing: "x")).id
    let id = try scene.store()
    let row = try #require(try scene.core.items(matching: Query(id: id)).first).row
    try scene.core.beginRotation(passcode: Passcode(testing: "passcode"))
    if isDamaged { try scene.place.damageKeys(inRow: row) }
    let core = try scene.place.openCore()
    if isDamaged { try core.unlock(with: Passcode(testing: "passcode")) }
    scene.clock.advance(by: .seconds(101))
    try core.delete(other)
    #expect(try core.items(matching: Query(id: id)).first?.hasSecret == false && core.isUnlocked == isDamaged)
    try expect(core.auditEntries().count { $0.operation == .tokenEnded }, equals: 1)
    try expect(core.verify().problems, equals: [])
    try core.rotateEpoch(passcode: Passcode(testing: "passcode"))
    #expect(try !core.isRotating && core.items(matching: Query(id: id)).map(\.hasSecret) == [false])
    try expect(core.verify().problems, equals: [])
  }

  // MARK: Older states of the file

  /// Verified to fail when tokens keep their uses in an older state, and consents their attempts.
  @Test(
    "an older state that is put back gives no use and no attempt again", .requirement("C1", "C3"),
    arguments: [false, true])
  func putBack(isOpen: Bool) throws {
    let scene = try CardScene()
    let (spent, unspent) = (try scene.store(), try scene.store("unspent"))
    let made = try scene.core.issueConsent(CardScene.new)
    let code = String(decoding: made.code.bytesForTesting, as: UTF8.self)
    let wrong = code == "000000" ? "000001" : "000000"
    try scene.place.keepRows()
    try scene.take(spent)
    for _ in 1...5 {
      expect(.authenticationFailed) { () throws(VaultError) in
        _ = try scene.core.judgeConsent(made.consent.id, CardScene.code(wrong))
      }
    }
    try scene.place.putRowsBack()
    let core = isOpen ? scene.core : try scene.place.openCore()
    expect(scene.refusal(spent, in: core), equals: .expired)
    expect(.wrongState) { () throws(VaultError) in
      _ = try core.judgeConsent(made.consent.id, CardScene.code(code))
    }
    expect(scene.refusal(unspent, in: core), equals: .expired)
    #expect(try scene.sealed() == 0 && core.verify().problems == [])
    try expect(scene.take(scene.store("new", in: core), in: core), equals: CardScene.token)
  }

  /// Verified to fail when tokens keep their uses in a copy.
  @Test(
    "a copy of the file has no use of a token, nor has the file once the copy was changed",
    .requirement("C3"))
  func copied() throws {
    let scene = try CardScene()
    let (first, second) = (try scene.store(), try scene.store("second"))
    let copy = try scene.place.openCopy()
    try expect(scene.take(first), equals: CardScene.token)
    expect(scene.refusal(second, in: copy), equals: .expired)
    // One witness is for both, and does not tell which of them was used.
    _ = try scene.store("third", in: copy)
    expect(scene.refusal(second), equals: .expired)
  }

  // MARK: What is left of a secret

  /// Another process reads, so the log cannot be cut off at once. Verified to fail when the pending cleaning is not noted.
  @Test("a secret whose deletion a reader held up leaves the file with the next opening", .requirement("C3"))
  func heldLog() throws {
    let scene = try CardScene()
    let id = try scene.store()
    let files = VaultFiles(place: scene.place)
    let sealed = try #require(try files.sealedSecrets().last)
    let reader = try scene.place.openCore()
    try reader.read { _ in
      try scene.core.revokeToken(id)
      #expect(try files.contain(sealed))
    }
    _ = try scene.place.openCore()
    #expect(try !files.contain(sealed))
  }

  // MARK: Sessions

  /// Below the rules: the hash of the session is not compared here. Verified to fail when the session is not a part of the key.
  @Test("without its session no key opens a token, whatever is asked for", .requirement("C4"))
  func keyOfSession() throws {
    let scene = try CardScene()
    let (mine, other) = (try CardScene.session(1), try CardScene.session(2))
    let id = try scene.store(session: mine)
    func open(_ session: ViewingSession?) throws(VaultError) -> [UInt8] {
      let component = Component(.cardToken, session: session?.secret)
      var transaction = try scene.core.beginReading(.secret(.use, of: id, by: component), context: nil)
      let opened = try transaction.useSecret(of: transaction.item(id), by: component)
      return opened.intoSecret().bytesForTesting
    }
    #expect(thrown { () throws(VaultError) in _ = try open(other) } != nil)
    #expect(thrown { () throws(VaultError) in _ = try open(nil) } != nil)
    try expect(open(mine), equals: Array(CardScene.token.utf8))
  }

  /// Verified to fail when the session is not compared.
  @Test("nobody is asked for a token whose session is another one", .requirement("C4", "C6"))
  func askedInVain() throws {
    let scene = try CardScene(passcode: "passcode")
    let id = try scene.store(
      uses: 2, session: CardScene.session(1), access: AccessControl([.userPresence]))
    let prompt = ScriptedPrompt([.text("passcode"), .text("passcode")])
    let context = AuthenticationContext(reason: "", prompt: prompt)
    expect(.policy) { () throws(VaultError) in
      try scene.take(id, session: CardScene.session(2), context: context)
    }
    expect(.verificationNeeded) { () throws(VaultError) in try scene.take(id, context: context) }
    #expect(prompt.requests.isEmpty)
  }

  /// The attack succeeded: the token opened without the session that was given with the code. Verified to fail when only the
  /// session of the consent counts.
  @Test("a token belongs to the session in which its consent is confirmed", .requirement("C4"))
  func sessionOfConfirmation() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let mine = try CardScene.session()
    let token = try scene.confirm(scene.request(over: server), session: mine, over: server)
    #expect(token.belongsToSession && scene.refusal(token.id) == .verificationNeeded)
    try expect(scene.take(token.id, session: mine), equals: CardScene.token)
  }

  // MARK: Attempts

  /// Each answer waits until another process has tried, so all attempts are under way together. Verified to fail when an
  /// attempt is counted after the answer.
  @Test("of two processes five codes leave in all", .requirement("C1"))
  func nested() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    let place = scene.place
    server.before { [server] _ throws(VaultError) in
      // More than five must not recurse for ever.
      guard server.operations.count(where: { $0 == .consentConfirm }) < 9 else { return }
      let other = try place.openCore()
      _ = try? other.confirmConsent(
        id, with: CardScene.code("000000"), storing: NewCardToken("t", timeToLive: .seconds(9)), over: server)
    }
    expect(.authenticationFailed) { () throws(VaultError) in try scene.confirm(id, "000000", over: server) }
    expect(server.operations.count { $0 == .consentConfirm }, equals: 5)
    #expect(try scene.status(id) == .failed && scene.sealed() == 0)
  }

  /// Verified to fail when the attempts are not looked at before a person is asked.
  @Test("after five attempts without an answer nobody is asked for a code", .requirement("C1"))
  func unanswered() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    server.before { _ throws(VaultError) in throw VaultError(peer: "NETWORK", "no route") }
    for _ in 1...5 { expect(.network) { () throws(VaultError) in try scene.confirm(id, over: server) } }
    server.before(nil)
    expect(.wrongState) { () throws(VaultError) in try scene.core.prepareConsent(id, over: server) }
    expect(.wrongState) { () throws(VaultError) in try scene.confirm(id, over: server) }
    expect(.wrongState) { () throws(VaultError) in _ = try scene.core.resendConsent(id, over: server) }
    expect(server.requests.count, equals: 6)
  }

  /// Before, the name stayed taken for 300 seconds. Verified to fail when only the attempts that are counted here end a consent.
  @Test(
    "a consent whose system says that no attempt is left has failed, and its name is free",
    .requirement("C1", "C8"))
  func peerEnds() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    server.before { request throws(VaultError) in
      if request.operation == .consentConfirm { throw VaultError(peer: "CODE", "wrong", attemptsLeft: 0) }
    }
    let error = thrown { () throws(VaultError) in try scene.confirm(id, "000000", over: server) }
    #expect(error?.code == .authenticationFailed && error?.attemptsLeft == 0)
    #expect(error?.hint?.contains("request a new one") == true)
    #expect(try scene.status(id) == .failed && scene.sealed() == 0)
    server.before(nil)
    try scene.confirm(scene.request(over: server), over: server)
  }

  // MARK: Races

  @Test(
    "of many tasks and one timer each use goes to one, and the last deletes the secret", .requirement("C3"),
    arguments: [false, true])
  func tasks(isOver: Bool) async throws {
    let clock = HeldClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    let vault = try place.make()
    let tokens = CardTokens(vault)
    let other = CardTokens(try place.open())
    for round in 0..<5 {
      var new = NewCardToken("card-\(round)", timeToLive: .seconds(2))
      new.uses = 3
      let id = try await tokens.store(SecretBytes(testing: "a-token"), as: new).id
      let taken = await withTaskGroup(of: Int.self) { group in
        for task in 0..<20 {
          group.addTask {
            if isOver, task == 10 { clock.pass(.seconds(3)) }
            do throws(VaultError) {
              _ = try await (task % 2 == 0 ? tokens : other).take(id)
              return 1
            } catch { return error.code == .expired ? 0 : 1_000 }
          }
        }
        return await group.reduce(0, +)
      }
      #expect(isOver ? taken <= 3 : taken == 3)
      #expect(try await !vault.items(matching: Query(.cardToken)).contains { $0.hasSecret })
    }
  }
}
