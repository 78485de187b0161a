import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Q6: an item expires by the wall clock or by the recorded time, and a wrong clock neither moves the recorded time nor deletes.
///
/// Verified to fail when the gate asks only the wall clock, when a read ignores the head row, when the recorded time follows the wall
/// clock, when an opening deletes by the wall clock, when an opening does not note a clock that another boot will agree with, and when
/// the recorded time is set back while the vault is locked.
@Suite("Expiry, by clocks that are set", .bounded, .requirement("Q6"))
struct ExpiryTests {
  private static let hour: Int64 = 3_600_000
  private static let day = 24 * hour

  private let clock: FixedClock
  private let place: TemporaryVault

  init() {
    clock = FixedClock()
    place = TemporaryVault(environment: .testing(clock: clock))
  }

  /// An item of a program's kind: it is refused when it has expired, and deleted a day later.
  private func add(
    to core: VaultCore, after milliseconds: Int64, name: String = "n",
    _ kind: ItemKind = ItemKind(rawValue: 0x8001), _ expiry: ExpiryRule = .warn
  ) throws -> ItemID {
    var item = NewItem(kind, name: name, expires: clock.now().advanced(byMilliseconds: milliseconds))
    item.expiry = expiry
    return try core.add(item, secret: SecretBytes(testing: "s")).id
  }

  /// Any commit: it notes the time.
  private func commit(_ core: VaultCore) throws {
    _ = try core.add(NewItem(.genericPassword, name: "other"))
    _ = try core.delete(Query(name: "other"))
  }

  private func setWall(by milliseconds: Int64) {
    clock.set(to: clock.now().advanced(byMilliseconds: milliseconds))
  }

  @Test("what has expired stays expired when the wall clock is set back")
  func setBack() throws {
    let core = try place.makeCore()
    let id = try add(to: core, after: Self.hour)
    clock.advance(by: .milliseconds(Self.hour))
    try commit(core)
    setWall(by: -2 * Self.hour)
    expect(.expired) { () throws(VaultError) in _ = try core.secret(of: id) }
    let later = try place.openCore()
    expect(.expired) { () throws(VaultError) in _ = try later.secret(of: id) }
    try expect(later.items(matching: Query()).count, equals: 1)
  }

  @Test("a process that has the vault open sees the time of another process's commit")
  func anotherProcess() throws {
    let core = try place.makeCore()
    let id = try add(to: core, after: Self.hour)
    clock.advance(by: .milliseconds(Self.hour))
    try commit(place.openCore())
    setWall(by: -2 * Self.hour)
    expect(.expired) { () throws(VaultError) in _ = try core.secret(of: id) }
  }

  /// Verified to fail when the gate does not look at the rule, when it looks at the rule of any kind, and when an opening deletes
  /// what a person stored.
  @Test(
    "a password that has expired is given, unless its rule refuses it, and neither is ever deleted",
    arguments: [ItemKind.genericPassword, .internetPassword], [ExpiryRule.warn, .refuse])
  func password(kind: ItemKind, rule: ExpiryRule) throws {
    let core = try place.makeCore()
    let id = try add(to: core, after: Self.hour, kind, rule)
    let item = try core.item(named: "n")
    #expect(try item.expiry == rule && !core.expiryMoment().hasExpired(item))
    try core.pass(.milliseconds(60 * Self.day), on: clock, every: .milliseconds(Self.day))
    for _ in 0..<2 {
      let later = try place.openCore()
      let kept = try later.item(named: "n")
      #expect(try later.expiryMoment().hasExpired(kept) && later.read { try $0.hasExpired(kept) })
      if rule == .warn {
        try expect(later.secret(of: id).byteCount, equals: 1)
      } else {
        let error = thrown { () throws(VaultError) in _ = try later.secret(of: id) }
        #expect(error?.code == .expired && error?.advice == .removeExpiry(of: "n"))
      }
      try expect(later.verify().problems, equals: [])
      clock.reboot()
    }
    // The way out.
    let later = try place.openCore()
    try later.update(id, ItemChanges(expires: .some(nil)))
    try expect(later.secret(of: id).byteCount, equals: 1)
  }

