import TestSupport
import Testing
import VaultFormat

@Suite("Kinds of items", .bounded)
struct ItemKindTests {
  @Test("which kinds this version knows, which are of components, which have a state and a name")
  func table() {
    func numbers(where isTrue: (ItemKind) -> Bool) -> [UInt32] {
      (UInt32(0)...70).filter { isTrue(ItemKind(rawValue: $0)) }
    }
    expect(numbers(where: \.isKnown), equals: Array(1...4) + Array(16...25))
    expect(numbers(where: \.isOfAuthenticator), equals: Array(16...25))
    expect(numbers(where: \.hasState), equals: Array(16...20))
    expect(numbers { !$0.hasName }, equals: [22, 23])
    for number in [0x7FFF, 0x8000, 0xBFFF, 0xC000] as [UInt32] {
      let kind = ItemKind(rawValue: number)
      #expect(kind.isKnown == (0x8000...0xBFFF ~= number) && kind.isKnown == kind.isOfPrograms)
    }
  }

  @Test("a transaction is unique by account and label, a token set by account, others that are new by name")
  func primary() {
    expect(ItemKind.transaction.primaryAttributes(isNamed: false), equals: [3, 4])
    expect(ItemKind.tokenSet.primaryAttributes(isNamed: false), equals: [3])
    for kind in [ItemKind.responseJWT, .attachment, ItemKind(rawValue: 26), ItemKind(rawValue: 63)] {
      expect(kind.primaryAttributes(isNamed: true), equals: [1])
    }
  }

  @Test("a password is unique by its name, and by what it is for only without one")
  func passwords() {
    for kind in [ItemKind.genericPassword, .internetPassword] {
      expect(kind.primaryAttributes(isNamed: true), equals: [1])
    }
    expect(ItemKind.genericPassword.primaryAttributes(isNamed: false), equals: [2, 3])
    expect(ItemKind.internetPassword.primaryAttributes(isNamed: false), equals: [3, 15, 16, 17, 18, 19, 20])
  }
}
