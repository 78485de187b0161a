import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Challenges of card payments", .bounded)
struct CardChallengeTests {
  /// Verified to fail when the answer is stored with the expiry of the challenge.
  @Test("session and answer are kept until the answer expires", .requirement("E1"))
  func life() throws {
    let scene = try CheckoutScene()
    let begun = try scene.begin()
    #expect(begun.name == "order-7" && begun.expires == Instant(seconds: CheckoutScene.now + 7200))
    try expect(scene.core.challengeDetails(named: "order-7").request, equals: scene.request)
    try expect(scene.core.item(named: "order-7").access, equals: AccessControl(thisDeviceOnly: true))
    let token = CheckoutScene.Answer("exp", "1700000900").token()
    let answer = try scene.receive(token)
    #expect(answer.outcome == .success && answer.expires == Instant(seconds: CheckoutScene.now + 900))
    #expect(answer.errorNumber == 0 && answer.errorText == nil)
    let kept = try scene.core.answerForServer(of: "order-7")
    expect(String(decoding: kept.bytesForTesting, as: UTF8.self), equals: token)

    scene.clock.advance(by: .seconds(899))
    let details = try scene.core.challengeDetails(named: "order-7")
    #expect(details.answer == answer && details.request == scene.request)
    try expect(scene.core.challenges().map(\.name), equals: ["order-7"])
    scene.clock.advance(by: .seconds(1))
    expect(.expired) { () throws(VaultError) in _ = try scene.core.challengeDetails(named: "order-7") }
    expect(.expired) { () throws(VaultError) in _ = try scene.core.answerForServer(of: "order-7") }
    #expect(try scene.core.challenges().isEmpty)
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test("a challenge without an answer ends, and a name can be used again then", .requirement("E1"))
  func again() throws {
    let scene = try CheckoutScene()
    try scene.begin(seconds: 60)
    expect(.duplicateItem) { () throws(VaultError) in try scene.begin() }
    expect(.wrongState) { () throws(VaultError) in _ = try scene.core.answerForServer(of: "order-7") }
    scene.clock.advance(by: .seconds(60))
    expect(.expired) { () throws(VaultError) in _ = try scene.receive(CheckoutScene.Answer().token()) }
    // Another kind of item of this name stays.
    try scene.begin()
    try expect(scene.core.challenges().count, equals: 1)
    _ = try scene.core.add(
      NewItem(.genericPassword, name: "shop", expires: scene.clock.now()), secret: SecretBytes(testing: "x"))
    expect(.duplicateItem) { () throws(VaultError) in try scene.begin("shop") }
    expect(.itemNotFound) { () throws(VaultError) in _ = try scene.core.challengeDetails(named: "shop") }
    expect(.itemNotFound) { () throws(VaultError) in try scene.core.endChallenge(named: "shop") }
    try scene.core.endChallenge(named: "order-7")
    expect(.itemNotFound) { () throws(VaultError) in
      _ = try scene.receive(CheckoutScene.Answer().token())
    }
    for seconds in [0, -1, 86_401, .max] as [Int64] {
      expect(.malformed) { () throws(VaultError) in try scene.begin(seconds: seconds) }
    }
  }

  @Test("the clock set back revives no answer that a commit has seen expire", .requirement("E1"))
  func clockSetBack() throws {
    let scene = try CheckoutScene()
    try scene.begin()
    _ = try scene.receive(CheckoutScene.Answer("exp", "1700000900").token())
    scene.clock.advance(by: .seconds(1000))
    try scene.begin("order-8")
    scene.clock.set(to: Instant(seconds: CheckoutScene.now))
    expect(.expired) { () throws(VaultError) in _ = try scene.core.answerForServer(of: "order-7") }
    try expect(scene.core.challenges().map(\.name), equals: ["order-8"])
  }

  @Test("there is one answer, and nobody else reads it", .requirement("E1"))
  func once() throws {
    let scene = try CheckoutScene()
    let id = try scene.begin().id
    _ = try scene.receive(CheckoutScene.Answer().token())
    expect(.wrongState) { () throws(VaultError) in _ = try scene.receive(CheckoutScene.Answer().token()) }
    expect(.wrongState) { () throws(VaultError) in _ = try scene.receive("") }
    expect(.policy) { () throws(VaultError) in _ = try scene.core.secret(of: id) }
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.update(id, ItemChanges(expires: .some(nil)))
    }
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.add(NewItem(.responseJWT, name: "own"), secret: SecretBytes(testing: "x"))
    }
  }

  @Test("an item of one challenge does not open as another's answer", .requirement("E1"))
  func otherRequest() throws {
    let scene = try CheckoutScene()
    let id = try scene.begin().id
    _ = try scene.receive(CheckoutScene.Answer().token())
    // As from a copy of another challenge: the answer of another request.
    let record = try ResponseRecord(scene.core.secret(of: id, by: .responseJWT))
    let planted = ResponseRecord(
      session: record.session, request: "req-2", issuer: record.issuer, answer: record.answer)
    _ = try scene.core.update(id, ItemChanges(), secret: planted.data, by: .responseJWT)
    expect(.policy) { () throws(VaultError) in _ = try scene.core.answerForServer(of: "order-7") }
    expect(.policy) { () throws(VaultError) in _ = try scene.core.challengeDetails(named: "order-7") }
  }

  @Test("a locked vault lists challenges, and needs its passcode for all else", .requirement("E1"))
  func locked() throws {
    let scene = try CheckoutScene(passcode: "passcode")
    try scene.begin()
    let other = try scene.place.openCore()
    try expect(other.challenges().count, equals: 1)
    expect(.locked) { () throws(VaultError) in _ = try other.challengeDetails(named: "order-7") }
    expect(.locked) { () throws(VaultError) in
      _ = try other.receiveAnswer(
        SharedSecret(SecretBytes(testing: CheckoutScene.Answer().token())), to: "order-7")
    }
    expect(.locked) { () throws(VaultError) in
      _ = try other.beginChallenge(scene.request, named: "b", after: CheckoutScene.lookup, seconds: 60)
    }
    let context = AuthenticationContext(reason: "pay")
    context.provide(try Passcode(testing: "passcode"))
    _ = try other.receiveAnswer(
      SharedSecret(SecretBytes(testing: CheckoutScene.Answer().token())), to: "order-7", context: context)
  }

  @Test("the same on the actor", .requirement("E1"))
  func actor() async throws {
    let scene = try CheckoutScene()
    let challenges = CardChallenges(Vault(core: scene.core))
    try await challenges.begin(scene.request, named: "order-7", after: CheckoutScene.lookup)
    let answer = try await challenges.receive(
      SecretBytes(testing: CheckoutScene.Answer().token()), for: "order-7")
    #expect(answer.outcome.isForServer)
    #expect(try await challenges.tokenForServer(of: "order-7").byteCount > 100)
    try await expect(challenges.details(of: "order-7").answer, equals: answer)
    try await expect(challenges.list().map(\.name), equals: ["order-7"])
    try await challenges.end("order-7")
    #expect(try await challenges.list().isEmpty)
  }

  @Test(
    "names of a request that are empty, long or do not show are refused", .requirement("E1"),
    arguments: ["", String(repeating: "x", count: 256), "a\nb", "a\u{202E}b"])
  func names(name: String) {
    for (id, issuer, session) in [(name, "i", "s"), ("r", name, "s"), ("r", "i", name)] {
      expect(.malformed) { () throws(VaultError) in
        _ = try CardChallengeRequest(id: id, issuer: issuer, session: session)
      }
    }
  }
}