  /// Verified to fail when the purge keeps only passwords, and when the rule of the kind is left out of a change.
  @Test("a key, a certificate, a credential that a person gave a date are refused then, and never deleted")
  func otherKinds() throws {
    let core = try place.makeCore()
    let kinds = [ItemKind.key, .certificate, .otp, .biokey, .clientRegistration, .attachment]
    let ids = try kinds.map { kind in
      let new = NewItem(
        kind, name: "\(kind.rawValue)", expires: clock.now().advanced(byMilliseconds: Self.hour))
      return try core.add(new, secret: SecretBytes(testing: "s"), by: Component(kind)).id
    }
    let ended = try add(to: core, after: Self.hour)
    clock.advance(by: .milliseconds(2 * Self.hour))
    for (id, kind) in zip(ids, kinds) {
      expect(.expired) { () throws(VaultError) in _ = try core.secret(of: id, by: Component(kind)) }
      var new = NewItem(kind, name: "x")
      new.expiry = .refuse
      expect(.policy) { () throws(VaultError) in _ = try core.add(new, by: Component(kind)) }
      var changes = ItemChanges()
      changes.expiry = .refuse
      expect(.policy) { () throws(VaultError) in try core.update(id, changes, by: Component(kind)) }
    }
    try core.pass(.milliseconds(10 * Self.day), on: clock, every: .milliseconds(Self.day))
    let left = Set(try place.openCore().items(matching: Query()).map(\.id))
    #expect(left.isSuperset(of: ids) && !left.contains(ended))
    try expect(place.openCore().verify().problems, equals: [])
  }

  /// Verified to fail when the secret is not sealed again for another rule, and when a replacement drops the rule.
  @Test("the rule is changed and replaced with the secret's key, and kept by all else")
  func changedRule() throws {
    let core = try place.makeCore(passcode: "passcode")
    let id = try add(to: core, after: Self.hour, .genericPassword)
    let locked = try place.openCore()
    var changes = ItemChanges()
    changes.expiry = .refuse
    expect(.locked) { () throws(VaultError) in try locked.update(id, changes) }
    try expect(core.update(id, changes).expiry, equals: .refuse)
    try core.update(id, ItemChanges(), secret: SecretBytes(testing: "t"))
    try core.rotateEpoch(passcode: Passcode(testing: "passcode"))
    #expect(try core.secret(of: id).byteCount == 1 && core.item(named: "n").expiry == .refuse)
    var new = NewItem(.genericPassword, name: "n")
    try core.write { transaction in _ = try transaction.addOrReplace(new, secret: SecretBytes(testing: "u")) }
    try expect(core.item(named: "n").expiry, equals: .warn)
    new.expiry = .refuse
    try core.write { transaction in _ = try transaction.addOrReplace(new, secret: SecretBytes(testing: "u")) }
    try expect(core.item(named: "n").expiry, equals: .refuse)
    try expect(core.verify().problems, equals: [])
  }

  /// Verified to fail when the bound is left out of an addition, and of a change.
  @Test(
    "an expiry before 1970 and after 9999 is refused", arguments: [Int64.min, -1, 253_402_300_800_000, .max])
  func bounds(milliseconds: Int64) throws {
    let core = try place.makeCore()
    let expires = Instant(milliseconds: milliseconds)
    expect(.malformed) { () throws(VaultError) in
      _ = try core.add(NewItem(.genericPassword, name: "n", expires: expires))
    }
    for end in [0, 253_402_300_799_999] as [Int64] {
      let new = NewItem(.genericPassword, name: "\(end)", expires: Instant(milliseconds: end))
      let id = try core.add(new, secret: SecretBytes(testing: "s")).id
      expect(.malformed) { () throws(VaultError) in try core.update(id, ItemChanges(expires: .some(expires)))
      }
    }
    try expect(place.openCore().verify().problems, equals: [])
  }

  @Test("an item that a person opens expires in the same way")
  func withPerson() throws {
    let core = try place.makeCore(passcode: "passcode")
    var item = NewItem(
      .genericPassword, name: "n", access: try AccessControl(.devicePasscode),
      expires: clock.now().advanced(byMilliseconds: Self.hour))
    item.expiry = .refuse
    let id = try core.add(item, secret: SecretBytes(testing: "s")).id
    clock.advance(by: .milliseconds(Self.hour))
    try commit(core)
    setWall(by: -2 * Self.hour)
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    expect(.expired) { () throws(VaultError) in _ = try core.secret(of: id, context: context) }
  }

