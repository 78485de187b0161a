import AuthenticatorKit
import Foundation
import JOSE
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Answers to challenges of card payments", .bounded, .requirement("E1"))
struct CardAnswerTests {
  @Test(
    "six outcomes, of which two are for the server",
    arguments: [
      ("SUCCESS", CardOutcome.success, true), ("NOACTION", .noAction, true), ("FAILURE", .failure, false),
      ("ERROR", .error, false), ("CANCEL", .cancel, false), ("TIMEOUT", .timeout, false),
    ])
  func outcomes(word: String, outcome: CardOutcome, isForServer: Bool) throws {
    let scene = try CheckoutScene()
    try scene.begin()
    let answer = try scene.receive(CheckoutScene.Answer(outcome: word).token())
    #expect(answer.outcome == outcome && outcome.isForServer == isForServer)
    if isForServer {
      _ = try scene.core.answerForServer(of: "order-7")
    } else {
      expect(.policy) { () throws(VaultError) in _ = try scene.core.answerForServer(of: "order-7") }
    }
    expect(CardOutcome.allCases.count, equals: 6)
  }

  /// Verified to fail when an empty token is an answer that has to be read.
  @Test("an empty token is a failure without one")
  func withoutToken() throws {
    let scene = try CheckoutScene()
    try scene.begin()
    let answer = try scene.receive("")
    #expect(answer.outcome == .failure && answer.expires == nil)
    try expect(scene.core.challengeDetails(named: "order-7").answer, equals: answer)
    expect(.policy) { () throws(VaultError) in _ = try scene.core.answerForServer(of: "order-7") }
    try expect(scene.core.challenges().first?.expires, equals: Instant(seconds: CheckoutScene.now + 7200))
    expect(.malformed) { () throws(VaultError) in _ = try scene.verify("") }
  }

  @Test("the payload is an object, or a text of JSON, with the same meaning")
  func payloads() throws {
    let object =
      "{\"ActionCode\":\"ERROR\",\"ErrorNumber\":10011,\"ErrorDescription\":\"no\\u0007 \\\"card\\\"\",\"Validated\":false}"
    for payload in [
      object, CheckoutScene.quoted(object), " \n\(object)", CheckoutScene.quoted(" \n\(object)\n\n"),
    ] {
      let scene = try CheckoutScene()
      try scene.begin()
      let token = CheckoutScene.Answer("Payload", payload).token()
      let answer = try scene.receive(token)
      #expect(answer.outcome == .error && answer.errorNumber == 10011)
      expect(answer.errorText, equals: "no\\u{7} \"card\"")
      let verified = try scene.verify(token)
      #expect(verified.outcome == .error && verified.isValidated == false && verified.errorNumber == 10011)
    }
  }

