import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// The trash: what is deleted comes back as it was, its name is free meanwhile, and nothing opens it there.
///
/// Verified to fail when the name stays taken, when a secret in the trash is given, when the index keeps the item, when the expiry is
/// lost, when a PIN is deleted before an item in the trash that is behind it, and when the clock alone empties the trash.
@Suite("The trash", .bounded)
struct TrashTests {
  private let clock = FixedClock()
  private let place: TemporaryVault

  init() { place = TemporaryVault(environment: .testing(clock: clock)) }

  private func add(_ name: String, to core: VaultCore) throws -> ItemID {
    var new = NewItem(.genericPassword, name: name)
    new.attributes[.service] = "service of \(name)"
    new.expires = Instant(milliseconds: 4_000_000_000_000)
    return try core.add(new, entry: EntryTests.content()).id
  }

  @Test("what is put back is as it was, with its history")
  func back() throws {
    let core = try place.makeCore()
    let id = try add("a", to: core)
    try core.update(id, ItemChanges(), secret: SecretBytes(testing: "two"))
    let before = try core.item(named: "a")
    try expect(core.moveToTrash(id), equals: true)
    try expect(core.trash().map(\.name), equals: ["a"])
    try expect(core.verify().problems, equals: [])
    let after = try place.openCore().restoreFromTrash(id)
    #expect(after.expires == before.expires && after.attributes == before.attributes && !after.isInTrash)
    try expect(core.secret(of: id).textForTesting, equals: "two")
    try expect(core.history(of: id).count, equals: 1)
    try expect(core.trash().count, equals: 0)
    try expect(core.verify().problems, equals: [])
    try expect(
      core.auditEntries().suffix(2).map(\.operation.name), equals: ["itemTrashed", "itemPutBack"])
  }

  @Test("its name is free, and no list, name or index leads to it")
  func hidden() throws {
    let core = try place.makeCore()
    let (id, _) = (try add("a", to: core), try add("b", to: core))
    try core.moveToTrash(id)
    try expect(core.items(matching: Query()).map(\.name), equals: ["b"])
    try expect(core.items(matching: Query(name: "a")).count, equals: 0)
    var query = Query()
    query.attributes[.service] = "service of a"
    try expect(core.items(matching: query).count, equals: 0)
    expect(.itemNotFound) { () throws(VaultError) in _ = try core.item(named: "a") }
    let other = try add("a", to: core)
    let taken = thrown { () throws(VaultError) in try core.restoreFromTrash(id) }
    #expect(taken?.code == .duplicateItem)
    try expect(core.restoreFromTrash(id, named: "c").name, equals: "c")
    try expect(Set(core.items(matching: Query()).map(\.id)), equals: [id, other, core.item(named: "b").id])
    try expect(core.verify().problems, equals: [])
  }

