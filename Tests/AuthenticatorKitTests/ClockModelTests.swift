import AuthenticatorKit
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Wall clock, boot clock and boot id move at random: rightly, and wrongly for one command or for many. What may happen is computed
/// from the clocks alone, in ``ClockWalk/mostAhead``.
///
/// `TORTURE_SEED` replaces the seeds. Verified to fail when the recorded time follows the wall clock, when it rises by a day with each
/// opening, or by any boot time, when a candidate stays that a clock disagreed with, when the second clock counts in place of the
/// first, when items are deleted by the wall clock, and when nothing is ever deleted.
@Suite("Random clocks", .bounded, .requirement("Q6"))
struct ClockModelTests {
  static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["TORTURE_SEED"].flatMap(UInt64.init).map { [$0] } ?? Array(1...12)

  @Test(
    "nothing is deleted before its time unless clocks agreed, and all that expires is deleted in the end",
    arguments: seeds)
  func walk(seed: UInt64) throws {
    var walk = try ClockWalk(seed: seed)
    for _ in 0..<60 { try walk.step() }
    try walk.settle()
  }
}

/// A clock of which everything can be set.
private final class MovedClock: VaultClock {
  struct Reading {
    var wall: Int64
    var bootTime: Int64
    var boot: UInt8
  }
  private let reading: Mutex<Reading>

  init(_ reading: Reading) { self.reading = Mutex(reading) }

  func set(_ new: Reading) { reading.withLock { $0 = new } }
  func now() -> Instant { Instant(milliseconds: reading.withLock { $0.wall }) }
  func bootMilliseconds() -> UInt64 { UInt64(reading.withLock { $0.bootTime }) }
  func bootID() -> [UInt8]? { [UInt8](repeating: reading.withLock { $0.boot }, count: 16) }
}

private struct ClockWalk {
  static let hour: Int64 = 3_600_000
  static let day = 24 * hour

  private struct Seen {
    let clock: MovedClock.Reading
    let truth: Int64
    let isCommit: Bool
    let isBootFaked: Bool
  }

