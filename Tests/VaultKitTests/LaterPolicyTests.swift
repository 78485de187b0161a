import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// Items that a later version made, or another writer made wrong: every seal of them is right.
@Suite("Policies of other writers", .bounded)
struct LaterPolicyTests {
  private func form(_ byte: UInt8, _ dataKey: borrowing SecretBytes) -> SecretBytes {
    SecretBytes.joining(SecretBytes(copying: [byte]), dataKey)
  }

  private func make(_ kind: ItemKind = .genericPassword) throws -> (TemporaryVault, Item) {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let item = try core.add(
      NewItem(kind, name: "n"), secret: SecretBytes(testing: "s"), by: Component(kind))
    return (place, item)
  }

  /// A rule of a later version.
  enum Rule: String, CaseIterable, Sendable {
    case field9, expiryOfOtherKind, field12, mode, fieldOfPIN, entryRecord, bothFlags

    func apply(to policy: inout Record, _ row: inout ItemRow) {
      var pin = Record()
      pin.set(1, u8: self == .mode ? 3 : 2)
      pin[2] = [UInt8](repeating: 1, count: 16)
      if self == .fieldOfPIN { pin[3] = [] }
      switch self {
      case .field9: policy[9] = [1]
      case .expiryOfOtherKind: policy[11] = [1]
      case .field12: policy[12] = []
      case .mode, .fieldOfPIN: policy.set(8, record: pin)
      case .entryRecord: row.flags |= 16
      case .bothFlags: row.flags |= 48
      }
    }
  }

  /// Verified to fail when an unknown field of a policy is ignored, and when flags are not looked at.
  @Test(
    "an item with a rule of a later version is listed, kept, renamed and deleted, and its secret does not open",
    arguments: Rule.allCases)
  func later(rule: Rule) throws {
    let (place, item) = try make(.otp)
    try Intruder(place: place).rewrite(item, change: rule.apply) { form(0, $0) }
    let core = try place.openCore()
    try expect(core.items(matching: Query()).map(\.id), equals: [item.id])
    let componentsOfThisVersion = [Component(.otp), Component(.otp, pin: .camouflaged)]
    for by in componentsOfThisVersion {
      expect(.unsupported) { () throws(VaultError) in _ = try core.secret(of: item.id, by: by) }
      expect(.unsupported) { () throws(VaultError) in
        try core.reading { transaction throws(VaultError) in
          _ = try transaction.useSecret(of: transaction.item(item.id), by: by)
        }
      }
      expect(.unsupported) { () throws(VaultError) in
        _ = try core.update(item.id, ItemChanges(), secret: SecretBytes(testing: "t"), by: by)
      }
    }
    try expect(core.verify().problems, equals: [])
    var changes = ItemChanges()
    changes.attributes[.name] = "other"
    try core.update(item.id, changes)
    try core.rotateEpoch()
    try expect(core.verify().problems, equals: [])
    try keeps(rule, item, place)
    try core.delete(item.id)
  }

  /// Verified to fail when only policies that this version understands are looked at.
  @Test(
    "a PIN that a rule of a later version names is not deleted before its item", arguments: [true, false])
  func pinOfLaterRule(hasOtherMode: Bool) throws {
    let (place, item) = try make(.otp)
    let pin = try place.openCore().add(NewItem(.pin, name: "pin"), by: Component(.pin)).id
    try Intruder(place: place).rewrite(
      item,
      change: { policy, _ in
        var named = Record()
        named.set(1, u8: hasOtherMode ? 3 : 2)
        named[2] = pin.bytes
        policy.set(8, record: named)
        if !hasOtherMode { policy[9] = [1] }
      },
      content: { form(0, $0) })
    let core = try place.openCore()
    expect(.policy) { () throws(VaultError) in try core.delete(pin) }
    try expect(core.delete(.all), equals: 2)
  }

  private func keeps(_ rule: Rule, _ item: Item, _ place: TemporaryVault) throws {
    let intruder = Intruder(place: place)
    let keys = try intruder.keys()
    let row = try present(try intruder.tamper { store throws(StorageError) in try store.item(row: item.row) })
    let seal = try keys.seal(Labels.meta, Labels.metaNonce)
    let policy = try Record(decoding: try seal.open(row.meta, aad: keys.metaData(row))).record(2)
    var (expected, flags) = (item.policy.record, row)
    flags.flags = 4
    rule.apply(to: &expected, &flags)
    #expect(policy == expected && row.flags == flags.flags)
  }

  /// Verified to fail when the form of the keys is not compared with the policy.
  @Test(
    "keys of another form than the policy requires are damage",
    arguments: ["0 behind a PIN", "1 without a rule", "2"])
  func form(what: String) throws {
    let (place, item) = try make(.otp)
    let isBehind = what == "0 behind a PIN"
    try Intruder(place: place).rewrite(
      item,
      change: { policy, _ in
        var pin = Record()
        pin.set(1, u8: 1)
        pin[2] = [UInt8](repeating: 1, count: 16)
        if isBehind { policy.set(8, record: pin) }
      },
      content: { form(isBehind ? 0 : what == "2" ? 2 : 1, $0) })
    let core = try place.openCore()
    let secret = SharedSecret(SecretBytes(copying: [UInt8](repeating: 0, count: 32)))
    let component = Component(.otp, pin: isBehind ? .checked(secret) : nil)
    expect(.damaged) { () throws(VaultError) in _ = try core.secret(of: item.id, by: component) }
    expect(.damaged) { () throws(VaultError) in
      _ = try core.update(item.id, ItemChanges(), secret: SecretBytes(testing: "t"), by: component)
    }
    try expect(core.verify().problems.count, equals: 1)
  }

  /// Verified to fail when the bits of the alternatives are not compared with the policy.
  @Test(
    "alternatives with other further secrets than the policy requires are damage",
    arguments: [0, 1, 4, 6, 10] as [UInt8])
  func bits(bits: UInt8) throws {
    let (place, item) = try make(.otp)
    try Intruder(place: place).rewrite(
      item,
      change: { policy, _ in
        var pin = Record()
        pin.set(1, u8: 1)
        pin[2] = [UInt8](repeating: 1, count: 16)
        policy.set(8, record: pin)
      },
      content: { _ in
        var way = Record()
        way[1] = []
        way[2] = [UInt8](repeating: 0, count: 32)
        way[4] = [UInt8](repeating: 1, count: 114)
        way.set(5, u8: bits)
        return SecretBytes(copying: [1] + Record.list([way.encoded]).encoded)
      })
    let core = try place.openCore()
    let secret = SharedSecret(SecretBytes(copying: [UInt8](repeating: 0, count: 32)))
    expect(.damaged) { () throws(VaultError) in
      _ = try core.secret(of: item.id, by: Component(.otp, pin: .checked(secret)))
    }
    try expect(core.verify().problems.count, equals: 1)
  }
}
