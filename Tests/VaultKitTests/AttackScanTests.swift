import SecretMemory
import TestSupport
import Testing
import VaultKit
import VaultStorage
import VaultTestKit

/// A row that somebody has written over, among others that are read in one go.
@Suite("Attacks on a listing", .bounded)
struct AttackScanTests {
  private let place = TemporaryVault(environment: .testing())

  // Fails when a whole batch is opened before the first item of it is lent.
  @Test("a damaged row does not hide the rows before it")
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
        var walk = ItemWalk()
        while let item = try transaction.next(&walk) { names.append(item.name) }
      }
    }
    #expect(error?.code == .damaged && names == ["one"])
    try core.read { transaction in
      var query = Query(.genericPassword)
      query.limit = 1
      try expect(transaction.items(matching: query).map(\.name), equals: ["one"])
      var walk = ItemWalk()
      try expect(transaction.next(&walk)?.name, equals: "one")
    }
  }

  /// Verified to fail when `verify` does not ask whether a value's row is there.
  @Test("verify names the item whose row in the index leads elsewhere, among others with the same value")
  func changedIndex() throws {
    let core = try place.makeCore()
    var attributes = Attributes()
    attributes[.service] = "shared"
    for name in ["one", "two", "three"] {
      _ = try core.add(NewItem(.genericPassword, name: name, attributes: attributes))
    }
    let id = try core.item(named: "two").id
    try Intruder(place: place).tamper { store throws(StorageError) in
      var values: [[UInt8]] = []
      try store.forEachBlind { (value: [UInt8], row: Int64) throws(StorageError) in
        if row == 2 { values.append(value) }
        return true
      }
      for value in values {
        try store.deleteBlind(value: value, row: 2)
        try store.insertBlind(value: value.map { ~$0 }, row: 2)
      }
    }
    #expect(try core.verify().problems.contains("item \(id): one of its index rows is missing"))
  }
}
