import SecretMemory
import Testing
import VaultKit
import VaultStorage
import VaultTestKit

/// A row that somebody has written over, among others that are read in one go.
@Suite("Attacks on a listing")
struct AttackScanTests {
  private let place = TemporaryVault(environment: .testing())

  // Fails when a whole batch is opened before the first item of it is lent.
  @Test("a damaged row is no obstacle to the rows before it")
  func damagedInTheMiddle() throws {
    let core = try place.makeCore()
    for name in ["one", "two", "three"] { _ = try core.add(NewItem(.genericPassword, name: name)) }
    try Intruder(place: place).tamper { store throws(StorageError) in
      var row = try store.item(row: 2)!
      row.meta[row.meta.count - 1] ^= 1
      try store.updateItem(row)
    }
    // Opening looks at the sum of a small vault, and finds it: the one that is open goes on.
    var names: [String?] = []
    let error = #expect(throws: VaultError.self) {
      try core.read { transaction in
        try transaction.forEachItem { item throws(VaultError) in
          names.append(item.name)
          return true
        }
      }
    }
    #expect(error?.code == .damaged && names == ["one"])
    try core.read { transaction in
      var query = Query(.genericPassword)
      query.limit = 1
      #expect(try transaction.items(matching: query).map(\.name) == ["one"])
      try transaction.forEachItem { _ in false }
    }
  }
}
