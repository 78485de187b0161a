import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Rules of consents", .bounded)
struct ConsentRuleTests {
  // MARK: Sessions

  /// Verified to fail when a confirmation ends no token, and when a request ends no consent.
  @Test("a session has one consent, and one token of it", .requirement("C4"))
  func oneInSession() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let (mine, other) = (try CardScene.session(1), try CardScene.session(2))
    let first = try scene.request(session: mine, over: server)
    expect(.verificationNeeded) { () throws(VaultError) in try scene.confirm(first, over: server) }
    expect(.policy) { () throws(VaultError) in try scene.confirm(first, session: other, over: server) }
    expect(server.operations, equals: [.consentRequest])
    try expect(scene.core.consent(first).attemptsLeft, equals: 5)
    let old = try scene.confirm(first, session: mine, over: server)
    let own = try scene.store("own", session: mine)
    let foreign = try scene.request(NewConsent("foreign", user: "u", card: "c"), session: other, over: server)
    let second = try scene.request(session: mine, over: server)
    try expect(scene.status(foreign), equals: .requested)
    let third = try scene.request(NewConsent("third", user: "u", card: "c"), session: mine, over: server)
    #expect(try scene.status(second) == .revoked && scene.status(foreign) == .requested)
    try expect(scene.core.cardToken(old.id).status, equals: .valid)
    let new = try scene.confirm(third, storing: "new", session: mine, over: server)
    #expect(try scene.core.cardToken(old.id).status == .ended && scene.core.cardToken(own).status == .valid)
    #expect(scene.refusal(new.id) == .verificationNeeded && new.belongsToSession)
    try expect(scene.take(new.id, session: mine), equals: CardScene.token)
    #expect(try scene.core.closeSession(other) == 1 && scene.status(foreign) == .revoked)
    expect(.wrongState) { () throws(VaultError) in try scene.confirm(foreign, session: other, over: server) }
    try expect(scene.core.verify().problems, equals: [])
  }

  // MARK: What is refused

  /// Verified to fail when the attributes of a new item are not examined, and when codes of three digits are stored.
  @Test("card data is refused before the server is asked, and in place of a token", .requirement("C5"))
  func cardData() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    for (name, user, card) in [
      ("view", "u", "4111 1111 1111 1111"), ("view", "123", "c"), ("1234", "u", "c"), ("view", "u", "0000"),
    ] {
      expect(.policy) { () throws(VaultError) in
        _ = try scene.request(NewConsent(name, user: user, card: card), over: server)
      }
    }
    #expect(server.requests.isEmpty)
    let id = try scene.request(over: server)
    server.answer("tokenBase64", .secret(Array("4111111111111111".utf8)))
    expect(.policy) { () throws(VaultError) in try scene.confirm(id, over: server) }
    #expect(try scene.core.cardTokens().isEmpty && scene.status(id) == .requested)
  }

  @Test("an answer out of its bounds is a failure of the peer, and stores nothing", .requirement("C8"))
  func malformed() throws {
    let scene = try CardScene()
    let server = ConsentServer()
    for value in [
      nil, .text(""), .text(String(repeating: "x", count: 256)), .text("a\nb"), .number(1), .other,
    ]
      as [TransportValue?]
    {
      let bad = ScriptedTransport { _ throws(VaultError) in
        var fields = TransportFields()
        fields["challenge"] = value
        return fields
      }
      expect(.network) { () throws(VaultError) in _ = try scene.request(over: bad) }
    }
    #expect(try scene.core.cardConsents().isEmpty)
    let id = try scene.request(over: server)
    for (name, value) in [
      ("tokenBase64", nil), ("tokenBase64", .secret([])), ("tokenBase64", .text("x")),
      ("tokenBase64", .secret([UInt8](repeating: 65, count: 1 << 20))),
    ] as [(String, TransportValue?)] {
      let bad = ScriptedTransport(server.identity) { _ throws(VaultError) in
        var fields = TransportFields(["tokenBase64": .secret([1])])
        fields[name] = value
        return fields
      }
      expect(.network) { () throws(VaultError) in try scene.confirm(id, over: bad) }
    }
    // Each of them was an attempt.
    try expect(scene.core.consent(id).attemptsLeft, equals: 1)
    #expect(try scene.status(id) == .requested && scene.core.cardTokens().isEmpty)
  }

  @Test(
    "a life of the token that is none, or is endless, stores nothing", .requirement("C8"),
    arguments: [
      .number(0), .number(2_592_001), .number(.max), .text("60"), .other,
    ] as [TransportValue])
  func lives(value: TransportValue) throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    server.answer("lifeSeconds", value)
    expect(.network) { () throws(VaultError) in try scene.confirm(id, over: server) }
    #expect(try scene.status(id) == .requested && scene.core.cardTokens().isEmpty)
  }

  /// Verified to fail when the longer life counts.
  @Test("the token lives as long as the server says, if that is shorter", .requirement("C3"))
  func life() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    server.answer("lifeSeconds", .number(20))
    try expect(
      scene.confirm(scene.request(over: server), ttl: .seconds(60), over: server).secondsLeft, equals: 20)
    server.answer("lifeSeconds", .number(600))
    let id = try scene.request(NewConsent("other", user: "u", card: "c"), over: server)
    try expect(scene.confirm(id, storing: "b", ttl: .seconds(60), over: server).secondsLeft, equals: 60)
  }

  /// Verified to fail when the transport is not compared.
  @Test(
    "another transport is refused, and a name that is taken, before the server is asked", .requirement("C8"))
  func refused() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    let other = ConsentServer("/opt/other")
    expect(.policy) { () throws(VaultError) in try scene.confirm(id, over: other) }
    expect(.policy) { () throws(VaultError) in _ = try scene.core.resendConsent(id, over: other) }
    #expect(other.requests.isEmpty)
    expect(.duplicateItem) { () throws(VaultError) in _ = try scene.request(over: server) }
    expect(.duplicateItem) { () throws(VaultError) in try scene.confirm(id, storing: "view", over: server) }
    for new in [NewConsent("x", user: "", card: "c"), NewConsent("x", user: "u", card: "a\u{7}")] {
      expect(.malformed) { () throws(VaultError) in _ = try scene.request(new, over: server) }
    }
    expect(server.operations, equals: [.consentRequest])
    try scene.core.revokeConsent(id)
    #expect(try scene.status(id) == .revoked && scene.sealed() == 0)
    expect(.wrongState) { () throws(VaultError) in try scene.confirm(id, over: server) }
    expect(.wrongState) { () throws(VaultError) in try scene.core.revokeConsent(id) }
    _ = try scene.request(over: server)
  }

  /// Verified to fail when the boot id is not asked for.
  @Test("without a boot id no consent is requested", .requirement("C1"))
  func noBoot() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    let blind = try VaultCore.open(
      at: scene.place.path, protector: scene.place.protector,
      environment: .testing(clock: BlindClock(clock: scene.clock)))
    expect(.io) { () throws(VaultError) in
      _ = try blind.requestConsent(NewConsent("b", user: "u", card: "c"), over: server)
    }
    expect(.io) { () throws(VaultError) in
      _ = try blind.confirmConsent(
        id, with: CardScene.code("471199"), storing: NewCardToken("t", timeToLive: .seconds(9)), over: server)
    }
    expect(server.operations, equals: [.consentRequest])
  }

  // MARK: Issuer

  /// Verified to fail when attempts are not counted, and when the code before the last resend counts.
  @Test("an issuer judges five codes in 300 seconds, and stores none", .requirement("C1", "C2"))
  func issuer() throws {
    let scene = try CardScene()
    let made = try scene.core.issueConsent(CardScene.new)
    let (id, digits) = (made.consent.id, String(decoding: made.code.bytesForTesting, as: UTF8.self))
    #expect(made.consent.role == .issuer && digits.count == 6 && digits.allSatisfy(\.isNumber))
    #expect(try !VaultFiles(place: scene.place).contain(Array(digits.utf8)))
    let wrong = digits == "000000" ? "000001" : "000000"
    for left in (1...4).reversed() {
      let error = thrown { () throws(VaultError) in _ = try scene.core.judgeConsent(id, CardScene.code(wrong))
      }
      #expect(error?.code == .authenticationFailed && error?.attemptsLeft == left)
    }
    scene.clock.advance(by: .seconds(200))
    let again = try scene.core.reissueConsent(id)
    expect(.policy) { () throws(VaultError) in _ = try scene.core.reissueConsent(id) }
    let second = String(decoding: again.code.bytesForTesting, as: UTF8.self)
    #expect(again.consent.attemptsLeft == 1 && again.consent.secondsLeft == 100)
    try expect(scene.core.judgeConsent(id, CardScene.code(second)).status, equals: .confirmed)
    expect(.wrongState) { () throws(VaultError) in _ = try scene.core.judgeConsent(id, CardScene.code(second))
    }
    try expect(scene.sealed(), equals: 0)
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test("an issuer's consent dies with its fifth wrong code, and with its time", .requirement("C1"))
  func issuerEnds() throws {
    let scene = try CardScene()
    let made = try scene.core.issueConsent(CardScene.new, session: CardScene.session())
    let (id, session) = (made.consent.id, try CardScene.session())
    let code = String(decoding: made.code.bytesForTesting, as: UTF8.self)
    expect(.verificationNeeded) { () throws(VaultError) in
      _ = try scene.core.judgeConsent(id, CardScene.code(code))
    }
    for _ in 1...5 {
      expect(.authenticationFailed) { () throws(VaultError) in
        _ = try scene.core.judgeConsent(
          id, CardScene.code(code == "000000" ? "000001" : "000000"), session: session)
      }
    }
    expect(.wrongState) { () throws(VaultError) in
      _ = try scene.core.judgeConsent(id, CardScene.code(code), session: session)
    }
    let late = try scene.core.issueConsent(NewConsent("late", user: "u", card: "c"))
    let digits = String(decoding: late.code.bytesForTesting, as: UTF8.self)
    scene.clock.advance(by: .seconds(301))
    let error = thrown { () throws(VaultError) in
      _ = try scene.core.judgeConsent(late.consent.id, CardScene.code(digits))
    }
    #expect(error?.code == .expired && error?.hint?.contains("request a new one") == true)
    #expect(try scene.status(late.consent.id) == .expired && scene.sealed() == 0)
  }

  /// Verified to fail when the role of a consent is not asked for.
  @Test("a holder judges no code, and an issuer asks nobody", .requirement("C1"))
  func roles() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let held = try scene.request(over: server)
    expect(.policy) { () throws(VaultError) in _ = try scene.core.judgeConsent(held, CardScene.code("471199"))
    }
    let issued = try scene.core.issueConsent(NewConsent("mine", user: "u", card: "c")).consent.id
    expect(.policy) { () throws(VaultError) in try scene.confirm(issued, over: server) }
    expect(server.operations, equals: [.consentRequest])
  }

  @Test("the actor does the same, and cancels a request that waits", .requirement("C8"))
  func actor() async throws {
    let scene = try CardScene()
    let vault = Vault(core: scene.core)
    let (tokens, consents, server) = (CardTokens(vault), CardConsents(vault), ConsentServer())
    let session = try ViewingSession.fresh()
    let consent = try await consents.request(CardScene.new, session: session, over: server)
    try await consents.resend(consent.id, session: session, over: server)
    let token = try await consents.confirm(
      consent.id, with: CardScene.code(ConsentServer.code),
      storing: NewCardToken("card", timeToLive: .seconds(60)), session: session, over: server)
    await expect(.verificationNeeded) { _ = try await tokens.take(token.id) }
    let taken = try await tokens.take(token.id, session: session)
    expect(taken.bytesForTesting, equals: Array(CardScene.token.utf8))
    try await expect(consents.list().map(\.status), equals: [.confirmed])
    try await expect(tokens.list().map(\.status), equals: [.ended])
    let made = try await consents.issue(NewConsent("mine", user: "u", card: "c"))
    let code = try ConsentCode(made.code.copy())
    try await expect(consents.judge(made.consent.id, code).status, equals: .confirmed)
    let other = try await tokens.store(
      SecretBytes(testing: "x1"), as: NewCardToken("x", timeToLive: .seconds(9)), session: session)
    try await expect(tokens.close(session), equals: 1)
    try await expect(tokens.purge(), equals: 0)
    await expect(.expired) { try await tokens.revoke(other.id) }
  }
}