  @Test("nothing reads, uses or changes it there")
  func shut() throws {
    let core = try place.makeCore()
    let id = try add("a", to: core)
    try core.update(id, ItemChanges(), secret: SecretBytes(testing: "two"))
    let version = try present(core.history(of: id).first).version
    try core.moveToTrash(id)
    var changes = ItemChanges()
    changes.attributes[.comment] = "c"
    let errors = [
      thrown { () throws(VaultError) in _ = try core.secret(of: id) },
      thrown { () throws(VaultError) in _ = try core.entry(of: id) },
      thrown { () throws(VaultError) in _ = try core.entry(of: id, version: version) },
      thrown { () throws(VaultError) in
        _ = try core.update(id, ItemChanges(), secret: SecretBytes(testing: "x"))
      },
      thrown { [changes] () throws(VaultError) in _ = try core.update(id, changes) },
      thrown { () throws(VaultError) in _ = try core.restore(id, version: version) },
    ]
    for error in errors {
      #expect(
        error?.code == .itemNotFound && error?.message.contains("in the trash") == true, "\(error as Any)")
    }
    try expect(core.restoreFromTrash(id).attributes[.comment], equals: nil)
  }

  @Test("it is deleted after 30 days and a day by both clocks, and before that by hand")
  func ends() throws {
    let core = try place.makeCore()
    let (a, b) = (try add("a", to: core), try add("b", to: core))
    try core.moveToTrash(a)
    clock.advance(by: .seconds(29 * 86_400))
    _ = try place.openCore()
    // The wall clock alone deletes nothing.
    clock.set(to: clock.now().advanced(byMilliseconds: 40 * 86_400_000))
    try expect(place.openCore().trash().count, equals: 1)
    clock.set(to: clock.now().advanced(byMilliseconds: -40 * 86_400_000))
    try core.moveToTrash(b)
    for _ in 0..<2 {
      clock.advance(by: .seconds(3 * 86_400))
      _ = try add("c", to: core)
      try core.delete(Query(name: "c"))
    }
    try expect(place.openCore().trash().map(\.name), equals: ["b"])
    try expect(core.emptyTrash(), equals: 1)
    try expect(core.status().itemCount, equals: 0)
    try expect(core.verify().problems, equals: [])
  }

  @Test("an item in the trash that is behind a PIN keeps the PIN")
  func pin() throws {
    let core = try place.makeCore()
    let pin = try core.add(NewItem(.pin, name: "pin"), secret: SecretBytes(testing: "s"), by: Component(.pin))
      .id
    var new = NewItem(.otp, name: "code")
    new.guardingPIN = GuardingPIN(.camouflaged, item: pin)
    let code = try core.add(
      new, secret: SecretBytes(testing: "s"), by: Component(.otp, pin: .camouflaged)
    ).id
    try core.moveToTrash(code)
    let error = thrown { () throws(VaultError) in try core.delete(pin) }
    #expect(error?.code == .policy && error?.message.contains("code (in the trash)") == true)
    // What is in the trash already is deleted.
    try expect(core.moveToTrash(code), equals: false)
    try core.delete(pin)
    try expect(core.status().itemCount, equals: 0)
  }

  @Test(
    "what has no place in the trash is deleted",
    arguments: [ItemKind.pin, .biokey, .cardToken, .consent, .key, .certificate])
  func others(kind: ItemKind) throws {
    let core = try place.makeCore()
    let id = try core.add(NewItem(kind, name: "n"), secret: SecretBytes(testing: "s"), by: Component(kind)).id
    try expect(core.moveToTrash(id), equals: false)
    try expect(core.status().itemCount, equals: 0)
  }

  @Test("new keys, a backup and a restore keep it")
  func copies() throws {
    let core = try place.makeCore()
    let id = try add("a", to: core)
    try core.moveToTrash(id)
    try core.rotateEpoch()
    try expect(core.verify().problems, equals: [])
    let backup = place.folder + "/data/b.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "phrase"))
    let other = TemporaryVault(environment: .testing(clock: clock))
    let restored = try other.restoreCore(from: backup, passphrase: "phrase")
    defer { withExtendedLifetime(other) {} }
    try expect(restored.trash().map(\.name), equals: ["a"])
    try expect(restored.restoreFromTrash(id).name, equals: "a")
    try expect(EntryTests.shown(restored.entry(of: id)), equals: EntryTests.shown(EntryTests.content()))
    try expect(restored.verify().problems, equals: [])
  }

  @Test("a counter comes back where it was")
  func counter() throws {
    let core = try place.makeCore()
    var new = NewItem(.otp, name: "code")
    new.attributes[.otpType] = 1
    new.attributes[.otpRole] = 1
    new.state.counter = 41
    let id = try core.add(new, secret: SecretBytes(testing: "s"), by: Component(.otp)).id
    try core.moveToTrash(id)
    try core.restoreFromTrash(id)
    try expect(
      core.reading { (transaction) throws(VaultError) in try transaction.state(of: id).counter }, equals: 41)
  }
}
