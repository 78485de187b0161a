import AuthenticatorKit
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Card tokens", .bounded)
struct CardTokenTests {
  // MARK: Life

  /// Verified to fail when what is found to have ended is not recorded.
  @Test(
    "a token is taken until its time is over, then it has ended for a day, then it is gone",
    .requirement("C3"))
  func life() throws {
    let scene = try CardScene()
    let id = try scene.store(ttl: .seconds(100), uses: 9)
    let files = VaultFiles(place: scene.place)
    let sealed = try #require(try files.sealedSecrets().last)
    #expect(try files.contain(sealed))
    scene.clock.advance(by: .seconds(99))
    try expect(scene.take(id), equals: CardScene.token)
    try expect(scene.core.cardToken(id).secondsLeft, equals: 1)
    scene.clock.advance(by: .seconds(1))
    try expect(scene.core.cardToken(id).status, equals: .ended)
    expect(scene.refusal(id), equals: .expired)
    #expect(try scene.sealed() == 0 && !files.contain(sealed))
    scene.clock.advance(by: .seconds(86_399))
    expect(scene.refusal(id), equals: .expired)
    try expect(scene.core.cardTokens().map(\.status), equals: [.ended])
    scene.clock.advance(by: .seconds(1))
    expect(scene.refusal(id), equals: .itemNotFound)
    #expect(try scene.core.cardTokens().isEmpty)
    try expect(scene.core.purgeTokens(), equals: 0)
    #expect(try scene.core.items(matching: Query(.cardToken)).isEmpty)
    try expect(scene.core.verify().problems, equals: [])
  }

  /// The second process knows nothing of the token. Verified to fail when a commit ends nothing, when
  /// an opening ends nothing, and when the end of a secret does not ask for the log to be cut off.
  @Test(
    "after its time the first write of any process deletes the secret, and so does an opening",
    .requirement("C3"), arguments: ["write", "open", "purge", "reboot"])
  func ends(by what: String) throws {
    let scene = try CardScene()
    try scene.store()
    try scene.store("later", ttl: .seconds(1000))
    let files = VaultFiles(place: scene.place)
    let sealed = try files.sealedSecrets()
    expect(sealed.count, equals: 2)
    let other = try scene.place.openCore()
    scene.clock.advance(by: .seconds(99))
    _ = try other.add(NewItem(.genericPassword, name: "before"), secret: SecretBytes(testing: "x"))
    try expect(scene.sealed(), equals: 2)
    if what == "reboot" { scene.clock.reboot() } else { scene.clock.advance(by: .seconds(1)) }
    switch what {
    case "open": _ = try scene.place.openCore()
    case "purge": try expect(other.purgeTokens(), equals: 1)
    default: _ = try other.add(NewItem(.genericPassword, name: "x"), secret: SecretBytes(testing: "x"))
    }
    #expect(try scene.sealed() == (what == "reboot" ? 0 : 1))
    #expect(try !files.contain(sealed[0]))
    #expect(try files.contain(sealed[1]) == (what != "reboot"))
    try expect(scene.core.verify().problems, equals: [])
    #expect(try scene.logged(.tokenEnded) == (what == "reboot" ? 2 : 1))
  }

  /// Verified to fail when the wall clock is not asked, and when a refusal is not recorded.
  @Test(
    "no clock revives a token: an hour or a day off, another boot", .requirement("C7"),
    arguments: [-86_400, -3600, -61, 161, 86_400])
  func clocks(seconds: Int64) throws {
    let scene = try CardScene()
    let id = try scene.store(uses: 9)
    let start = scene.clock.now().seconds
    for near in [-60, 160] as [Int64] {
      scene.clock.set(to: Instant(seconds: start + near))
      try expect(scene.take(id), equals: CardScene.token)
    }
    scene.clock.set(to: Instant(seconds: start + seconds))
    expect(scene.refusal(id), equals: .expired)
    scene.clock.set(to: Instant(seconds: start))
    expect(scene.refusal(id), equals: .expired)
    try expect(scene.sealed(), equals: 0)
  }

  /// Verified to fail when the boot is not compared.
  @Test(
    "a token ends with its boot, and with a boot time before its own", .requirement("C7"),
    arguments: [nil, 999, 1_000, 1_050] as [Int?])
  func boots(after seconds: Int?) throws {
    let scene = try CardScene()
    let id = try scene.store()
    let start = scene.clock.now().seconds
    scene.clock.reboot()
    if let seconds {
      // The other boot has come to the same time, and the wall clock was set back.
      scene.clock.advance(by: .seconds(seconds))
      scene.clock.set(to: Instant(seconds: start))
    }
    expect(scene.refusal(id), equals: .expired)
    try expect(scene.sealed(), equals: 0)
    // Stored 0 s after the boot, so a name that ended is free again.
    let again = try scene.store()
    try expect(scene.take(again), equals: CardScene.token)
  }

