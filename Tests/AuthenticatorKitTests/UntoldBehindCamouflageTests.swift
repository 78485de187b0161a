import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Behind a camouflaged PIN one stored code tells the PIN of all accounts, so none is stored.
@Suite("Decisions that a server does not have, behind a camouflaged PIN", .bounded)
struct UntoldBehindCamouflageTests {
  /// Verified to fail when the code is kept for every PIN.
  @Test(
    "no code is kept: the PIN is asked for again, and the same counter gives the same code",
    .requirement("B6", "R12"),
    arguments: [nil, TransactionScene.suite])
  func again(suite: String?) throws {
    let scene = try CamouflagedScene(suite: suite)
    let id = try scene.pushed()
    let error = try scene.loseAcceptance(of: id)
    #expect(error.advice == .acceptAgain && error.recovery.word == "nonRecoverable")
    try scene.expectNoCode()
    // A contact cannot tell it, and says so.
    let received = try scene.core.receiveTransactions(
      for: scene.bank, over: scene.server, context: scene.context())
    expect(received.notices, equals: [.decisionNeedsPIN(alias: "t-1")])
    let counter = try scene.core.state(of: scene.bank).counter
    let decision = try scene.core.acceptTransaction(
      id, over: scene.server, context: scene.context(pin: "7294"))
    #expect(decision.transaction.delivery == .told && decision.factor == .pin)
    let sent = scene.server.requests.filter { $0.operation == .transactionAnswer }.map(\.fields)
    #expect(sent.count == 2 && sent[0].word("code") == sent[1].word("code"))
    #expect(sent[0].count("counter") == sent[1].count("counter"))
    try expect(scene.core.state(of: scene.bank).counter, equals: counter)
    try scene.expectNoCode()
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test("the prompt shows the text again; who leaves it changes nothing", .requirement("B6"))
  func shown() throws {
    let scene = try CamouflagedScene()
    let id = try scene.pushed()
    _ = try scene.loseAcceptance(of: id)
    let prompt = ScriptedPrompt([.cancel])
    expect(.cancelled) { () throws(VaultError) in
      _ = try scene.core.acceptTransaction(
        id, over: scene.server, context: AuthenticationContext(reason: "", prompt: prompt))
    }
    expect(prompt.requests.map(\.text?.text), equals: [TransactionScene.text])
    try expect(scene.core.transactionDetails(of: id).transaction.delivery, equals: .untold)
  }

  @Test("another PIN makes another code, which the server refuses: that ends it", .requirement("B6", "R12"))
  func otherPIN() throws {
    let scene = try CamouflagedScene()
    let id = try scene.pushed()
    _ = try scene.loseAcceptance(of: id)
    scene.server.failOnce(.transactionAnswer, VaultError(peer: "CODE", "no"))
    expect(.authenticationFailed) { () throws(VaultError) in
      _ = try scene.core.acceptTransaction(id, over: scene.server, context: try! scene.context(pin: "7295"))
    }
    let sent = scene.server.requests.filter { $0.operation == .transactionAnswer }
      .map { $0.fields.word("code") }
    #expect(sent.count == 2 && sent[0] != sent[1])
    try expect(scene.core.transactionDetails(of: id).transaction.delivery, equals: .refused)
    try scene.expectNoCode()
  }

  /// Verified to fail with the error of commit d4900947, where the vault is "damaged".
  @Test(
    "after its counter was set back, the acceptance is not made again until it is ahead",
    .requirement("B6"))
  func setBack() throws {
    let scene = try CamouflagedScene()
    let id = try scene.pushed()
    _ = try scene.loseAcceptance(of: id)
    let counter = try scene.core.state(of: scene.bank).counter
    try scene.core.setCounter(of: scene.bank, to: 0, force: true, context: scene.context(pin: "7294"))
    let error = thrown { () throws(VaultError) in
      _ = try scene.core.acceptTransaction(id, over: scene.server, context: try! scene.context(pin: "7294"))
    }
    #expect(error?.code == .wrongState && error?.message.contains("counter \(counter - 1)") == true)
    try scene.core.setCounter(of: scene.bank, to: counter)
    let decision = try scene.core.acceptTransaction(
      id, over: scene.server, context: scene.context(pin: "7294"))
    expect(decision.transaction.delivery, equals: .told)
  }

  @Test("if the PIN is not given again, it lapses a day after its time", .requirement("B6"))
  func lapses() throws {
    let scene = try CamouflagedScene()
    let id = try scene.pushed()
    _ = try scene.loseAcceptance(of: id)
    try scene.core.pass(.seconds(25 * 3600 + 71), on: scene.clock)
    scene.server.forget()
    try scene.core.pass(.seconds(3 * 24 * 3600), on: scene.clock)
    #expect(try scene.place.openCore().items(matching: Query(id: id)).isEmpty)
  }
}

/// A vault without a passcode, with an activated credential behind the camouflaged PIN 7294.
private struct CamouflagedScene {
  let clock = FixedClock()
  let place: TemporaryVault
  let core: VaultCore
  let bank: ItemID
  let server = TransactionServer()

  init(suite: String? = nil) throws {
    place = TemporaryVault(environment: .testing(clock: clock))
    core = try place.makeCore(passcode: nil)
    let pin = try core.makePIN(NewPINItem(.camouflaged)).id
    var random = SeededGenerator(seed: 5)
    let key = SecretBytes(copying: random.bytes(32))
    let given = try BiokeyScene.given(pin: "7294")
    if let suite {
      let new = NewOCRACredential(try OCRASuite(suite), name: "bank")
      bank = try core.addOCRA(new, key: key, pin: pin, context: given).item.id
    } else {
      let uri = try OTPAuthURI(kind: .hotp(counter: 3), account: "a", secret: key)
      bank = try core.addOTP(uri, named: "bank", pin: pin, context: given).item.id
    }
    try core.activate(bank)
  }

  func context(pin: String? = nil) throws -> AuthenticationContext { try BiokeyScene.given(pin: pin) }

  func pushed() throws -> ItemID {
    server.push()
    return try core.receiveTransaction(for: bank, over: server, context: context())!.id
  }

  /// Accepts a transaction, and loses that on the way.
  func loseAcceptance(of id: ItemID) throws -> VaultError {
    server.failOnce(.transactionAnswer, VaultError(peer: "NETWORK", "away"))
    return try #require(
      thrown { () throws(VaultError) in
        let context = AuthenticationContext(reason: "")
        context.provide(try PIN(SecretBytes(testing: "7294")))
        _ = try core.acceptTransaction(id, over: server, context: context)
      })
  }

  /// No code that was sent is in an attribute or in the data of an item.
  func expectNoCode() throws {
    let codes = server.requests.compactMap { $0.fields.word("code") }
    #expect(!codes.isEmpty)
    for item in try core.items(matching: Query(.transaction)) {
      let kept = try core.storedAnswer(of: item)
      #expect(kept?.code == nil)
      for code in item.attributes.codes {
        let bytes = item.attributes.bytes(of: code) ?? []
        #expect(!codes.contains { String(decoding: bytes, as: UTF8.self).contains($0) })
      }
    }
  }
}