@Suite("Whether a challenge is begun", .bounded, .requirement("E2"))
struct CardLookupTests {
  /// Verified to fail when the version is compared by its first character, and when case is ignored.
  @Test(
    "only version 2.x, enrolled Y, status C",
    arguments: [
      ("2.1.0", "Y", "C", true), ("2.2.0", "Y", "C", true), ("2.3.1.1", "Y", "C", true),
      ("2.0", "Y", "C", true),
      ("1.0.2", "Y", "C", false), ("20.1", "Y", "C", false), ("2", "Y", "C", false), ("2.", "Y", "C", false),
      ("2.x", "Y", "C", false), ("2.1.0 ", "Y", "C", false), ("2..0", "Y", "C", false), ("", "Y", "C", false),
      ("12.1", "Y", "C", false), ("2.1.0.0.0", "Y", "C", false), ("٢.١", "Y", "C", false),
      ("3.0.0", "Y", "C", false),
      ("2.1.0", "N", "C", false), ("2.1.0", "U", "C", false), ("2.1.0", "B", "C", false),
      ("2.1.0", "y", "C", false), ("2.1.0", "", "C", false), ("2.1.0", "YY", "C", false),
      ("2.1.0", "Y", "Y", false), ("2.1.0", "Y", "N", false), ("2.1.0", "Y", "U", false),
      ("2.1.0", "Y", "A", false), ("2.1.0", "Y", "R", false), ("2.1.0", "Y", "c", false),
      ("2.1.0", "Y", "", false),
    ])
  func table(version: String, enrolled: String, status: String, isBegun: Bool) throws {
    let lookup = CardLookup(version: version, enrolled: enrolled, status: status)
    expect(lookup.asksForChallenge, equals: isBegun)
    let scene = try CheckoutScene()
    if !isBegun {
      expect(.policy) { () throws(VaultError) in
        _ = try scene.core.beginChallenge(scene.request, named: "order-7", after: lookup, seconds: 60)
      }
      #expect(try scene.core.items(matching: Query(.responseJWT)).isEmpty)
    }
  }
}
