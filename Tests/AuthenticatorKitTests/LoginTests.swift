import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Logins by PIN or biokey", .bounded, .requirement("B9", "B12"))
struct LoginTests {
  private typealias Scene = PeerScene

  private func data(_ text: String) -> SharedSecret { SharedSecret(SecretBytes(testing: text)) }

  /// Verified to fail when the number is that of the entry before.
  @Test("the PIN is judged, no code is used, and the login has the number of its entry")
  func pin() throws {
    let scene = try Scene(mode: nil)
    let pin = try #require(scene.pin)
    let wrong = thrown { () throws(VaultError) in
      _ = try scene.core.logIn(pin, by: .pin, context: scene.rig.context("8307"))
    }
    #expect(wrong?.code == .authenticationFailed && wrong?.attemptsLeft == 9)
    let login = try scene.core.logIn(pin, by: .pin, context: scene.rig.context("8306"))
    let entry = try #require(scene.core.auditEntries().last)
    #expect(entry.operation == .login && entry.item == pin && entry.detail == nil)
    #expect(
      login.id == String(entry.sequence) && login.item == pin && login.attemptsLeft == 10 && !login.wasMarked)
    let next = try scene.core.logIn(pin, by: .pin, context: scene.rig.context("8306"))
    #expect(next.id != login.id)
    try expect(scene.state.counter, equals: 0)
    try expect(scene.core.verifyPIN(pin, context: scene.rig.context("8306")).item, equals: login.item)
  }

  @Test("what it is bound to is in its entry, and other data is another entry")
  func bound() throws {
    let scene = try Scene(mode: nil)
    let pin = try #require(scene.pin)
    for text in ["abc", "abd"] {
      _ = try scene.core.logIn(pin, by: .pin, data: data(text), context: scene.rig.context("8306"))
    }
    let details = try scene.core.auditEntries().filter { $0.operation == .login }.map(\.detail)
    // FIPS 180-2, B.1.
    expect(details.first, equals: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(details.count == 2 && details[0] != details[1])
  }

  @Test("the biokey logs in as the PIN does; failures count in it alone")
  func biokey() throws {
    let scene = try BiokeyScene()
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.logIn(scene.pin, by: .biometry, context: try! BiokeyScene.given(phrase: "right"))
    }
    try scene.register()
    let login = try scene.core.logIn(
      scene.pin, by: .biometry, data: data("x"), context: BiokeyScene.given(phrase: "right"))
    try expect(login.id, equals: scene.core.auditEntries().last.map { String($0.sequence) })
    expect(login.attemptsLeft, equals: 10)
    expect(.authenticationFailed) { () throws(VaultError) in
      _ = try scene.core.logIn(scene.pin, by: .biometry, context: try! BiokeyScene.given(phrase: "wrong"))
    }
    // Neither stands in for the other.
    expect(.interactionNotAllowed) { () throws(VaultError) in
      _ = try scene.core.logIn(scene.pin, by: .pin, context: try! BiokeyScene.given(phrase: "right"))
    }
    expect(.interactionNotAllowed) { () throws(VaultError) in
      _ = try scene.core.logIn(scene.pin, by: .biometry, context: try! BiokeyScene.given(pin: "8306"))
    }
    try expect(scene.pinAttemptsLeft(), equals: 10)
  }

  @Test("nothing here judges a camouflaged PIN", arguments: [true, false])
  func camouflaged(hasPeer: Bool) throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let id = try rig.masked(behind: pin)
    try rig.core.activate(id)
    rig.derivations.reset()
    let peer = Scene.answering(["login": .text("l")])
    expect(.policy) { () throws(VaultError) in
      let context = try rig.context("8306")
      _ =
        hasPeer
        ? try rig.core.logIn(pin, with: id, over: peer, by: .pin, context: context)
        : try rig.core.logIn(pin, by: .pin, context: context)
    }
    #expect(rig.derivations.count == 0 && peer.requests.isEmpty)
  }

  /// Verified to fail when the type is always `pin`.
  @Test(
    "a server gets the code, the factor and the data, and names the login",
    arguments: [LoginFactor.pin, .biometry])
  func peer(factor: LoginFactor) throws {
    let scene = try BiokeyScene()
    try scene.register()
    try scene.core.activate(scene.bank, mode: [.current, .biometric])
    let peer = Scene.answering(["login": .text("l-42")])
    let context = try BiokeyScene.given(pin: factor == .pin ? "8306" : nil, phrase: "right")
    let login = try scene.core.logIn(
      scene.pin, with: scene.bank, over: peer, by: factor, data: data("nonce"), context: context)
    #expect(login.id == "l-42" && login.attemptsLeft == 10)
    let fields = try #require(peer.requests.first).fields
    #expect(peer.operations == [.login] && fields.text("type") == factor.rawValue)
    #expect(fields.text("code") == BiokeyScene.codes[0] && fields.number("counter") == 0)
    guard case .secret(let secret)? = fields["dataBase64"] else {
      Issue.record("no data")
      return
    }
    expect(secret.expose { $0.byteCount }, equals: 5)
    let entry = try #require(scene.core.auditEntries().last)
    #expect(entry.operation == .login && entry.detail == "l-42")
    try expect(scene.core.state(of: scene.bank).counter, equals: 1)
  }

  @Test("with a suite, the data is the question", arguments: [PeerScene.Kind.countedSuite, .plainSuite])
  func suite(kind: PeerScene.Kind) throws {
    let scene = try Scene(kind)
    let (pin, peer) = (try #require(scene.pin), Scene.answering(["login": .text("l")]))
    expect(.malformed) { () throws(VaultError) in
      _ = try scene.core.logIn(
        pin, with: scene.id, over: peer, by: .pin, context: scene.rig.context("8306"))
    }
    #expect(peer.requests.isEmpty && scene.rig.derivations.count == 0)
    _ = try scene.core.logIn(
      pin, with: scene.id, over: peer, by: .pin, data: data("data"), context: scene.rig.context("8306"))
    let suite = try OCRASuite(try #require(kind.suite))
    let expected = try OCRAGenerator(key: SecretBytes(copying: Scene.key), suite: suite).code(
      for: OCRADataInput(question: Scene.request().question, counter: kind.counts ? 0 : nil))
    expect(peer.requests.first?.fields.text("code"), equals: expected)
  }

  @Test("a wrong PIN counts, and the server hears of nothing")
  func wrong() throws {
    let scene = try Scene()
    let (pin, peer) = (try #require(scene.pin), Scene.answering(["login": .text("l")]))
    for left in (0..<10).reversed() {
      let error = thrown { () throws(VaultError) in
        _ = try scene.core.logIn(
          pin, with: scene.id, over: peer, by: .pin, context: scene.rig.context("8307"))
      }
      #expect(error?.code == .authenticationFailed && error?.attemptsLeft == left)
    }
    scene.rig.derivations.reset()
    expect(.blocked) { () throws(VaultError) in
      _ = try scene.core.logIn(
        pin, with: scene.id, over: peer, by: .pin, context: scene.rig.context("8306"))
    }
    expect(.blocked) { () throws(VaultError) in
      _ = try scene.core.logIn(pin, by: .pin, context: scene.rig.context("8306"))
    }
    #expect(try peer.requests.isEmpty && scene.state.counter == 0 && scene.rig.derivations.count == 0)
  }

  /// Verified to fail when the login is logged before the answer.
  @Test(
    "a login that the server does not name is none",
    arguments: [
      [:], ["login": .text("")], ["login": .text(String(repeating: "x", count: 256))], ["login": .number(1)],
      ["login": .text("a\u{7}")],
    ] as [KeyValuePairs<String, TransportValue>])
  func unnamed(answer: KeyValuePairs<String, TransportValue>) throws {
    let scene = try Scene()
    let pin = try #require(scene.pin)
    expect(.network) { () throws(VaultError) in
      _ = try scene.core.logIn(
        pin, with: scene.id, over: Scene.answering(answer), by: .pin, context: scene.rig.context("8306"))
    }
    #expect(try scene.core.auditEntries().allSatisfy { $0.operation != .login })
    try expect(scene.state.counter, equals: 1, "a counter that was used stays used")
  }

  @Test("the credential is one behind the PIN, the factor one that the server takes, and the data short")
  func unfit() throws {
    let scene = try Scene(mode: .biometric)
    let (pin, peer) = (try #require(scene.pin), Scene.answering(["login": .text("l")]))
    var other = NewPINItem(.checked)
    other.name = "other"
    let otherPIN = try scene.core.makePIN(other, context: scene.rig.context(new: "8306")).id
    scene.rig.derivations.reset()
    func refusal(_ pin: ItemID, _ factor: LoginFactor, _ data: SharedSecret? = nil) -> VaultError.Code? {
      thrown { () throws(VaultError) in
        _ = try scene.core.logIn(
          pin, with: scene.id, over: peer, by: factor, data: data, context: scene.rig.context("8306"))
      }?.code
    }
    #expect(refusal(pin, .pin) == .policy && refusal(otherPIN, .biometry) == .policy)
    expect(refusal(pin, .biometry, data(String(repeating: "x", count: 4097))), equals: .malformed)
    expect(refusal(pin, .biometry, data("")), equals: .malformed)
    #expect(peer.requests.isEmpty && scene.rig.derivations.count == 0)
  }

  @Test("whether a PIN is set asks nobody; a blocked one is set")
  func isSet() async throws {
    let place = TemporaryVault()
    let vault = try place.make(passcode: "passcode")
    #expect(try await !PINItem.isSet(in: vault))
    let context = AuthenticationContext(reason: "")
    context.provide(new: try PIN(SecretBytes(testing: "8306")))
    let pin = try await PINItem.make(NewPINItem(.checked), in: vault, context: context)
    try await vault.write { transaction in
      try transaction.changeState(of: pin.id) { $0.isBlocked = true }
      _ = try transaction.add(NewItem(.genericPassword, name: "mail"), secret: nil)
    }
    vault.lock()
    #expect(try await PINItem.isSet(in: vault))
    #expect(try await !PINItem.isSet(named: "mail", in: vault))
    #expect(try await pin.status().isBlocked)
  }

  @Test("through the actor, with and without a server")
  func actor() async throws {
    let scene = try Scene()
    let vault = try scene.rig.place.open()
    let pin = try await PINItem(named: "pin", in: vault)
    let context = try scene.rig.context("8306")
    try await expect(pin.logIn(data: SecretBytes(testing: "x"), context: context).attemptsLeft, equals: 10)
    let peer = Scene.answering(["login": .text("l")])
    try await expect(pin.logIn(with: scene.id, over: peer, context: context).id, equals: "l")
  }
}
