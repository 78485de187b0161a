import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Q6: an item expires by the wall clock or by the highest time that the vault has seen, and a wrong clock does not move
/// that time for good.
///
/// Verified to fail when the gate asks only the wall clock, when a read ignores the head row, when the highest time
/// follows the wall clock at once, when the kernel is not asked, and when an opening deletes by a clock that is far
/// ahead.
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

  @Test("a wrong clock moves the highest time by a day in one opening, whatever is committed")
  func wrongClock() throws {
    let core = try place.makeCore()
    let soon = try add(to: core, after: Self.day, name: "soon")
    let late = try add(to: core, after: Self.day + Self.hour, name: "late")
    setWall(by: 400 * Self.day)
    for _ in 0..<3 { try commit(core) }
    expect(.expired) { () throws(VaultError) in _ = try core.secret(of: late) }
    setWall(by: -400 * Self.day)
    expect(.expired) { () throws(VaultError) in _ = try core.secret(of: soon) }
    try expect(core.secret(of: late).byteCount, equals: 1)
    // With the boot clock it rises further.
    clock.advance(by: .milliseconds(Self.hour))
    setWall(by: 400 * Self.day)
    try commit(core)
    setWall(by: -400 * Self.day - Self.hour)
    expect(.expired) { () throws(VaultError) in _ = try core.secret(of: late) }
  }

  @Test("a clock that a time service keeps right moves the highest time at once")
  func synchronized() throws {
    let core = try place.makeCore()
    let id = try add(to: core, after: 300 * Self.day)
    clock.setSynchronized(true)
    setWall(by: 400 * Self.day)
    try commit(core)
    setWall(by: -400 * Self.day)
    expect(.expired) { () throws(VaultError) in _ = try core.secret(of: id) }
  }

  @Test("nothing is deleted for having expired while the clock is too far ahead", arguments: [false, true])
  func deletion(isSynchronized: Bool) throws {
    let core = try place.makeCore()
    let id = try add(to: core, after: Self.hour)
    clock.setSynchronized(isSynchronized)
    setWall(by: 400 * Self.day)
    let later = try place.openCore()
    expect(later.keepsExpired, equals: !isSynchronized)
    try expect(later.items(matching: Query()).isEmpty, equals: isSynchronized)
    if !isSynchronized {
      // The clock is right again: nothing was lost.
      setWall(by: -400 * Self.day)
      let again = try place.openCore()
      #expect(try !again.keepsExpired && again.secret(of: id).byteCount == 1)
    }
  }

  @Test("a clock that is ahead and stays so is believed after as many openings as it is days ahead")
  func manyOpenings() throws {
    _ = try add(to: place.makeCore(), after: Self.hour)
    setWall(by: 3 * Self.day)
    for opening in 1...4 {
      let core = try place.openCore()
      #expect(core.keepsExpired == (opening < 3), "opening \(opening)")
      try commit(core)
    }
    #expect(try place.openCore().items(matching: Query()).isEmpty)
  }
}