  /// Verified to fail when a token without a boot id is valid, and when one is stored.
  @Test("where the boot id cannot be read no token is stored, taken or ended", .requirement("C3"))
  func noBoot() throws {
    let scene = try CardScene()
    let id = try scene.store()
    let blind = try VaultCore.open(
      at: scene.place.path, protector: scene.place.protector,
      environment: .testing(clock: BlindClock(clock: scene.clock)))
    expect(scene.refusal(id, in: blind), equals: .io)
    expect(.io) { () throws(VaultError) in try scene.store("other", in: blind) }
    try expect(blind.purgeTokens(), equals: 0)
    try expect(scene.take(id), equals: CardScene.token)
  }

  /// Verified to fail when an opening starts no timer, when it does not tell the timer what the file has, and when the timer
  /// counts a second too long.
  @Test(
    "a program that holds the vault open deletes the secret at its time", .requirement("C3"),
    arguments: ["stored here", "stored before"])
  func timer(what: String) async throws {
    let clock = HeldClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    var new = NewCardToken("card", timeToLive: .seconds(2))
    let secret = SharedSecret(SecretBytes(testing: CardScene.token))
    // A core alone starts no timer.
    let core = try place.makeCore()
    let vault: Vault
    if what == "stored here" {
      vault = try place.open()
      // A later one, which must not be in the way.
      for (name, seconds) in [("later", 86_400), ("card", 2)] as [(String, Int64)] {
        (new.name, new.timeToLive) = (name, .seconds(seconds))
        try await CardTokens(vault).store(SecretBytes(testing: CardScene.token), as: new)
      }
    } else {
      _ = try core.storeToken(new, secret: secret)
      vault = try place.open()
    }
    let files = VaultFiles(place: place)
    let all = try files.sealedSecrets()
    expect(all.count, equals: what == "stored here" ? 2 : 1)
    clock.pass(.milliseconds(1_999))
    #expect(try files.contain(all[all.count - 1]))
    // The timer asks for 20 ms more.
    clock.pass(.milliseconds(21))
    #expect(try !files.contain(all[all.count - 1]))
    try await expect(CardTokens(vault).list().first { $0.name == "card" }?.status, equals: .ended)
  }

  @Test("the clock of the machine calls the timer")
  func machineClock() async throws {
    let vault = try TemporaryVault().make()
    let new = NewCardToken("card", timeToLive: .seconds(1))
    try await CardTokens(vault).store(SecretBytes(testing: CardScene.token), as: new)
    // To look at items ends none.
    try await awaitUntil("the secret is deleted") {
      try await !vault.items(matching: Query(.cardToken)).contains { $0.hasSecret }
    }
  }

  // MARK: Uses

  /// Verified to fail when the last use leaves the secret. That the use comes before the secret, the race of processes
  /// shows (R10).
  @Test(
    "each use is on the disk before the token is returned, and the last one deletes the secret",
    .requirement("C3"))
  func uses() throws {
    let scene = try CardScene()
    let id = try scene.store(uses: 3)
    let files = VaultFiles(place: scene.place)
    let sealed = try #require(try files.sealedSecrets().last)
    #expect(try files.contain(sealed))
    for left in [2, 1] {
      try expect(scene.take(id), equals: CardScene.token)
      let other = try scene.place.openCore()
      #expect(try other.state(of: id).usesLeft == UInt32(left) && other.cardToken(id).usesLeft == left)
    }
    try expect(scene.take(id), equals: CardScene.token)
    try expect(scene.place.openCore().cardToken(id).status, equals: .ended)
    expect(scene.refusal(id), equals: .expired)
    #expect(try !files.contain(sealed))
    #expect(try scene.logged(.tokenTaken) == 3 && scene.logged(.tokenEnded) == 1)
    try expect(scene.logged(.tokenStored), equals: 1)
  }

