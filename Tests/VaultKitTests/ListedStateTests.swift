import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// The states of many items are read in one walk along their rows, and each is as safe as one that is looked up.
@Suite("States of listed items", .bounded)
struct ListedStateTests {
  private let place = TemporaryVault()
  private var intruder: Intruder { Intruder(place: place) }

  @Test(
    "each item has its own state, however many states of others are between", arguments: [1, 2, 9, 10, 30])
  func own(distance: Int) throws {
    let core = try place.makeCore()
    let items = try core.make(64)
    let wanted = (0..<64).filter { $0 % distance == 0 }
    try expect(core.counters(of: wanted.map { items[$0] }), equals: wanted.map { UInt64($0) + 1 })
    try expect(core.counters(of: []), equals: [])
    // Every list is read, also one that is not in the order of the rows.
    try expect(core.counters(of: [items[5], items[3], items[3]]), equals: [6, 4, 4])
  }

  /// Verified to fail when the walk passes by an item whose state is missing.
  @Test("a state that is missing is damage; told, it is skipped", arguments: [0, 7, 15])
  func missing(index: Int) throws {
    let core = try place.makeCore()
    let items = try core.make(16)
    try intruder.tamper { store throws(StorageError) in
      #expect(try store.deleteState(row: items[index].row))
    }
    expect(.damaged) { () throws(VaultError) in _ = try core.counters(of: items) }
    expect(.damaged) { () throws(VaultError) in _ = try core.counters(of: [items[index]]) }
    try expect(core.counters(of: [items[8]]), equals: [9])
    var damaged: [ItemID] = []
    let others = try core.counters(of: items) { id, error in
      expect(error.code, equals: .damaged)
      damaged.append(id)
    }
    expect(damaged, equals: [items[index].id])
    expect(others, equals: (1...16).filter { $0 != UInt64(index) + 1 })
  }

  @Test("a state of another item, of another revision, or with another byte is damage")
  func altered() throws {
    let core = try place.makeCore()
    let items = try core.make(16)
    let rows = try intruder.tamper { store throws(StorageError) in
      [try store.state(row: items[3].row)!, try store.state(row: items[4].row)!]
    }
    var (late, altered, short, ofOther) = (rows[0], rows[0], rows[0], rows[1])
    ofOther.revision = rows[0].revision
    late.revision += 1
    altered.body[40] ^= 1
    short.body.removeLast()
    for row in [ofOther, late, altered, short, StateRow(revision: 1, body: [])] {
      try intruder.tamper { store throws(StorageError) in try store.setState(row, row: items[3].row) }
      expect(.damaged) { () throws(VaultError) in _ = try core.counters(of: items) }
      var damaged: [ItemID] = []
      let others = try core.counters(of: items) { id, _ in damaged.append(id) }
      #expect(damaged == [items[3].id] && others == (1...16).filter { $0 != 4 })
    }
    try intruder.tamper { store throws(StorageError) in try store.setState(rows[0], row: items[3].row) }
    #expect(try core.counters(of: items) == (1...16).map { UInt64($0) })
  }

  /// Verified to fail when the generation is the one that the state's own seal names.
  @Test("an old state of an item that a rotation has moved is damage")
  func ofFormerGeneration() throws {
    let core = try place.makeCore(passcode: "passcode")
    let item = try core.make(1)[0]
    let old = try intruder.tamper { store throws(StorageError) in try store.state(row: item.row)! }
    // More than one step moves, so that the keys of both generations are in force.
    try core.write { transaction in
      for index in 0..<1_200 { _ = try transaction.add(NewItem(.genericPassword, name: "n\(index)")) }
    }
    try core.beginRotation(passcode: Passcode(testing: "passcode"))
    try core.resumeRotation()
    let moved = try core.reading { transaction throws(VaultError) in try transaction.item(item.id) }
    try #require(core.isRotating && moved.generation == 2)
    try expect(core.counters(of: [moved]), equals: [1])
    try intruder.tamper { store throws(StorageError) in try store.setState(old, row: item.row) }
    expect(.damaged) { () throws(VaultError) in _ = try core.counters(of: [moved]) }
  }

  @Test("a state of a later layout, or one that the list does not know, is left out")
  func unknown() throws {
    let core = try place.makeCore()
    let items = try core.make(4)
    try intruder.seal([2] + [UInt8](repeating: 0, count: 159), asStateOf: items[1])
    try expect(core.counters(of: items), equals: [1, 3, 4])
    try expect(core.counters(of: items, refusing: 3), equals: [1, 4])
  }
}

extension VaultCore {
  /// Adds provers whose counters are 1, 2, 3 …
  fileprivate func make(_ count: Int) throws -> [Item] {
    let added = try write { transaction in
      var added: [Item] = []
      for index in 0..<count {
        var item = NewItem(.otp, name: "prover \(index)")
        item.attributes[.otpType] = 1
        item.attributes[.otpRole] = 1
        let key = SecretBytes(testing: "12345678901234567890")
        added.append(try transaction.add(item, secret: key, by: Component(.otp)))
        _ = try transaction.changeState(of: added[index].id) { state in
          state.counter = UInt64(index) + 1
        }
      }
      return added
    }
    return added
  }

  /// - Parameter unknown: A counter that the list does not know.
  fileprivate func counters(
    of items: [Item], refusing unknown: UInt64? = nil, damaged: ((ItemID, VaultError) -> Void)? = nil
  ) throws(VaultError) -> [UInt64] {
    try reading { transaction throws(VaultError) in
      var counters: [UInt64] = []
      try transaction.forEachState(of: items, damaged: damaged) { (_, state) throws(VaultError) in
        guard state.counter != unknown else { throw VaultError(.unsupported, "unknown") }
        counters.append(state.counter)
      }
      return counters
    }
  }
}
