import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Consents of a holder", .bounded)
struct ConsentTests {
  @Test("a consent is requested, confirmed with its code, and gives a token", .requirement("C1", "C8"))
  func confirmed() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    let asked = try scene.core.consent(id)
    #expect(
      (asked.status, asked.role, asked.secondsLeft, asked.attemptsLeft) == (.requested, .holder, 300, 5))
    #expect((asked.user, asked.card, asked.channel, asked.challenge) == ("u-17", "c-4", "sms", "ch-1"))
    scene.clock.advance(by: .seconds(299))
    let token = try scene.confirm(id, over: server)
    #expect(
      (token.name, token.usesLeft, token.secondsLeft, token.user, token.card) == (
        "card", 1, 60, "u-17", "c-4"
      ))
    #expect(try scene.status(id) == .confirmed && scene.take(token.id) == CardScene.token)
    expect(server.operations, equals: [.consentRequest, .consentConfirm])
    let request = server.requests[0].fields
    #expect((request.text("user"), request.text("card"), request.text("channel")) == ("u-17", "c-4", "sms"))
    let confirm = server.requests[1]
    #expect((confirm.fields.text("user"), confirm.fields.text("challenge")) == ("u-17", "ch-1"))
    #expect(confirm.text(of: "codeBase64") == ConsentServer.code && confirm.fields.text("card") == nil)
    expect(.wrongState) { () throws(VaultError) in try scene.confirm(id, storing: "again", over: server) }
    expect(server.requests.count, equals: 2)
    #expect(try scene.logged(.consentRequested) == 1 && scene.logged(.consentConfirmed) == 1)
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when other characters than digits leave, and when blanks and dashes stay.
  @Test("only six digits leave the device, and nothing else is an attempt", .requirement("C1"))
  func shape() throws {
    for text in ["", "47119", "4711990", "47119a", " 47119", "4711.99", "47119九", "-71199"] {
      expect(.malformed) { () throws(VaultError) in _ = try CardScene.code(text) }
    }
    for text in ["471 199", "471\u{2013}199\r\n", "４７１１９９", "\u{200E}471199\u{202C}"] {
      let (scene, server) = (try CardScene(), ConsentServer())
      try scene.confirm(scene.request(over: server), text, over: server)
      expect(server.requests.last?.text(of: "codeBase64"), equals: "471199")
    }
  }

  /// Verified to fail when a wrong code is counted only after the answer of the server.
  @Test("five wrong codes end a consent, each counted before the server is asked", .requirement("C1"))
  func attempts() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    let place = scene.place
    for used in 1...5 {
      server.before { _ throws(VaultError) in
        guard try place.openCore().state(of: id).failures == UInt32(used) else {
          throw VaultError(peer: "OTHER", "not counted")
        }
      }
      let error = thrown { () throws(VaultError) in try scene.confirm(id, "000000", over: server) }
      #expect(error?.code == .authenticationFailed && error?.attemptsLeft == 5 - used, "\(used)")
    }
    #expect(try scene.status(id) == .failed && scene.sealed() == 0)
    expect(.wrongState) { () throws(VaultError) in try scene.confirm(id, over: server) }
    expect(server.requests.count, equals: 6)
    #expect(try scene.core.cardTokens().isEmpty)
  }

  @Test(
    "an error that is not about the code leaves the consent, with the attempt counted",
    .requirement("C1", "C8"))
  func otherErrors() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    server.before { _ throws(VaultError) in
      throw VaultError(
        peer: "FORBIDDEN", "multi-factor authentication is not enabled", hint: "enable it in the bank's app")
    }
    let error = thrown { () throws(VaultError) in try scene.confirm(id, over: server) }
    #expect(error?.code == .policy && error?.message == "multi-factor authentication is not enabled")
    expect(error?.hint, equals: "enable it in the bank's app")
    try expect(scene.core.consent(id).attemptsLeft, equals: 4)
    let second = thrown { () throws(VaultError) in
      _ = try scene.request(NewConsent("other", user: "u", card: "c"), over: server)
    }
    expect(second?.hint, equals: "enable it in the bank's app")
    try expect(scene.core.cardConsents().map(\.id), equals: [id])
    server.before(nil)
    try scene.confirm(id, over: server)
  }

  // MARK: Time

  /// Verified to fail when an expired consent is not asked for again, and when it is asked for again each time.
  @Test(
    "an expired consent is asked for again by itself, once, and says so", .requirement("C1", "C8"),
    arguments: [
      "time", "swept", "peer", "resend", "reboot",
    ])
  func renewed(by what: String) throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    switch what {
    case "peer":
      server.before { request throws(VaultError) in
        if request.operation == .consentConfirm { throw VaultError(peer: "TIMEOUT", "too late") }
      }
    case "reboot": scene.clock.reboot()
    default: scene.clock.advance(by: .seconds(301))
    }
    if what == "swept" { try scene.store("free") }
    let error = thrown { () throws(VaultError) in
      if what == "resend" {
        _ = try scene.core.resendConsent(id, over: server)
      } else {
        try scene.confirm(id, over: server)
      }
    }
    #expect(error?.code == .expired && error?.message.contains("a new one was requested") == true)
    expect(server.operations.last, equals: .consentRequest)
    let next = try #require(try scene.core.cardConsents().first { $0.status == .requested })
    #expect(
      (next.name, next.challenge, next.user, next.card, next.channel) == (
        "view", "ch-2", "u-17", "c-4", "sms"
      ))
    #expect(next.isRenewed && next.attemptsLeft == 5 && next.secondsLeft == 300)
    // It is the same for the program, which confirms it with the new code. To start over would send another one.
    #expect(next.id == id && error?.recovery.word == "nonRecoverable")
    server.before(nil)
    // The second time nobody is asked.
    scene.clock.advance(by: .seconds(301))
    let asked = server.requests.count
    let again = thrown { () throws(VaultError) in try scene.confirm(next.id, over: server) }
    #expect(again?.code == .expired && again?.hint?.contains("request a new one") == true)
    expect(server.requests.count, equals: asked)
    let new = try scene.request(over: server)
    try scene.confirm(new, over: server)
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test("where an expired consent cannot be asked for again, the error says why", .requirement("C8"))
  func notRenewed() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    scene.clock.advance(by: .seconds(301))
    server.before { _ throws(VaultError) in throw VaultError(peer: "NETWORK", "no route") }
    let error = thrown { () throws(VaultError) in try scene.confirm(id, over: server) }
    #expect(error?.code == .expired && error?.message.contains("no route") == true)
    // It was not asked for, so the next try asks.
    server.before(nil)
    expect(.expired) { () throws(VaultError) in try scene.confirm(id, over: server) }
    #expect(try scene.core.cardConsents().first { $0.status == .requested }?.isRenewed == true)
  }

  /// Verified to fail when a resend requests a new challenge.
  @Test("a resend keeps the challenge and the deadline", .requirement("C2"))
  func resent() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    scene.clock.advance(by: .seconds(290))
    let resent = try scene.core.resendConsent(id, over: server)
    #expect((resent.id, resent.challenge, resent.secondsLeft, resent.resendsLeft) == (id, "ch-1", 10, 2))
    expect(server.requests.last?.fields.text("challenge"), equals: "ch-1")
    scene.clock.advance(by: .seconds(11))
    expect(.expired) { () throws(VaultError) in try scene.confirm(id, over: server) }
  }

  /// Verified to fail when the resend is counted after the answer.
  @Test("the code is sent again at most once in 30 seconds and three times", .requirement("C2"))
  func resendLimits() throws {
    let (scene, server) = (try CardScene(), ConsentServer())
    let id = try scene.request(over: server)
    for count in 1...3 {
      _ = try scene.core.resendConsent(id, over: server)
      guard count < 3 else { break }
      scene.clock.advance(by: .seconds(29))
      let error = thrown { () throws(VaultError) in _ = try scene.core.resendConsent(id, over: server) }
      #expect(error?.code == .policy && error?.retryAfter == .seconds(1))
      scene.clock.advance(by: .seconds(1))
    }
    scene.clock.advance(by: .seconds(60))
    let error = thrown { () throws(VaultError) in _ = try scene.core.resendConsent(id, over: server) }
    #expect(error?.code == .policy && error?.retryAfter == nil)
    expect(server.operations.count { $0 == .consentResend }, equals: 3)
    try expect(scene.logged(.consentSentAgain), equals: 3)
    // A resend without an answer counts too.
    let other = try scene.request(NewConsent("other", user: "u", card: "c"), over: server)
    server.before { _ throws(VaultError) in throw VaultError(peer: "NETWORK", "no route") }
    expect(.network) { () throws(VaultError) in _ = try scene.core.resendConsent(other, over: server) }
    try expect(scene.core.consent(other).resendsLeft, equals: 2)
  }
}
