import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Rules that hold for the items of components in every call", .bounded)
struct ItemRuleTests {
  private static let kinds = (1...25).filter { !(5...15 ~= $0) }.map { ItemKind(rawValue: $0) }

  private func add(
    _ kind: ItemKind, _ name: String = "n", behind pin: GuardingPIN? = nil, to core: VaultCore
  ) throws -> ItemID {
    var new = NewItem(kind)
    if kind.hasName { new.attributes[.name] = name }
    new.guardingPIN = pin
    let obtained: Component.ObtainedPIN? =
      pin?.mode == .checked
      ? .checked(SharedSecret(SecretBytes(copying: [UInt8](repeating: 4, count: 32))))
      : pin == nil ? nil : .camouflaged
    return try core.add(
      new, secret: SecretBytes(testing: "s"), by: Component(kind, pin: obtained)
    ).id
  }

  @Test("every kind is listed, renamed where it has a name, and deleted", arguments: kinds)
  func everyKind(kind: ItemKind) throws {
    let core = try TemporaryVault().makeCore()
    let id = try add(kind, to: core)
    var changes = ItemChanges()
    changes.attributes[.name] = "other"
    if kind.hasName {
      try core.update(id, changes)
      try expect(core.item(named: "other").id, equals: id)
    } else {
      expect(.policy) { () throws(VaultError) in try core.update(id, changes) }
      changes.attributes = Attributes()
      changes.removed = [1]
      expect(.policy) { () throws(VaultError) in try core.update(id, changes) }
    }
    changes = ItemChanges()
    changes.attributes[.comment] = "a comment"
    try expect(core.update(id, changes).attributes[.comment], equals: "a comment")
    try expect(core.verify().problems, equals: [])
    try expect(core.delete(Query(id: id)), equals: 1)
    try expect(core.verify().problems, equals: [])
  }

  /// Verified to fail when `ItemRule.check` is not called: a verifier becomes a prover.
  @Test("what a component reads of its item is changed by the component alone", arguments: 16...25)
  func parameters(number: UInt32) throws {
    let core = try TemporaryVault().makeCore()
    let kind = ItemKind(rawValue: number)
    let id = try add(kind, to: core)
    for code in [64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 12, 13, 15, 46, 100, 0xC000] as [UInt16] {
      var changes = ItemChanges()
      changes.attributes[Attribute<Int64>(code: code)] = 1
      if code == 13 { changes.attributes[Attribute<Int64>(code: code)] = nil }
      if code == 13 { changes.attributes[.synchronizable] = true }
      expect(.policy) { () throws(VaultError) in try core.update(id, changes) }
      let removal = ItemChanges(removed: [code])
      expect(.policy) { () throws(VaultError) in try core.update(id, removal) }
      #expect(thrown { () throws(VaultError) in try core.update(id, changes, by: Component(kind)) } == nil)
    }
    try expect(core.verify().problems, equals: [])
  }

  /// Verified to fail when `ItemRule` has no fixed attributes: the next confirmation of a consent sends another user to the peer.
  @Test(
    "what makes an item unique, and what another system said of it, is changed by the component alone",
    .requirement("C8"),
    arguments: [
      (19, 3), (20, 3), (21, 3), (21, 40), (22, 2), (22, 3), (22, 4), (22, 40), (23, 3),
    ])
  func primary(number: UInt32, code: UInt16) throws {
    let core = try TemporaryVault().makeCore()
    let kind = ItemKind(rawValue: number)
    let id = try add(kind, to: core)
    var changes = ItemChanges()
    changes.attributes[Attribute<String>(code: code)] = "other"
    expect(.policy) { () throws(VaultError) in try core.update(id, changes) }
    #expect(thrown { () throws(VaultError) in try core.update(id, changes, by: Component(kind)) } == nil)
    let removal = ItemChanges(removed: [code])
    expect(.policy) { () throws(VaultError) in try core.update(id, removal) }
  }

  @Test("the component alone prolongs what it lets expire", arguments: kinds)
  func expiry(kind: ItemKind) throws {
    let core = try TemporaryVault().makeCore()
    let id = try add(kind, to: core)
    let changes = ItemChanges(expires: .some(Instant(milliseconds: 4_000_000_000_000)))
    let isFixed = [17, 18, 19, 20, 22, 24].contains(kind.rawValue)
    let code = thrown { () throws(VaultError) in try core.update(id, changes) }?.code
    #expect(code == (isFixed ? .policy : nil))
    #expect(thrown { () throws(VaultError) in try core.update(id, changes, by: Component(kind)) } == nil)
  }

  @Test("an item with a name is not added where its kind has none", arguments: [22, 23])
  func nameless(number: UInt32) throws {
    let core = try TemporaryVault().makeCore()
    let kind = ItemKind(rawValue: number)
    expect(.policy) { () throws(VaultError) in
      _ = try core.add(NewItem(kind, name: "n"), by: Component(kind))
    }
  }

  /// Verified to fail when the end of a transaction does not look for items behind a deleted PIN.
  @Test("a PIN with items behind it is deleted only together with all of them", arguments: PINMode.allCases)
  func pin(mode: PINMode) async throws {
    let core = try TemporaryVault().makeCore()
    let pin = try add(.pin, "pin", to: core)
    let other = try add(.pin, "other pin", to: core)
    let behind = try ["a", "b"].map { try add(.otp, $0, behind: GuardingPIN(mode, item: pin), to: core) }
    let before = try core.items(matching: Query()).map(\.id)
    let error = thrown { () throws(VaultError) in try core.delete(pin) }
    #expect(error?.code == .policy && error?.advice == .deleteWithPIN)
    expect(.policy) { () throws(VaultError) in try core.delete(Query(.pin)) }
    expect(.policy) { () throws(VaultError) in
      try core.writing { transaction throws(VaultError) in
        try transaction.delete(behind[0])
        try transaction.delete(pin)
      }
    }
    let vault = Vault(core: core)
    await expect(.policy, awaiting: { _ = try await vault.delete(Query(name: "pin")) })
    await expect(.policy, awaiting: { try await vault.write { transaction in try transaction.delete(pin) } })
    try expect(core.items(matching: Query()).map(\.id), equals: before)
    try core.delete(other)
    try await vault.write { transaction in
      try transaction.delete(pin)
      for id in behind { try transaction.delete(id) }
    }
    #expect(try core.items(matching: Query()).isEmpty && core.verify().problems == [])
  }

  @Test("all items are deleted, whatever their order")
  func all() throws {
    let core = try TemporaryVault().makeCore()
    let pin = try add(.pin, "pin", to: core)
    _ = try add(.otp, "behind", behind: GuardingPIN(.checked, item: pin), to: core)
    try expect(core.delete(.all), equals: 2)
  }

  /// What a transaction did before is not lost by what it may not do.
  @Test("a replaced key stays as exportable as it was")
  func exportable() throws {
    let core = try TemporaryVault().makeCore()
    var new = NewItem(.key, name: "k")
    _ = try core.add(new, secret: SecretBytes(testing: "1"))
    new.isExportable = false
    expect(.policy) { () throws(VaultError) in
      try core.writing { transaction throws(VaultError) in
        _ = try transaction.addOrReplace(new, secret: SecretBytes(testing: "2"))
      }
    }
  }
}
