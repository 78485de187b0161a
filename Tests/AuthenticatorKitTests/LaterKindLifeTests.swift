import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultTestKit

/// Items of a kind that a later version may define, beside tokens: with an expiry, and with a life (section 12).
@Suite("Items of a later kind that end", .bounded)
struct LaterKindLifeTests {
  private let kind = ItemKind(rawValue: 26)
  private let scene: CardScene

  init() throws { scene = try CardScene() }

  /// - Parameter life: In seconds; `nil` for an expiry after one second, and no life.
  @discardableResult
  private func add(
    _ name: String, life: UInt64? = nil, session: ViewingSession? = nil
  ) throws(VaultError) -> ItemID {
    let clock = scene.clock
    var new = NewItem(kind, name: name, expires: clock.now().advanced(byMilliseconds: 1000))
    if let life {
      let policy = TokenLife(
        issued: clock.now(), issuedBootTime: clock.bootMilliseconds(), boot: clock.bootID() ?? [],
        length: life * 1000, mostUses: 1, session: session?.hash)
      (new.tokenLife, new.expires) = (policy, policy.expires)
    }
    return try scene.core.add(
      new, secret: SecretBytes(testing: "s"), by: Component(kind, session: session?.secret)
    ).id
  }

  private func later() throws -> [Bool] { try scene.core.items(matching: Query(kind)).map(\.hasSecret) }

  private func pass(days: Int) throws {
    for _ in 0..<days {
      scene.clock.advance(by: .seconds(86_400))
      _ = try scene.core.add(NewItem(.genericPassword))
      try scene.core.delete(Query(.genericPassword))
    }
  }

  /// Verified to fail when a purge looks at the expiry of whatever may have a life, and when it looks at all that have one.
  @Test(
    "a purge of tokens leaves them, and what ended by its life loses its secret alone", .requirement("C3"),
    arguments: [false, true])
  func purge(byTake: Bool) throws {
    try add("expired")
    try add("ended", life: 1)
    let token = try scene.store()
    try pass(days: 4)
    if byTake {
      expect(scene.refusal(token), equals: .itemNotFound)
    } else {
      _ = try scene.core.purgeTokens()
    }
    try expect(later(), equals: [true, false])
    try expect(scene.core.items(matching: Query(.cardToken)).count, equals: 0)
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when the state of such an item is changed: it has none.
  @Test("what belongs to a session ends with it, whatever is in it", .requirement("C4"))
  func session() throws {
    let (session, other) = (try CardScene.session(), try CardScene.session(2))
    try add("of the session", life: 3600, session: session)
    try add("of another", life: 3600, session: other)
    let token = try scene.store(uses: 5, session: session)
    try expect(scene.core.closeSession(session), equals: 2)
    try expect(later(), equals: [false, true])
    expect(scene.refusal(token, session: session), equals: .expired)
    try expect(scene.core.closeSession(session), equals: 0)
  }

  /// Verified to fail when a state that does not open ends the call, and when it keeps the secret of its item.
  @Test(
    "a token whose state is damaged ends with its session and with its time, and hinders no other",
    .requirement("C3", "C4"), arguments: [false, true])
  func damagedState(byTime: Bool) throws {
    let session = try CardScene.session()
    let damaged = try scene.store("damaged", session: session)
    try scene.store("sound", session: session)
    let row = try #require(try scene.core.items(matching: Query(id: damaged)).first).row
    try RawSQLite.run(
      "UPDATE state SET body = CAST(substr(body, 1, length(body) - 1) || iif(substr(body, -1) = x'00', x'01', x'00') "
        + "AS BLOB) WHERE row = \(row)", on: scene.place.path)
    if byTime {
      scene.clock.advance(by: .seconds(101))
      _ = try scene.core.add(NewItem(.genericPassword, name: "x"))
    } else {
      try expect(scene.core.closeSession(session), equals: 2)
    }
    try expect(scene.sealed(), equals: 0)
  }

  /// Verified to fail when only what is known to be short-lived stays.
  @Test("what has a life is in no backup", .requirement("C3"))
  func backup() throws {
    try add("with a life", life: 3600)
    try add("without")
    let report = try scene.core.backUp(
      to: scene.place.folder + "/a.backup", passphrase: Passcode(testing: "phrase"))
    expect(report.leftOut.map(\.name), equals: ["with a life"])
    #expect(report.leftOut.map(\.reason) == [.shortLived] && report.items == 1)
  }
}
