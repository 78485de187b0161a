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

  private func add(to core: VaultCore, after milliseconds: Int64, name: String = "n") throws -> ItemID {
    let item = NewItem(
      .genericPassword, name: name, expires: clock.now().advanced(byMilliseconds: milliseconds))
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

  @Test("an item that a person opens expires in the same way")
  func withPerson() throws {
    let core = try place.makeCore(passcode: "passcode")
    let item = NewItem(
      .genericPassword, name: "n", access: try AccessControl(.devicePasscode),
      expires: clock.now().advanced(byMilliseconds: Self.hour))
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
