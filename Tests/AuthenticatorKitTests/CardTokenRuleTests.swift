import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Rules of card tokens", .bounded)
struct CardTokenRuleTests {
  // MARK: Sessions

  /// Verified to fail when the hash of a session is not compared, and when closing a session leaves its tokens.
  @Test("a token of a session opens with that session alone, and ends with it", .requirement("C4"))
  func session() throws {
    let scene = try CardScene()
    let (mine, other) = (try CardScene.session(1), try CardScene.session(2))
    let id = try scene.store(uses: 9, session: mine)
    let free = try scene.store("free", uses: 9)
    let foreign = try scene.store("foreign", uses: 9, session: other)
    let files = VaultFiles(place: scene.place)
    let sealed = try files.sealedSecrets()
    expect(scene.refusal(id), equals: .verificationNeeded)
    expect(scene.refusal(id, session: other), equals: .policy)
    try expect(scene.take(id, session: mine), equals: CardScene.token)
    try expect(scene.core.cardToken(id).usesLeft, equals: 8)
    try expect(scene.core.closeSession(mine), equals: 1)
    try expect(sealed.map { try files.contain($0) }, equals: [false, true, true])
    expect(scene.refusal(id, session: mine), equals: .expired)
    try expect(scene.core.closeSession(mine), equals: 0)
    #expect(try scene.take(free) == CardScene.token && scene.take(free, session: mine) == CardScene.token)
    try expect(scene.take(foreign, session: other), equals: CardScene.token)
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test("a session is 32 bytes, and two of them differ", .requirement("C4"))
  func sessions() throws {
    for count in [0, 31, 33, 64] {
      expect(.malformed) { () throws(VaultError) in
        _ = try ViewingSession(SecretBytes(zeroes: count))
      }
    }
    let (one, two) = (try ViewingSession.fresh(), try ViewingSession.fresh())
    #expect(one.bytes.byteCount == 32 && !one.bytes.isEqualInConstantTime(to: two.bytes))
    #expect(one.hash != two.hash && one.hash.count == 32)
  }

  // MARK: Card data

  /// Verified to fail when attributes are not examined, when a dash or a character that does not show hides a number, when
  /// codes of three digits are stored, and when `update` examines nothing.
  @Test("no card number and no security code is stored, in any place", .requirement("C5"))
  func cardData() throws {
    let scene = try CardScene()
    let card = try scene.store(uses: 2)
    let refused = [
      "4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111\n", "4222222222222", "378282246310005",
      "6011000990139424", "4000000000000000006", "123", "1234", "12 34", " 999\r\n",
      "4111\u{A0}1111\u{A0}1111\u{A0}1111", "4111\u{2011}1111\u{2013}1111\u{2212}1111",
      "41111111\u{200B}1111\u{AD}1111\u{FEFF}", "４１１１１１１１１１１１１１１１", "٤١١١١١١١١١١١١١١١", "４１１",
    ]
    let hidden = ["\u{FE0F}", "\u{34F}", "\u{3164}", "\u{2800}", "\0", "\u{B}", "\u{85}"]
    for text in refused + hidden.map({ "4111\($0)111111111111" }) {
      expect(
        thrown { () throws(VaultError) in try scene.store("other", secret: text) }?.code, equals: .policy,
        "\(text)"
      )
      for code in [4, 5, 6, 7, 0x8001] as [UInt16] {
        var changes = ItemChanges()
        changes.attributes[Attribute<String>(code: code)] = text
        expect(.policy) { () throws(VaultError) in try scene.core.update(card, changes) }
      }
    }
    for name in ["4111111111111111", "123", "4111-1111-1111-1111"] {
      expect(.policy) { () throws(VaultError) in try scene.store(name) }
      var changes = ItemChanges()
      changes.attributes[.name] = name
      expect(.policy) { () throws(VaultError) in try scene.core.update(card, changes) }
    }
    try expect(scene.core.cardTokens().count, equals: 1)
    let error = thrown { () throws(VaultError) in try scene.store("other", secret: "4111111111111111") }
    #expect(error?.message.contains("4111") == false && error?.hint != nil)
  }

  @Test(
    "what only looks like card data is stored", .requirement("C5"),
    arguments: [
      "4111111111111112", "12", "12345", "123456789012", "40000000000000000060", "4111x1111111111111", "12a",
      "４１", "tok_4111111111111111", "4111.1111.1111.1111", "4111111111111111é", "²³¹", "ⅠⅡⅢ",
    ])
  func notCardData(text: String) throws {
    let scene = try CardScene()
    try expect(scene.take(scene.store(secret: text)), equals: text)
  }

  @Test("other kinds may have such values", .requirement("C5"))
  func otherKinds() throws {
    let scene = try CardScene()
    _ = try scene.core.add(NewItem(.genericPassword, name: "1234"), secret: SecretBytes(testing: "123"))
    try expect(scene.core.item(named: "1234").name, equals: "1234")
  }

  // MARK: Presence

  /// Verified to fail when the access rule of a token is dropped.
  @Test("a token that asks for presence is not shown without it, and no use is lost", .requirement("C6"))
  func presence() throws {
    let scene = try CardScene(passcode: "passcode")
    let id = try scene.store(uses: 2, access: AccessControl([.userPresence]))
    #expect(scene.refusal(id) == .interactionNotAllowed || scene.refusal(id) == .verificationNeeded)
    let prompt = ScriptedPrompt([.cancel])
    let context = AuthenticationContext(reason: "", prompt: prompt)
    expect(.cancelled) { () throws(VaultError) in try scene.take(id, context: context) }
    try expect(scene.core.cardToken(id).usesLeft, equals: 2)
    let given = AuthenticationContext(reason: "")
    given.provide(try Passcode(testing: "passcode"))
    try expect(scene.take(id, context: given), equals: CardScene.token)
    #expect(try scene.core.cardToken(id).usesLeft == 1 && scene.core.cardToken(id).asksPerson)
    // Nobody is asked for a token that has ended.
    scene.clock.advance(by: .seconds(100))
    let asked = prompt.requests.count
    expect(.expired) { () throws(VaultError) in try scene.take(id, context: context) }
    expect(prompt.requests.count, equals: asked)
  }

  @Test("a token of a session that asks for presence needs both", .requirement("C4", "C6"))
  func both() throws {
    let scene = try CardScene(passcode: "passcode")
    let session = try CardScene.session()
    let id = try scene.store(uses: 2, session: session, access: AccessControl([.userPresence]))
    let given = AuthenticationContext(reason: "")
    given.provide(try Passcode(testing: "passcode"))
    expect(.verificationNeeded) { () throws(VaultError) in try scene.take(id, context: given) }
    try expect(scene.take(id, session: session, context: given), equals: CardScene.token)
  }

  // MARK: Bounds

  /// Verified to fail when the bytes are not counted.
  @Test(
    "a token of 0 bytes, of 1 MiB, without time or without uses is refused, and stores nothing",
    .requirement("C3"))
  func bounds() throws {
    let scene = try CardScene()
    let before = try scene.core.status().sequence
    for count in [0, 65_537, 1 << 20] {
      expect(.malformed) { () throws(VaultError) in
        _ = try scene.core.storeToken(
          NewCardToken("card", timeToLive: .seconds(9)), secret: SharedSecret(SecretBytes(zeroes: count)))
      }
    }
    for ttl in [Duration.zero, .milliseconds(999), .seconds(30 * 86_400 + 1), .seconds(-5)] {
      expect(.malformed) { () throws(VaultError) in try scene.store(ttl: ttl) }
    }
    expect(.malformed) { () throws(VaultError) in try scene.store(uses: 0) }
    try expect(scene.core.status().sequence, equals: before)
    let id = try scene.store(
      ttl: .seconds(30 * 86_400), uses: .max, secret: String(repeating: "x", count: 65_536))
    try expect(scene.take(id).count, equals: 65_536)
  }

  /// Verified to fail when an ended token keeps its name.
  @Test("a name is taken while its token is valid, and free when it has ended", .requirement("C3"))
  func names() throws {
    let scene = try CardScene()
    let id = try scene.store()
    expect(.duplicateItem) { () throws(VaultError) in try scene.store() }
    try scene.core.revokeToken(id)
    let next = try scene.store(secret: "another-token")
    expect(scene.refusal(id), equals: .itemNotFound)
    try expect(scene.take(next), equals: "another-token")
    _ = try scene.core.add(NewItem(.genericPassword, name: "word"), secret: SecretBytes(testing: "x"))
    expect(.duplicateItem) { () throws(VaultError) in try scene.store("word") }
  }

  @Test("only its component reads, exports or prolongs a token", .requirement("C3"))
  func component() throws {
    let scene = try CardScene()
    let id = try scene.store()
    expect(.policy) { () throws(VaultError) in _ = try scene.core.secret(of: id) }
    var changes = ItemChanges()
    changes.expires = .some(nil)
    expect(.policy) { () throws(VaultError) in try scene.core.update(id, changes) }
    let password = try scene.core.add(
      NewItem(.genericPassword, name: "word"), secret: SecretBytes(testing: "x")
    ).id
    expect(scene.refusal(password), equals: .itemNotFound)
    try expect(scene.take(id), equals: CardScene.token)
  }
}