  static let broken: [(String, String?, VaultError.Code)] = [
    // Whose answer it is.
    ("aud", nil, .malformed), ("aud", "\"req-2\"", .policy), ("aud", "\"REQ-1\"", .policy),
    ("aud", "[\"req-1\",\"req-2\"]", .policy), ("aud", "[]", .malformed), ("aud", "7", .malformed),
    ("aud", "\"\"", .policy), ("aud", "null", .malformed),
    ("a\\u0075d", "\"req-1\"", .malformed),
    ("iss", nil, .malformed), ("iss", "\"5AE1B2\"", .policy), ("iss", "7", .malformed),
    ("ConsumerSessionId", nil, .malformed), ("ConsumerSessionId", "\"0_session-1\"", .policy),
    ("ConsumerSessionId", "7", .malformed),
    // Until when.
    ("exp", nil, .malformed), ("exp", "1699999999", .expired), ("exp", "1700000000", .expired),
    ("exp", "\"1700007200\"", .malformed), ("exp", "1e300", .malformed), ("exp", "-1", .malformed),
    ("nbf", "1700000061", .policy), ("iat", "\"now\"", .malformed),
    // What it says.
    ("Payload", nil, .malformed), ("Payload", "7", .malformed), ("Payload", "null", .malformed),
    ("Payload", "\"\"", .malformed), ("Payload", "\"SUCCESS\"", .malformed), ("Payload", "{}", .malformed),
    ("Payload", "[{\"ActionCode\":\"SUCCESS\"}]", .malformed),
    ("Payload", "{\"ActionCode\":\"success\"}", .malformed),
    ("Payload", "{\"ActionCode\":\"SUCCESS \"}", .malformed),
    ("Payload", "{\"ActionCode\":7}", .malformed), ("Payload", "{\"actionCode\":\"SUCCESS\"}", .malformed),
    ("Payload", "{\"ActionCode\":\"SUCCESS\",\"ActionCode\":\"FAILURE\"}", .malformed),
    ("Payload", "{\"ActionCode\":\"SUCCESS\",\"ErrorNumber\":\"0\"}", .malformed),
    ("Payload", "{\"ActionCode\":\"SUCCESS\",\"ErrorNumber\":-1}", .malformed),
    ("Payload", "{\"ActionCode\":\"SUCCESS\",\"Validated\":\"true\"}", .malformed),
    ("Payload", "{\"ActionCode\":\"SUCCESS\",\"ErrorDescription\":[]}", .malformed),
    ("Payload", "\"{\\\"ActionCode\\\":\\\"SUCCESS\\\"} x\"", .malformed),
    ("Payload", "\"\\\"{\\\\\\\"ActionCode\\\\\\\":\\\\\\\"SUCCESS\\\\\\\"}\\\"\"", .malformed),
    (
      "Payload",
      "\"{\\\"ActionCode\\\":\\\"SUCCESS\\\",\\\"Action\\\\u0043ode\\\":\\\"FAILURE\\\"}\"", .malformed
    ),
    ("Payload", "{\"ActionCode\":\"SUCCESS\",\"x\":" + String(repeating: "[", count: 10_000), .malformed),
  ]

  /// Verified to fail when `aud` is compared only where it is there, and when several audiences are enough.
  @Test("another answer, and one that is not readable, is refused and stores nothing", arguments: broken)
  func refused(name: String, value: String?, code: VaultError.Code) throws {
    let scene = try CheckoutScene()
    try scene.begin()
    let token = CheckoutScene.Answer(name, value).token()
    expect(code) { () throws(VaultError) in _ = try scene.receive(token) }
    expect(code) { () throws(VaultError) in _ = try scene.verify(token) }
    try scene.expectUnanswered()
  }

  @Test("the latest expiry that a token can have is kept, and what is later is refused")
  func latest() throws {
    let scene = try CheckoutScene()
    try scene.begin()
    expect(.malformed) { () throws(VaultError) in
      _ = try scene.receive(CheckoutScene.Answer("exp", "9007199254740993").token())
    }
    try scene.expectUnanswered()
    let answer = try scene.receive(CheckoutScene.Answer("exp", "9007199254740992").token())
    expect(answer.expires, equals: Instant(seconds: 1 << 53))
    try expect(scene.core.challenges().first?.expires, equals: answer.expires)
  }

  @Test("names of members are compared in their letters", arguments: ["aud", "iss", "exp", "Payload"])
  func letters(name: String) throws {
    var answer = CheckoutScene.Answer()
    let value = answer[name]
    answer[name] = nil
    answer[name == "Payload" ? "payload" : name.uppercased()] = value
    let scene = try CheckoutScene()
    try scene.begin()
    let token = answer.token()
    expect(.malformed) { () throws(VaultError) in _ = try scene.receive(token) }
    try scene.expectUnanswered()
  }