  private let seed: UInt64
  private var random: SeededGenerator
  private let clock: MovedClock
  private let place: TemporaryVault
  /// The true clocks.
  private var truth = MovedClock.Reading(wall: 1_800_000_000_000, bootTime: 1_000_000, boot: 1)
  /// By how much the machine's wall clock is wrong.
  private var error: Int64 = 0
  private var seen: [Seen] = []
  private var expiries: [ItemID: Int64] = [:]
  private var token: (boot: UInt8, ends: Int64)?
  private var storesToken = true

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    clock = MovedClock(truth)
    place = TemporaryVault(environment: .testing(clock: clock))
    _ = try place.makeCore()
    note(truth, isCommit: true, isBootFaked: false)
  }

  private mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
    Int64.random(in: range, using: &random)
  }

  private mutating func note(_ clock: MovedClock.Reading, isCommit: Bool, isBootFaked: Bool) {
    seen.append(Seen(clock: clock, truth: truth.wall, isCommit: isCommit, isBootFaked: isBootFaked))
  }

  // MARK: The world

  mutating func step() throws {
    switch number(0...9) {
    case 0...3: pass(number(1...Self.day / 4))
    case 4: pass(number(1...5 * Self.day))
    case 5: restart(after: number(60_000...20 * Self.day))
    case 6: error = error == 0 ? number(2 * Self.hour...900 * Self.day) * (number(0...3) == 0 ? -1 : 1) : 0
    default: break
    }
    var shown = truth
    shown.wall += error
    let isBootFaked = number(0...9) == 0
    if number(0...4) == 0 { shown.wall += number(-30 * Self.day...900 * Self.day) }
    if isBootFaked { shown.bootTime = max(0, shown.bootTime + number(-Self.day...900 * Self.day)) }
    try use(shown, isBootFaked: isBootFaked, writes: number(0...2) > 0)
  }

  private mutating func pass(_ time: Int64) {
    truth.wall += time
    truth.bootTime += time
  }

  /// The machine starts again, or the vault is taken to another one, which has run for longer.
  private mutating func restart(after time: Int64) {
    let bootTime = number(0...1) == 0 ? 5_000 : number(0...30 * Self.day)
    truth = MovedClock.Reading(wall: truth.wall + time, bootTime: bootTime, boot: truth.boot + 1)
  }

  /// One command in a process that sees these clocks.
  private mutating func use(_ shown: MovedClock.Reading, isBootFaked: Bool, writes: Bool) throws {
    clock.set(shown)
    note(shown, isCommit: writes, isBootFaked: isBootFaked)
    let core = try place.openCore()
    try check(core, isHonest: false)
    if writes { try change(core, shown) }
    clock.set(truth)
    // An honest process, which opens what has not expired.
    let reader = try place.openCore()
    note(truth, isCommit: false, isBootFaked: false)
    try check(reader, isHonest: true)
  }

  /// Of a program: such an item is refused when it has expired, and deleted a day later.
  private static let kind = ItemKind(rawValue: 0x8001)

  private mutating func change(_ core: VaultCore, _ shown: MovedClock.Reading) throws {
    if number(0...1) == 0 {
      let expiry = truth.wall + number(Self.hour...60 * Self.day)
      let item = NewItem(Self.kind, name: "item \(seen.count)", expires: Instant(milliseconds: expiry))
      expiries[try core.add(item, secret: SecretBytes(testing: "s")).id] = expiry
    } else if storesToken {
      storesToken = false
      clock.set(truth)
      let new = NewCardToken("card", timeToLive: .seconds(5 * 3600))
      _ = try core.storeToken(new, secret: SharedSecret(SecretBytes(testing: "t")), session: nil)
      token = (truth.boot, truth.wall + 5 * Self.hour + 60_000)
      note(truth, isCommit: true, isBootFaked: false)
    } else {
      try core.write { transaction in
        _ = try transaction.delete(transaction.add(NewItem(.genericPassword, name: "x")).id)
      }
    }
  }

  // MARK: What may be

  /// By how much the recorded time can be ahead of the true time: a day for each boot clock that was faked, and what two wrong clocks
  /// agree about.
  private var mostAhead: Int64 {
    var agreed: Int64 = 0
    for (index, first) in seen.enumerated() where first.clock.wall > first.truth {
      for second in seen[(index + 1)...] {
        if Self.agree(first.clock, second.clock) { agreed = max(agreed, first.clock.wall - second.truth) }
        if second.isCommit, second.clock.wall < first.clock.wall - Self.hour { break }
      }
    }
    return max(0, agreed) + Int64(seen.count(where: \.isBootFaked)) * Self.day
  }

  private static func agree(_ first: MovedClock.Reading, _ second: MovedClock.Reading) -> Bool {
    guard first.boot == second.boot else { return second.wall >= first.wall - hour }
    let (passed, moved) = (second.bootTime - first.bootTime, second.wall - first.wall)
    return passed >= 2 * day && abs(moved - passed) <= hour
  }

  private mutating func check(_ core: VaultCore, isHonest: Bool) throws {
    let there = Set(try core.items(matching: Query(Self.kind)).map(\.id))
    let ahead = mostAhead
    #expect(try core.clocks().recorded.milliseconds <= truth.wall + ahead, "seed \(seed)")
    for (id, expiry) in expiries where !there.contains(id) {
      #expect(expiry + Self.day <= truth.wall + ahead, "seed \(seed): deleted too early")
      expiries[id] = nil
    }
    guard isHonest else { return }
    for (id, expiry) in expiries where expiry > truth.wall + ahead {
      try expect(core.secret(of: id).byteCount, equals: 1, "seed \(seed)")
    }
    try checkToken()
  }

  /// A token ends with its boot and with its time, as soon as the vault is opened, and never comes back.
  private mutating func checkToken() throws {
    guard let token, token.boot != truth.boot || truth.wall > token.ends else { return }
    let core = try place.openCore()
    let secrets = try core.items(matching: Query(.cardToken)).count(where: \.hasSecret)
    expect(secrets, equals: 0, "seed \(seed)")
    self.token = nil
  }

  // MARK: The end

  /// The clocks are right from now on.
  mutating func settle() throws {
    error = 0
    clock.set(truth)
    _ = try place.openCore().setClockBack()
    for _ in 0..<70 {
      pass(Self.day)
      if number(0...6) == 0 { restart(after: Self.hour) }
      try use(truth, isBootFaked: false, writes: false)
    }
    pass(2 * Self.day)
    restart(after: Self.hour)
    try use(truth, isBootFaked: false, writes: false)
    restart(after: Self.hour)
    try use(truth, isBootFaked: false, writes: false)
    let left = try place.openCore().items(matching: Query())
    expect(left.filter { $0.kind == Self.kind }.count, equals: 0, "seed \(seed)")
    try expect(place.openCore().verify().problems, equals: [], "seed \(seed)")
  }
}
