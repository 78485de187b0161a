import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// The rules of every kind of the format, written a second time: from section 6 and section 7 of the page.
///
/// Nothing here calls a component: that the library is linked registers its kinds.
///
/// Verified to fail when the list leaves out a kind, when the list is not registered, when a PIN does not guard others, when a
/// token leaves with a backup, and when an expired password is refused by default.
@Suite("The rules of every kind", .bounded)
struct KindRulesTests {
  private func numbers(where isTrue: (KindRules) -> Bool) -> [UInt32] {
    (UInt32(0)...70).filter { isTrue(ItemKind(rawValue: $0).rules) }
  }

  /// The numbers of the page from 0 to 70.
  private let known = Array(UInt32(1)...4) + Array(UInt32(16)...25)
  private var unknown: [UInt32] { (UInt32(0)...70).filter { !known.contains($0) } }

  @Test("which kinds are known, and by which word")
  func words() {
    expect(numbers(where: \.isKnown), equals: known)
    expect(
      KindRegistry.all.map { "\($0.kind.rawValue) \($0.word)" },
      equals: [
        "1 password", "2 internet-password", "3 key", "4 certificate", "16 otp", "17 pin", "18 biokey",
        "19 token",
        "20 consent", "21 client-registration", "22 transaction", "23 token-set", "24 response-jwt",
        "25 attachment",
      ])
    expect(numbers(where: \.isListedAlone), equals: [1, 3, 16, 17, 18, 19, 20, 22])
  }

  @Test("whose secret it is")
  func owners() {
    expect(numbers { !$0.isOfComponent(isExportable: true) }, equals: [1, 2, 3, 4])
    expect(numbers { !$0.isOfComponent(isExportable: false) }, equals: [1, 2, 4])
    expect(numbers(where: \.dependsOnExport), equals: [3])
  }

  @Test("what makes an item unique, and what another system said of it")
  func attributes() {
    expect(numbers { !$0.attributes.hasName }, equals: [22, 23])
    for number in known where ![1, 2, 3, 4, 22, 23].contains(number) {
      for isNamed in [true, false] {
        expect(ItemKind(rawValue: number).rules.primaryAttributes(isNamed: isNamed), equals: [1])
      }
    }
    expect(ItemKind.transaction.rules.primaryAttributes(isNamed: false), equals: [3, 4])
    expect(ItemKind.tokenSet.rules.primaryAttributes(isNamed: false), equals: [3])
    let fixed: [UInt32: Set<UInt16>] = [19: [3], 20: [3], 21: [3, 40], 22: [2, 40]]
    for number in known {
      expect(ItemKind(rawValue: number).rules.attributes.fixed, equals: fixed[number] ?? [])
    }
  }

  @Test("what an expiry means")
  func expiry() {
    expect(numbers { $0.isKnown && $0.expiry.isFixed }, equals: [17, 18, 19, 20, 22, 24])
    expect(numbers { $0.expiry.isGivenAfter }, equals: [1, 2])
    expect(numbers { $0.expiry.endsByClock }, equals: [19, 20, 22, 24])
    expect(numbers { $0.expiry.isForKeepingOnly }, equals: [22])
    #expect(ItemKind(rawValue: 0x8000).rules.expiry.endsByClock)
  }

  @Test("which kinds have a state, and what a copy marks")
  func states() {
    expect(numbers { $0.state.presence == .always }, equals: Array(16...20))
    expect(numbers { $0.state.presence == .sometimes }, equals: unknown)
    expect(numbers { $0.isKnown && $0.state.canBeBehind }, equals: [17])
    expect(numbers { $0.state.counter != nil }, equals: [16])
    expect(numbers { $0.state.biometry != nil }, equals: [18])
  }

  @Test("what a policy can require, and what stays on the device")
  func policies() {
    expect(numbers { $0.policy.canHavePIN }, equals: [3, 16])
    expect(numbers { $0.isKnown && $0.policy.end != nil }, equals: [19, 20])
    expect(numbers { $0.policy.staysHere }, equals: [19, 20, 22])
  }

  @Test("what stays under others, and what goes with another")
  func relations() {
    expect(numbers { $0.isKnown && $0.relations.guardsOthers }, equals: [17])
    expect(numbers { $0.relations.belongsTo == .otp }, equals: [22])
    expect(numbers { $0.relations.belongsTo == .clientRegistration }, equals: [23])
    expect(numbers { $0.relations.belongsTo != nil }, equals: [22, 23])
  }

  @Test("every operation of the page has its name, and none has two")
  func operations() {
    let names = (UInt16(1)...62).map { AuditOperation(rawValue: $0).name }
    #expect(!names.contains { UInt16($0) != nil })
    expect(Set(names).count, equals: 62)
    expect(AuditOperation(rawValue: 63).name, equals: "63")
    let unchanged = (UInt16(1)...62).map(AuditOperation.init).filter { !$0.isChange }
    expect(
      unchanged.map(\.rawValue), equals: [2, 10, 17, 18, 24, 25, 26, 28, 37, 38, 40, 43, 51, 52, 53, 55])
  }

  @Test(
    "an item of a kind that nothing registers is listed, renamed and deleted, and only its component does more"
  )
  func unregistered() throws {
    let core = try TemporaryVault().makeCore()
    let kind = ItemKind(rawValue: 26)
    let id = try core.add(NewItem(kind, name: "n"), secret: SecretBytes(testing: "s"), by: Component(kind)).id
    try expect(core.items(matching: Query()).map(\.id), equals: [id])
    var changes = ItemChanges()
    changes.attributes[.account] = "another account"
    let errors = [
      thrown { () throws(VaultError) in _ = try core.secret(of: id) },
      thrown { [changes] () throws(VaultError) in _ = try core.update(id, changes) },
      thrown { () throws(VaultError) in _ = try core.update(id, ItemChanges(removed: [2])) },
    ]
    for error in errors {
      #expect(error?.code == .unsupported && error?.advice?.sentence.contains("AuthenticatorKit") == true)
    }
    try expect(core.items(matching: Query()).first?.version, equals: 1)
    changes = ItemChanges()
    changes.attributes[.name] = "m"
    try core.update(id, changes)
    let nameless = try core.add(
      NewItem(ItemKind(rawValue: 0x8000)), secret: SecretBytes(testing: "s")
    ).id
    changes.attributes[.name] = "k"
    try core.update(nameless, changes)
    try expect(core.items(matching: Query(kind)).map(\.name), equals: ["m"])
    try expect(core.verify().problems, equals: [])
    try expect(core.delete(Query(id: id)), equals: 1)
    try expect(core.verify().problems, equals: [])
  }
}