  @Test("a token that is none is refused and stores nothing")
  func noTokens() throws {
    let scene = try CheckoutScene()
    try scene.begin()
    let payload = Base64URL.text(Array(CheckoutScene.Answer().json.utf8))
    let none = Base64URL.text(Array("{\"alg\":\"none\"}".utf8))
    let twice = Base64URL.text(Array("{\"alg\":\"HS256\",\"alg\":\"HS256\"}".utf8))
    let critical = Base64URL.text(Array("{\"alg\":\"HS256\",\"crit\":[\"b64\"],\"b64\":false}".utf8))
    for (token, code) in [
      ("x", .malformed), ("a.b", .malformed), ("\(CheckoutScene.Answer().token()).e30.e30", .malformed),
      ("\(none).\(payload).", .authenticationFailed), ("\(none).\(payload).QQ", .authenticationFailed),
      ("\(twice).\(payload).QQ", .malformed), ("\(critical).\(payload).QQ", .unsupported),
      (CheckoutScene.Answer().token() + "\n", .malformed), (CheckoutScene.Answer().token() + "=", .malformed),
      (String(repeating: "A", count: 1 << 20) + ".e30.QQ", .malformed),
    ] as [(String, VaultError.Code)] {
      expect(code) { () throws(VaultError) in _ = try scene.receive(token) }
      expect(code) { () throws(VaultError) in _ = try scene.verify(token) }
    }
    try scene.expectUnanswered()
  }

  /// Verified to fail when the server checks the claims alone.
  @Test("only the server's key says that an answer is true: another key, and each altered byte, is refused")
  func server() throws {
    let scene = try CheckoutScene()
    let token = CheckoutScene.Answer().token()
    let answer = try scene.verify(token)
    #expect(answer.outcome == .success && answer.isValidated == true)
    expect(answer.expires, equals: Instant(seconds: CheckoutScene.now + 7200))
    let other = CheckoutScene.Answer().token(key: "another key of the very same kind and length")
    expect(.authenticationFailed) { () throws(VaultError) in _ = try scene.verify(other) }
    // The client cannot tell, and says so by having no function that does.
    try scene.begin()
    try expect(scene.receive(other).outcome, equals: .success)
    for offset in stride(from: 0, to: token.utf8.count, by: 7) {
      let index = token.index(token.startIndex, offsetBy: offset)
      var altered = token
      altered.replaceSubrange(index...index, with: token[index] == "A" ? "B" : "A")
      #expect(thrown { () throws(VaultError) in _ = try scene.verify(altered) } != nil)
    }
    scene.clock.advance(by: .seconds(7200))
    expect(.expired) { () throws(VaultError) in _ = try scene.verify(token) }
  }

  @Test("a server's key has 32 bytes or more, and is no public key")
  func serverKeys() throws {
    for text in [
      "", "short", String(repeating: "k", count: 31), "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI",
    ] {
      expect(.policy) { () throws(VaultError) in _ = try ServerKey(SecretBytes(testing: text)) }
    }
    _ = try ServerKey(SecretBytes(testing: String(repeating: "k", count: 32)))
  }

  /// Verified to fail when `CardAnswer` has a property `isValidated`.
  @Test("no type of the client has a function that calls an answer verified or valid")
  func words() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/AuthenticatorKit/ResponseJWT")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 8)
    for file in files where file.lastPathComponent != "ServerKey.swift" {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      where line.contains("public ") {
        #expect(!line.lowercased().contains(/verif|valid|trust|authentic(?!ation)/), "\(line)")
      }
    }
  }

  @Test("no error has a word of the token")
  func errors() throws {
    let scene = try CheckoutScene()
    try scene.begin()
    for (name, value) in [
      ("Payload", "{\"ActionCode\":\"canary4711\"}"), ("aud", "\"canary4711\""),
      ("canary4711", "1,\"canary4711\":2"),
      ("ConsumerSessionId", "\"canary4711\""), ("Payload", "\"canary4711\""),
    ] {
      let error = thrown { () throws(VaultError) in
        _ = try scene.receive(CheckoutScene.Answer(name, value).token())
      }
      let shown = "\(try #require(error))"
      #expect(!shown.contains("4711") && !shown.contains("\n"))
    }
    #expect(try !scene.core.auditEntries().contains { "\($0)".contains("4711") })
  }
}
