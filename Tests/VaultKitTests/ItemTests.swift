import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Items", .bounded)
struct ItemTests {
  @Test("a secret comes back after the vault is opened again")
  func roundTrip() throws {
    let place = TemporaryVault()
    let item = try place.makeCore().add(
      NewItem(.genericPassword, name: "mail"), secret: SecretBytes(testing: "correct horse"))
    let core = try place.openCore()
    try expect(core.secret(of: item.id).bytesForTesting, equals: Array("correct horse".utf8))
    try expect(core.item(named: "mail").id, equals: item.id)
  }

  @Test("secrets of any bytes and of the greatest length come back", arguments: [0, 1, 255, 65_536, 1 << 20])
  func lengths(count: Int) throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let item = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(copying: bytes))
    try expect(core.secret(of: item.id).bytesForTesting, equals: bytes)
  }

  @Test("a secret above 1 MiB is refused and nothing is added")
  func tooLong() throws {
    let core = try TemporaryVault().makeCore()
    expect(.malformed) { () throws(VaultError) in
      _ = try core.add(
        NewItem(.genericPassword, name: "n"),
        secret: SecretBytes(copying: [UInt8](repeating: 1, count: 1 << 20 | 1)))
    }
    #expect(try core.items(matching: Query()).isEmpty)
  }

  /// Verified to fail when the primary key of a password with a name is made from service and account.
  @Test(
    "two items of one name are duplicates, and two without a name for the same thing; names keep others apart",
    arguments: [ItemKind.genericPassword, .internetPassword])
  func duplicates(kind: ItemKind) throws {
    let core = try TemporaryVault().makeCore()
    var attributes = Attributes()
    for attribute in [Attribute<String>.service, .account, .server] { attributes[attribute] = "same" }
    for name in ["a", nil, "b"] { _ = try core.add(NewItem(kind, name: name, attributes: attributes)) }
    for again in [NewItem(kind, attributes: attributes), NewItem(kind, name: "a")] {
      expect(.duplicateItem) { () throws(VaultError) in _ = try core.add(again) }
    }
    expect(.duplicateItem) { () throws(VaultError) in
      _ = try core.add(NewItem(.otp, name: "a", attributes: attributes), by: Component(.otp))
    }
    try expect(core.items(matching: Query(kind, where: attributes)).map(\.name), equals: ["a", nil, "b"])
    try expect(core.verify().problems, equals: [])
  }

  @Test("a change of name, service or account is refused only where it makes a duplicate")
  func changesToDuplicates() throws {
    let core = try TemporaryVault().makeCore()
    var attributes = Attributes()
    (attributes[.service], attributes[.account]) = ("imap", "ann")
    let bare = try core.add(NewItem(.genericPassword, attributes: attributes))
    let (a, b) = (
      try core.add(NewItem(.genericPassword, name: "a")), try core.add(NewItem(.genericPassword, name: "b"))
    )
    for item in [a, b] { try core.update(item.id, ItemChanges(attributes: attributes)) }
    expect(.duplicateItem) { () throws(VaultError) in
      try core.update(a.id, ItemChanges(removed: [Attribute<String>.name.code]))
    }
    var name = Attributes()
    name[.name] = "b"
    for item in [a, bare] {
      expect(.duplicateItem) { () throws(VaultError) in
        try core.update(item.id, ItemChanges(attributes: name))
      }
    }
    try core.delete(Query(id: bare.id))
    try core.update(a.id, ItemChanges(removed: [Attribute<String>.name.code]))
    try expect(
      core.items(matching: Query(.genericPassword, where: attributes)).map(\.name), equals: [nil, "b"])
    try expect(core.verify().problems, equals: [])
  }

  @Test(
    "an update keeps id and creation date, changes what is named, and finds the item under its new name only")
  func update() throws {
    let clock = FixedClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    let core = try place.makeCore()
    let item = try core.add(NewItem(.genericPassword, name: "old"), secret: SecretBytes(testing: "1"))
    clock.advance(by: .seconds(5))
    var attributes = Attributes()
    attributes[.name] = "new"
    attributes[.comment] = "moved"
    try core.update(item.id, ItemChanges(attributes: attributes), secret: SecretBytes(testing: "2"))
    let after = try place.openCore().item(named: "new")
    expect(after.id, equals: item.id)
    expect(after.created, equals: item.created)
    expect(after.modified.milliseconds, equals: item.modified.milliseconds + 5000)
    expect(after.attributes[.comment], equals: "moved")
    try expect(core.secret(of: item.id).bytesForTesting, equals: Array("2".utf8))
    expect(.itemNotFound) { () throws(VaultError) in _ = try core.item(named: "old") }
    try expect(core.verify().problems, equals: [])
  }

  @Test("a deleted item is gone from every table and the sum agrees")
  func delete() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    for name in ["a", "b", "c"] {
      _ = try core.add(NewItem(.otp, name: name), secret: SecretBytes(testing: name), by: Component(.otp))
    }
    try expect(core.delete(Query(name: "b")), equals: 1)
    try expect(core.items(matching: Query()).map(\.name), equals: ["a", "c"])
    try expect(place.openCore().verify().problems, equals: [])
    try expect(core.delete(Query(name: "b")), equals: 0)
  }

  @Test("a search finds by indexed attributes, by others, and by kind; the order is that of insertion")
  func search() throws {
    let core = try TemporaryVault().makeCore()
    for index in 0..<40 {
      var attributes = Attributes()
      attributes[.service] = "s\(index % 4)"
      attributes[.account] = "a\(index)"
      attributes[.comment] = "c\(index % 2)"
      _ = try core.add(
        NewItem(index % 8 == 0 ? .otp : .genericPassword, name: "n\(index)", attributes: attributes),
        by: Component(index % 8 == 0 ? .otp : .genericPassword))
    }
    var wanted = Attributes()
    wanted[.service] = "s2"
    #expect(try core.items(matching: Query(where: wanted)).map(\.name) == (0..<10).map { "n\($0 * 4 + 2)" })
    wanted[.comment] = "c1"
    #expect(try core.items(matching: Query(where: wanted)).isEmpty)
    wanted = Attributes()
    wanted[.comment] = "c1"
    try expect(core.items(matching: Query(where: wanted)).count, equals: 20)
    try expect(core.items(matching: Query(.otp)).count, equals: 5)
    try expect(core.items(matching: Query(limit: 3)).map(\.name), equals: ["n0", "n1", "n2"])
  }

  @Test("an attribute put in as bytes comes back as bytes, and both spellings are one key")
  func types() throws {
    let core = try TemporaryVault().makeCore()
    var attributes = Attributes()
    attributes[.service] = "s"
    attributes[Attribute<[UInt8]>(code: 3)] = Array("ann".utf8)
    let item = try core.add(NewItem(.genericPassword, attributes: attributes))
    #expect(try core.items(matching: Query(id: item.id)).first?.attributes[.account] == nil)
    attributes[.account] = "ann"
    expect(.duplicateItem) { () throws(VaultError) in
      _ = try core.add(NewItem(.genericPassword, attributes: attributes))
    }
  }

  @Test(
    "names with control characters, empty ones and long ones are refused",
    arguments: ["", "a\u{1B}[2J", "a\nb", "\u{202E}x", String(repeating: "x", count: 256)])
  func names(name: String) throws {
    let core = try TemporaryVault().makeCore()
    expect(.malformed) { () throws(VaultError) in _ = try core.add(NewItem(.genericPassword, name: name)) }
  }

  @Test("an expired item of a program's kind answers expired for a day, then it is gone")
  func expiry() throws {
    let clock = FixedClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    let core = try place.makeCore()
    let item = try core.add(
      NewItem(ItemKind(rawValue: 0x8001), name: "n", expires: clock.now().advanced(byMilliseconds: 1000)),
      secret: SecretBytes(testing: "s"))
    try expect(core.secret(of: item.id).byteCount, equals: 1)
    clock.advance(by: .seconds(1))
    expect(.expired) { () throws(VaultError) in _ = try core.secret(of: item.id) }
    try core.pass(.seconds(24 * 3600), on: clock)
    let later = try place.openCore()
    #expect(try later.items(matching: Query()).isEmpty)
    try expect(later.verify().problems, equals: [])
  }

  @Test("what a write transaction did is gone when its closure throws")
  func rollback() throws {
    struct Stop: Error {}
    let core = try TemporaryVault().makeCore()
    #expect(throws: Stop.self) {
      try core.write { transaction in
        _ = try transaction.add(NewItem(.genericPassword, name: "n"))
        throw Stop()
      }
    }
    #expect(try core.items(matching: Query()).isEmpty)
    try expect(core.verify().problems, equals: [])
  }

  @Test("state changes are counted, durable, and need no unlocked vault")
  func state() throws {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: "1234")
    let item = try core.add(NewItem(.otp, name: "n"), secret: SecretBytes(testing: "k"), by: Component(.otp))
    let locked = try place.openCore()
    for expected in UInt64(0)..<5 {
      let used = try locked.write { transaction in
        try transaction.changeState(of: item.id) { state in
          state.counter += 1
          return state.counter - 1
        }
      }
      expect(used, equals: expected)
    }
    try expect(
      core.reading { transaction throws(VaultError) in try transaction.state(of: item.id).counter }, equals: 5
    )
    try expect(core.verify().problems, equals: [])
  }
}
