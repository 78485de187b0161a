import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// The code of an entry: found by the name of the entry, and where the entry is.
///
/// Verified to fail when a code gets a name of its own, when it stays behind its entry in the vault or in the trash, when an attribute that
/// was planted deletes a PIN, and when an entry still names a code that was deleted alone.
@Suite("The code of an entry", .bounded)
struct EntryCodeTests {
  private let place = TemporaryVault()

  private func uri(_ counter: Int) throws -> OTPAuthURI {
    try OTPAuthURI(
      parsing: SecretBytes(
        testing: "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=\(counter)"))
  }

  private func make() throws -> (VaultCore, entry: ItemID) {
    let core = try place.makeCore()
    let id = try core.add(NewItem(.genericPassword, name: "shop"), secret: SecretBytes(testing: "p")).id
    let added = try core.addOTP(uri(5), named: "shop")
    #expect(added.item.name == "shop")
    return (core, id)
  }

  private func codeItem(of entry: ItemID, in core: VaultCore) throws -> Item? {
    try core.owned(by: core.reading { (transaction) throws(VaultError) in try transaction.item(entry) })
  }

  @Test("it is found by the name of the entry, and has no name itself")
  func found() throws {
    let (core, entry) = try make()
    let code = try #require(try codeItem(of: entry, in: core))
    #expect(code.name == "shop" && code.attributes[.name] == nil && code.kind == .otp)
    try expect(core.describeOTP(named: "shop").item.id, equals: code.id)
    try expect(core.item(named: "shop").id, equals: entry)
    let other = try uri(0)
    expect(.duplicateItem) { () throws(VaultError) in _ = try core.addOTP(other, named: "shop") }
    try expect(core.listing(of: .otp).items.map(\.name), equals: ["shop"])
    var changes = ItemChanges()
    changes.attributes[.name] = "store"
    try core.update(entry, changes)
    try expect(core.describeOTP(named: "store").item.id, equals: code.id)
    try expect(core.verify().problems, equals: [])
  }

  @Test("several entries have a code each, and new keys and a backup keep them")
  func several() throws {
    let (core, _) = try make()
    for name in ["a", "b"] {
      _ = try core.add(NewItem(.genericPassword, name: name), entry: EntryContent())
      _ = try core.addOTP(uri(1), named: name)
    }
    try core.rotateEpoch()
    try expect(core.verify().problems, equals: [])
    let backup = place.folder + "/data/b.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "phrase"))
    let other = TemporaryVault()
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "phrase"), to: other.path, protector: other.protector,
      environment: other.environment
    ).core
    defer { withExtendedLifetime(other) {} }
    try expect(Set(restored.listing(of: .otp).items.map(\.name)), equals: ["shop", "a", "b"])
    try expect(restored.verify().problems, equals: [])
  }

  @Test("it goes into the trash and comes back with its entry, and its counter is where it was")
  func trash() throws {
    let (core, entry) = try make()
    let code = try #require(try codeItem(of: entry, in: core)).id
    _ = try core.nextHOTPCode(of: code)
    try core.moveToTrash(entry)
    try expect(core.trash().map(\.id), equals: [entry])
    expect(.itemNotFound) { () throws(VaultError) in _ = try core.nextHOTPCode(of: code) }
    try expect(core.listing(of: .otp).items.count, equals: 0)
    try core.restoreFromTrash(entry, named: "back")
    try expect(core.describeOTP(named: "back").state.counter, equals: 6)
    _ = try core.nextHOTPCode(of: code)
    try expect(core.listing(of: .otp).items.map(\.name), equals: ["back"])
    try core.moveToTrash(entry)
    try expect(core.emptyTrash(), equals: 1)
    try expect(core.status().itemCount, equals: 0)
    try expect(core.verify().problems, equals: [])
  }

  @Test("deleted alone, it is no longer named; deleted with its entry, it is gone")
  func deletion() throws {
    let (core, entry) = try make()
    let code = try #require(try codeItem(of: entry, in: core)).id
    try core.delete(code)
    try expect(core.item(named: "shop").attributes[.ownedItem], equals: nil)
    let second = try core.addOTP(uri(0), named: "shop").item.id
    try core.moveToTrash(second)
    try expect(core.item(named: "shop").attributes[.ownedItem], equals: nil)
    _ = try core.addOTP(uri(0), named: "shop")
    try core.delete(entry)
    try core.emptyTrash()
    try expect(core.status().itemCount, equals: 0)
    try expect(core.verify().problems, equals: [])
  }

  /// Verified to fail when the name of the entry is refused as taken.
  @Test("removed alone, it goes back to the entry whose name is given, if that has none by then")
  func backToEntry() throws {
    let (core, entry) = try make()
    let code = try #require(try codeItem(of: entry, in: core)).id
    _ = try core.nextHOTPCode(of: code)
    try core.moveToTrash(code)
    let second = try core.addOTP(uri(1), named: "shop").item.id
    let taken = thrown { () throws(VaultError) in try core.restoreFromTrash(code, named: "shop") }
    expect(taken?.code, equals: .duplicateItem)
    try core.delete(second)
    try expect(core.restoreFromTrash(code, named: "shop").name, equals: "shop")
    try expect(codeItem(of: entry, in: core)?.id, equals: code)
    try expect(core.describeOTP(named: "shop").state.counter, equals: 6)
    try core.moveToTrash(code)
    try expect(core.restoreFromTrash(code, named: "alone").attributes[.name], equals: "alone")
    try expect(codeItem(of: entry, in: core)?.id, equals: nil)
    try expect(core.verify().problems, equals: [])
  }

  @Test(
    "a code that outlives its entry, because of another class, gets the name of the entry",
    arguments: [false, true])
  func outlives(inTrash: Bool) throws {
    let core = try place.makeCore()
    try core.setPasscode(Passcode(testing: "p"))
    let new = NewItem(.genericPassword, name: "shop", access: AccessControl(.whenPasscodeSet))
    let entry = try core.add(new, secret: SecretBytes(testing: "p")).id
    let code = try core.addOTP(uri(5), named: "shop").item.id
    if inTrash { try core.moveToTrash(entry) }
    try expect(core.removePasscode(Passcode(testing: "p")).items.map(\.id), equals: [entry])
    if inTrash { try core.restoreFromTrash(code) }
    try expect(core.item(named: "shop").id, equals: code)
    try expect(core.describeOTP(named: "shop").state.counter, equals: 5)
    try expect(core.verify().problems, equals: [])
    _ = try core.add(NewItem(.genericPassword, name: "shop-2"), secret: SecretBytes(testing: "p"))
  }

  @Test("what an entry names and is no code of its own does not go with it")
  func planted() throws {
    let (core, entry) = try make()
    for kind in [ItemKind.pin, .otp, .genericPassword] {
      var new = NewItem(kind, name: kind.rules.word)
      if kind == .otp { new.attributes[.otpType] = 2 }
      let id = try core.add(new, secret: SecretBytes(testing: "s"), by: Component(kind)).id
      var changes = ItemChanges()
      changes.attributes[.ownedItem] = id.bytes
      let other = try core.add(NewItem(.genericPassword, name: "x"), secret: SecretBytes(testing: "s")).id
      try core.update(other, changes)
      try expect(codeItem(of: other, in: core)?.id, equals: nil)
      try core.delete(other)
      try expect(core.item(named: kind.rules.word).id, equals: id)
    }
    try expect(codeItem(of: entry, in: core)?.name, equals: "shop")
  }
}
