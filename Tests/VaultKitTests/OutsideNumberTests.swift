import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// The invariant "A number from outside never becomes a number under a seal" of docs/security/invariants.md.
@Suite("Numbers from outside the seals", .bounded)
struct OutsideNumberTests {
  private let place = TemporaryVault()
  private var intruder: Intruder { Intruder(place: place) }
  /// The offsets of numbers in the head row (section 8).
  private enum Offset { static let (config, sequence, nextRow, summedRows, nextAudit) = (8, 16, 24, 40, 88) }

  private func add(_ name: String, to core: VaultCore) throws(VaultError) {
    _ = try core.add(NewItem(.genericPassword, name: name))
  }

  private func remember(_ sequence: UInt64, entry: SeenCommit.Entry? = nil, of status: VaultStatus) {
    // Through another file, so that the rule of the file protector does not apply to it.
    let path = place.protector.path(of: status.deviceKey, status.vault) + ".seen"
    unsafe unlink(path)
    place.protector.noteCommit(
      SeenCommit(sequence: sequence, entry: entry), under: status.deviceKey, of: status.vault)
  }

  /// AT2. Verified to fail when a witness is believed up to 2^33, and when one that was ignored stays.
  @Test(
    "a witness that is too far ahead is ignored and told, changes no number, and is replaced by the next commit"
  )
  func absurd() throws {
    do { try add("before", to: place.makeCore()) }
    for ahead in [1 << 32 + 1, 1 << 61, 1 << 62 - 30, 1 << 62 - 2, 1 << 62, 1 << 63, UInt64.max] as [UInt64] {
      let status = try place.openCore().status()
      let seen = ahead > 1 << 60 ? ahead : status.sequence + ahead
      remember(seen, of: status)
      let core = try place.openCore()
      #expect(core.ignoresWitness && core.checkedAsCopy == nil && core.missingCommit == nil, "\(ahead)")
      try add("after \(ahead)", to: core)
      try expect(core.status().sequence, equals: status.sequence + 1)
      let now = place.protector.seenCommit(under: status.deviceKey, of: status.vault)
      expect(now?.sequence, equals: status.sequence + 1)
      #expect(try !place.openCore().ignoresWitness)
    }
  }

  @Test("a witness that is ahead by 2^32 at most is that of a newer state")
  func believed() throws {
    do { try add("before", to: place.makeCore()) }
    for ahead in [1, 2, 1 << 20, 1 << 32] as [UInt64] {
      let status = try place.openCore().status()
      remember(status.sequence + ahead, of: status)
      let core = try place.openCore()
      expect(core.missingCommit, equals: status.sequence + ahead)
      #expect(core.checkedAsCopy != nil && !core.ignoresWitness)
      try add("after \(ahead)", to: core)
      let now = try core.status().sequence
      expect(now, equals: status.sequence + ahead + 1)
      expect(
        place.protector.seenCommit(under: status.deviceKey, of: status.vault)?.sequence, equals: now)
      #expect(try place.openCore().missingCommit == nil)
    }
  }

  /// By random witnesses. Verified to fail when a witness is believed up to 2^33.
  @Test(
    "whatever witnesses say, each commit raises the number of commits by 2^32 + 1 at most, and nothing is refused"
  )
  func anyWitness() throws {
    var random = SeededGenerator()
    do { try add("before", to: place.makeCore()) }
    for round in 0..<40 {
      let before = try place.openCore().status()
      let bits = Int.random(in: 0...63, using: &random)
      let number = random.next() >> UInt64(bits)
      let mac = random.bytes(32)
      let entry =
        Bool.random(using: &random) ? SeenCommit.Entry(number: random.next() >> UInt64(bits), mac: mac) : nil
      remember(number, entry: entry, of: before)
      let core = try place.openCore()
      try add("item \(round)", to: core)
      let after = try core.status().sequence
      #expect(after > before.sequence && after - before.sequence <= 1 << 32 + 1, "\(number)")
      try expect(core.verify().problems, equals: [])
      #expect(try place.openCore().missingCommit == nil)
    }
  }

  /// Verified to fail when a head row near its end counts on.
  @Test(
    "a number of commits near its end is named, hinders nothing, and begins again with the next commit",
    arguments: [1 << 61, 1 << 62 - 30, 1 << 62 - 1] as [UInt64])
  func sequenceNearEnd(sequence: UInt64) throws {
    let backup = place.folder + "/backup"
    do { try add("before", to: place.makeCore(passcode: "passcode")) }
    try setHead(Offset.sequence, sequence)
    let core = try place.openCore()
    try expect(core.verify().countsNearEnd, equals: ["the number of its commits"])
    try expect(core.countsNearEnd(), equals: ["the number of its commits"])
    try core.unlock(with: Passcode(testing: "passcode"))
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "passphrase"))
    #expect(try core.status().sequence < 100)
    try setHead(Offset.sequence, sequence)
    let rotated = try place.openCore()
    try rotated.rotateEpoch(passcode: Passcode(testing: "passcode"))
    #expect(try rotated.status().sequence < 100)
    #expect(try rotated.verify().countsNearEnd == [] && place.openCore().missingCommit == nil)
  }

  /// Verified to fail when a restore counts on from the number of changes of keys of the backup.
  @Test("a restore begins the numbers of commits and of changes of keys again")
  func restored() throws {
    let backup = place.folder + "/backup"
    let core = try place.makeCore()
    try add("item", to: core)
    let end = Self.bytes(1 << 62 - 30)
    try setHead(Offset.sequence, 1 << 62 - 30)
    try setHead(Offset.config, 1 << 62 - 30)
    try intruder.changeHeader { $0[4] = end }
    _ = try place.openCore().backUp(to: backup, passphrase: Passcode(testing: "passphrase"))
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "passphrase"), to: place.folder + "/new/v.vault",
      protector: place.protector, environment: place.environment)
    let status = try restored.core.status()
    #expect(status.sequence < 100 && status.config <= 1 << 40 + 1)
    try restored.core.setPasscode(Passcode(testing: "passcode"))
    try expect(restored.core.verify().countsNearEnd, equals: [])
    try expect(restored.core.verify().problems, equals: [])
  }

  /// Verified to fail when a rotation counts on.
  @Test("a rotation of the epoch begins the number of changes of keys again, beside an open process")
  func configNearEnd() throws {
    do { try add("item", to: place.makeCore()) }
    try setHead(Offset.config, 1 << 62 - 30)
    try intruder.changeHeader { $0[4] = Self.bytes(1 << 62 - 30) }
    let (core, other) = (try place.openCore(), try place.openCore())
    try expect(core.verify().countsNearEnd, equals: ["the number of its changes of keys"])
    try core.rotateEpoch()
    #expect(try core.status().config < 100)
    try add("later", to: other)
    try expect(other.verify().problems, equals: [])
    try expect(other.verify().countsNearEnd, equals: [])
  }

  /// The other numbers have no way back in the file, and none of them is ever taken from outside.
  @Test(
    "the other numbers of the head row are named near their end",
    arguments: [
      (Offset.nextRow, "the number of its next item"),
      (Offset.nextAudit, "the number of its next audit entry"),
    ])
  func named(offset: Int, words: String) throws {
    do { _ = try place.makeCore() }
    try setHead(offset, 1 << 62 - 30)
    try expect(place.openCore().countsNearEnd(), equals: [words])
  }

  private func setHead(_ offset: Int, _ number: UInt64) throws {
    try intruder.changeHead { $0.replaceSubrange(offset..<offset + 8, with: Self.bytes(number)) }
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
  }
}