  @Test(
    "a wrong clock refuses while it is wrong, and leaves nothing behind, whatever is opened and committed")
  func wrongClock() throws {
    let core = try place.makeCore()
    let id = try add(to: core, after: Self.hour)
    setWall(by: 400 * Self.day)
    for _ in 0..<60 { try commit(place.openCore()) }
    let wrong = try place.openCore()
    #expect(wrong.clockDoubt == .isAhead)
    expect(.expired) { () throws(VaultError) in _ = try wrong.secret(of: id) }
    setWall(by: -400 * Self.day)
    let right = try place.openCore()
    #expect(try right.clockDoubt == nil && right.secret(of: id).byteCount == 1)
    let new = try add(to: right, after: Self.hour, name: "new")
    try expect(right.secret(of: new).byteCount, equals: 1)
  }

  @Test(
    "what has expired is deleted after a day by the boot clock, and else when two boots or two days agree")
  func deletion() throws {
    _ = try add(to: place.makeCore(), after: Self.hour)
    clock.advance(by: .milliseconds(Self.hour))
    try commit(place.openCore())
    clock.advance(by: .milliseconds(Self.day))
    #expect(try place.openCore().items(matching: Query()).isEmpty)
  }

  /// The vault is only read: each opening tells what it saw.
  @Test(
    "a vault that is only read deletes when two boots agree, and not when the second disagrees",
    arguments: [true, false])
  func boots(agree: Bool) throws {
    _ = try add(to: place.makeCore(), after: Self.hour)
    setWall(by: 30 * Self.day)
    clock.reboot()
    for _ in 0..<3 { try expect(place.openCore().items(matching: Query()).count, equals: 1) }
    clock.reboot()
    setWall(by: agree ? Self.hour : -30 * Self.day)
    try expect(place.openCore().items(matching: Query()).isEmpty, equals: agree)
    clock.reboot()
    setWall(by: agree ? 0 : 30 * Self.day)
    try expect(place.openCore().items(matching: Query()).isEmpty, equals: agree)
  }

  @Test("a vault that is only read deletes when two days of one boot agree")
  func days() throws {
    _ = try add(to: place.makeCore(), after: Self.hour)
    setWall(by: 30 * Self.day)
    try expect(place.openCore().items(matching: Query()).count, equals: 1)
    clock.advance(by: .milliseconds(2 * Self.day - 1))
    try expect(place.openCore().items(matching: Query()).count, equals: 1)
    clock.advance(by: .milliseconds(1))
    #expect(try place.openCore().items(matching: Query()).isEmpty)
  }

  /// Two boots agreed with a clock that was wrong.
  private func makeAhead(_ core: VaultCore) throws {
    setWall(by: 100 * Self.day)
    for _ in 0..<2 {
      clock.reboot()
      try commit(core)
    }
    setWall(by: -100 * Self.day)
  }

  @Test("the recorded time is set back, logged, and items whose date has not passed open again")
  func reset() throws {
    let core = try place.makeCore()
    let id = try add(to: core, after: 101 * Self.day)
    try makeAhead(core)
    let behind = try place.openCore()
    #expect(behind.clockDoubt == .isBehind)
    let new = try add(to: behind, after: Self.day, name: "new")
    expect(.expired) { () throws(VaultError) in _ = try behind.secret(of: new) }
    let before = try behind.clocks()
    #expect(before.lead == -100 * Self.day)
    try expect(behind.setClockBack(), equals: before.recorded)
    #expect(try behind.clocks().lead == 0 && behind.setClockBack() == nil)
    try expect(core.secret(of: new).byteCount + core.secret(of: id).byteCount, equals: 2)
    // A process that had the vault open does not bring the old time back.
    try commit(core)
    try expect(place.openCore().clocks().lead, equals: 0)
    let entries = try core.auditEntries().filter { $0.operation == .clockReset }
    expect(entries.map(\.detail), equals: ["8640000 s back"])
  }

  @Test("with a passcode the recorded time is set back only while the vault is unlocked")
  func resetLocked() throws {
    try makeAhead(place.makeCore(passcode: "passcode"))
    let core = try place.openCore()
    expect(.locked) { () throws(VaultError) in _ = try core.setClockBack() }
    try expect(core.clocks().lead, equals: -100 * Self.day)
    try core.unlock(with: Passcode(testing: "passcode"))
    #expect(try core.setClockBack() != nil)
  }
}
