import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

@Suite("Attacks with the vault file alone", .bounded)
struct AttackFileTests {
  @Test("an index that leads from one item's id to another's row is damage, not the other item's secret")
  func exchangedIndex() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    var ids: [ItemID] = []
    for name in ["a", "b", "c"] {
      ids.append(
        try core.add(NewItem(.genericPassword, name: name), secret: SecretBytes(testing: "of \(name)")).id)
    }
    try exchangeIndexEntries(place, (ids[1], 2), (ids[2], 3))
    expect(.damaged) { () throws(VaultError) in
      let again = try place.openCore()
      _ = try again.secret(of: ids[1])
    }
  }

  /// SQLite's own index of `item.id` holds the id and then the row's number, one byte for 2 to 127.
  private func exchangeIndexEntries(_ place: TemporaryVault, _ a: (ItemID, UInt8), _ b: (ItemID, UInt8))
    throws
  {
    try closed(place)
    var file = try Data(contentsOf: URL(fileURLWithPath: place.path))
    for (id, row, other) in [(a.0, a.1, b.1), (b.0, b.1, a.1)] {
      let entry = try present(file.range(of: Data(id.bytes + [row])))
      file[entry.upperBound - 1] = other
    }
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: place.path))
    try handle.write(contentsOf: file)
    try handle.close()
  }

  /// Everything into the file itself.
  private func closed(_ place: TemporaryVault) throws {
    var store = try Store.open(at: place.path, access: .readWrite)
    #expect(try store.checkpoint(truncate: true))
  }

  @Test("seventy thousand planted slots are damage, not a trap")
  func plantedSlots() throws {
    let place = TemporaryVault()
    _ = try place.makeCore()
    try Intruder(place: place).tamper { store throws(StorageError) in
      for id in Int64(1000)..<71_000 {
        try store.insertSlot(
          SlotRow(id: id, kind: 200, subject: 0, generation: 1, opener: 200, openerID: [], body: []))
      }
    }
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
  }

  @Test("header and slots from before the passcode, put back under a running process, open nothing")
  func oldHeader() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let item = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    let intruder = Intruder(place: place)
    let (header, slots) = try intruder.tamper { store throws(StorageError) in
      (try store.header(), try store.slots())
    }
    try core.setPasscode(Passcode(testing: "p"))
    core.lock()
    try intruder.tamper { store throws(StorageError) in
      try store.setHeader(header)
      try store.replaceSlots(slots)
    }
    for _ in 0..<2 {
      expect(.damaged) { () throws(VaultError) in _ = try core.secret(of: item.id) }
      #expect(!core.isUnlocked)
    }
  }

  @Test("a log whose oldest segment was cut out does not verify")
  func cutLog() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    _ = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    try core.setPasscode(Passcode(testing: "p"))
    _ = try core.add(NewItem(.genericPassword, name: "m"), secret: SecretBytes(testing: "s"))
    try expect(core.verify().problems, equals: [])
    let deleted = try Intruder(place: place).tamper { store throws(StorageError) in
      try store.deleteSegments(through: 1)
    }
    expect(deleted, equals: 1)
    try expect(core.verify().problems.count, equals: 1)
  }

  @Test("a secret that was taken out of the file is damage, not an item without a secret")
  func missingMaterial() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let item = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    try Intruder(place: place).tamper { store throws(StorageError) in
      _ = try store.deleteMaterial(row: item.row)
    }
    expect(.damaged) { () throws(VaultError) in _ = try core.secret(of: item.id) }
  }

  @Test("an old head row put back is damage at the next write, not a duplicate item")
  func oldHead() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let intruder = Intruder(place: place)
    let head = try intruder.tamper { store throws(StorageError) in try store.head() }
    _ = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    try intruder.tamper { store throws(StorageError) in try store.setHead(head) }
    expect(.damaged) { () throws(VaultError) in _ = try core.add(NewItem(.genericPassword, name: "m")) }
  }
}
