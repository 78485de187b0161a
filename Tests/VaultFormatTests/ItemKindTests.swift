import TestSupport
import Testing
import VaultFormat

@Suite("Kinds of items", .bounded)
struct ItemKindTests {
  @Test("the vault's own kinds and those of programs are known without any component")
  func table() {
    for number in UInt32(1)...4 {
      let kind = ItemKind(rawValue: number)
      #expect(kind.isKnown && !kind.hasState && kind.hasName)
      #expect(kind.isGivenWhenExpired == (number < 3))
    }
    for number in [0, 5, 15, 26, 63, 64, 70, 0x7FFF, 0x8000, 0xBFFF, 0xC000, .max] as [UInt32] {
      let kind = ItemKind(rawValue: number)
      #expect(kind.isKnown == (0x8000...0xBFFF ~= number) && kind.isKnown == kind.isOfPrograms)
      #expect(!kind.hasState && kind.mayHaveState && kind.rules.word == "kind-\(number)")
    }
  }

  /// Verified to fail when a kind that is not registered has the rules of a kind of programs.
  @Test(
    "a kind that no linked library registers has the strictest rules", arguments: [0, 5, 26, 0x7FFF, 0xC000])
  func unregistered(number: UInt32) {
    let rules = ItemKind(rawValue: number).rules
    #expect(!rules.isKnown && rules.isOfComponent(isExportable: true))
    #expect(rules.relations.guardsOthers && rules.expiry.isFixed && !rules.expiry.endsByClock)
    #expect(!rules.expiry.isGivenAfter && !rules.policy.canHavePIN && rules.state.canBeBehind)
    #expect(rules.policy.end != nil && !rules.isListedAlone)
    expect(rules.primaryAttributes(isNamed: true), equals: [1])
    #expect(rules.primaryAttributes(isNamed: false) == nil)
  }

  @Test("a password is unique by its name, and by what it is for only without one")
  func passwords() {
    for kind in [ItemKind.genericPassword, .internetPassword] {
      expect(kind.rules.primaryAttributes(isNamed: true), equals: [1])
    }
    expect(ItemKind.genericPassword.rules.primaryAttributes(isNamed: false), equals: [2, 3])
    expect(
      ItemKind.internetPassword.rules.primaryAttributes(isNamed: false), equals: [3, 15, 16, 17, 18, 19, 20])
  }
}