  /// Verified to fail when the end of a secret does not ask for the log to be cut off.
  @Test("a revoked token is deleted at once, also in a locked vault", .requirement("C3"))
  func revoked() throws {
    let scene = try CardScene(passcode: "passcode")
    let id = try scene.store()
    let files = VaultFiles(place: scene.place)
    let sealed = try #require(try files.sealedSecrets().last)
    #expect(try files.contain(sealed))
    let other = try scene.place.openCore()
    #expect(!other.isUnlocked)
    try expect(other.cardTokens().map(\.status), equals: [.valid])
    expect(scene.refusal(id, in: other), equals: .locked)
    try other.revokeToken(id)
    #expect(try !files.contain(sealed))
    expect(scene.refusal(id), equals: .expired)
    expect(.expired) { () throws(VaultError) in try scene.core.revokeToken(id) }
    try expect(scene.logged(.tokenRevoked), equals: 1)
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test("a token survives a rotation of the epoch, and ends in the midst of one", .requirement("C3"))
  func rotation() throws {
    let scene = try CardScene()
    let (first, second) = (try scene.store("first"), try scene.store("second", ttl: .seconds(1000)))
    try scene.core.beginRotation()
    scene.clock.advance(by: .seconds(100))
    expect(scene.refusal(first), equals: .expired)
    try expect(scene.take(second), equals: CardScene.token)
    while try scene.core.continueRotation() {}
    try expect(scene.sealed(), equals: 0)
    try expect(scene.core.verify().problems, equals: [])
    let third = try scene.store("third", uses: 2, session: CardScene.session())
    try scene.core.rotateEpoch()
    try expect(scene.take(third, session: CardScene.session()), equals: CardScene.token)
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test("a backup has no token, and a restored vault none that ends", .requirement("C3"))
  func backup() throws {
    let scene = try CardScene()
    let id = try scene.store()
    let path = scene.place.folder + "/data/b.vault"
    let report = try scene.core.backUp(to: path, passphrase: Passcode(testing: "p"))
    expect(report.leftOut.map(\.id), equals: [id])
    let restored = try VaultCore.restore(
      from: path, passphrase: Passcode(testing: "p"), to: scene.place.folder + "/data/r.vault",
      protector: scene.place.protector, environment: scene.place.environment
    ).core
    #expect(try restored.cardTokens().isEmpty)
    scene.clock.advance(by: .seconds(1000))
    _ = try restored.add(NewItem(.genericPassword, name: "x"), secret: SecretBytes(testing: "x"))
    try expect(restored.verify().problems, equals: [])
  }
}

/// A clock that does not advance by itself, and with it what waits for a time.
final class HeldClock: VaultClock {
  private let clock = FixedClock()
  private let calls = Mutex<[(time: UInt64, body: @Sendable () -> Void)]>([])

  func now() -> Instant { clock.now() }
  func bootMilliseconds() -> UInt64 { clock.bootMilliseconds() }
  func bootID() -> [UInt8]? { clock.bootID() }

  func call(after milliseconds: UInt64, _ body: @escaping @Sendable () -> Void) {
    let time = clock.bootMilliseconds() + milliseconds
    calls.withLock { $0.append((time, body)) }
  }

  /// Moves the clock forward, then makes the calls whose time has come.
  func pass(_ time: Duration) {
    clock.advance(by: time)
    let now = clock.bootMilliseconds()
    let due = calls.withLock { calls in
      defer { calls.removeAll { $0.time <= now } }
      return calls.filter { $0.time <= now }
    }
    for call in due { call.body() }
  }
}

/// A clock that cannot tell the boot.
struct BlindClock: VaultClock {
  let clock: FixedClock

  func now() -> Instant { clock.now() }
  func bootMilliseconds() -> UInt64 { clock.bootMilliseconds() }
  func bootID() -> [UInt8]? { nil }
}

extension VaultFiles {
  /// The seals of all secrets, in the order of their items.
  func sealedSecrets() throws -> [[UInt8]] {
    let copy = place.folder + "/seals.db"
    try RawSQLite.run(
      """
      ATTACH '\(copy)' AS o; CREATE TABLE o.t(x TEXT);
      INSERT INTO o.t SELECT group_concat('<' || hex(secret) || '>', '') FROM (SELECT secret FROM material ORDER BY row)
      """, on: place.path)
    let text = try String(decoding: Data(contentsOf: URL(fileURLWithPath: copy)), as: UTF8.self)
    try FileManager.default.removeItem(atPath: copy)
    return text.matches(of: /<([0-9A-F]{64,})>/).map { match in
      let digits = Array(match.1.utf8)
      return stride(from: 0, to: digits.count, by: 2).map { offset in
        UInt8(String(decoding: digits[offset..<offset + 2], as: UTF8.self), radix: 16)!
      }
    }
  }
}
