import AuthenticatorKit
import TestSupport
import Testing
import VaultKit

/// Verified to fail when two cases change places.
@Suite("Numbers of stored cases", .bounded)
struct NumberedTests {
  @Test("the ways of a client have the numbers of the page, section 12, and another number is none")
  func authentication() {
    let known: [ClientAuthentication] = [
      .none, .clientSecretBasic, .clientSecretPost, .clientSecretJWT, .privateKeyJWT,
    ]
    expect((UInt8.min...UInt8.max).compactMap(ClientAuthentication.init(number:)), equals: known)
    expect(known.map(\.number), equals: [1, 2, 3, 4, 5])
  }

  @Test("a delivery is absent when the server has the decision, and an unknown number says the same")
  func delivery() {
    let code = Attribute<Int64>(code: 93)
    var attributes = Attributes()
    for (state, number) in [(TransactionDelivery.told, nil), (.untold, 1), (.refused, 2)] as [(_, Int64?)] {
      attributes.delivery = state
      #expect(attributes[code] == number && attributes.delivery == state)
    }
    for number in [-1, 0, 3, 256, 257] as [Int64] {
      attributes[code] = number
      expect(attributes.delivery, equals: .told)
    }
  }
}
