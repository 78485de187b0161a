import Foundation
import TestSupport
import Testing
import VaultStorage

@Suite("The store's rows", .bounded)
struct StoreTests {
  let folder = TemporaryFolder()

  @Test("a new vault is one file of mode 0600 that holds the first rows")
  func create() throws {
    do {
      var store = try makeVault(at: folder("a.vault"))
      try expect(store.counts(), equals: RowCounts(items: 3, materials: 3, states: 4, blinds: 3))
      let isReadOnly = store.isReadOnly
      #expect(!isReadOnly)
    }
    expect(folder.listing.count, equals: 1)
    #expect(folder.listing[0].contains(" 100600 "))
    var store = try Store.open(at: folder("a.vault"), access: .readWrite)
    try expect(store.header().mac, equals: SeededBytes.of(2, count: 32))
    try expect(store.counts().summed, equals: 13)
    let identity = store.fileIdentity
    #expect(folder.listing[0].hasSuffix(" \(identity)"))
  }

  @Test("header and head are replaced by what is set")
  func headerAndHead() throws {
    var store = try makeVault(at: folder("v"))
    let header = HeaderRow(body: [1], mac: SeededBytes.of(9, count: 32))
    try store.write { (store: inout Store) throws(StorageError) in
      try store.setHeader(header)
      try store.setHead([])
    }
    try expect(store.header(), equals: header)
    try expect(store.head(), equals: [])
  }

  @Test("slots come by ascending id, are deleted and replaced, and an id is taken once")
  func slots() throws {
    var store = try makeVault(at: folder("v"))
    var extreme = sampleSlot(.max)
    extreme.openerID = []
    extreme.kind = .max
    extreme.subject = .max
    try store.write { (store: inout Store) throws(StorageError) in
      try store.insertSlot(extreme)
      try store.insertSlot(sampleSlot(3))
    }
    try expect(store.slots(), equals: [sampleSlot(1), sampleSlot(2), sampleSlot(3), extreme])
    try store.beginImmediate()
    #expect(throws: StorageError.duplicate(.row)) { try store.insertSlot(sampleSlot(2)) }
    store.rollback()
    try store.write { (store: inout Store) throws(StorageError) in try store.replaceSlots([sampleSlot(9)]) }
    try expect(store.slots(), equals: [sampleSlot(9)])
  }

  @Test("an item is found by row, id, name and primary key, is updated and deleted")
  func items() throws {
    var store = try makeVault(at: folder("v"))
    var item = sampleItem(7)
    item.kind = .max
    item.version = UInt64(Int64.max)
    item.expires = -1
    item.name = nil
    item.meta = []
    try store.beginImmediate()
    try store.insertItem(item)
    try store.commit()
    try expect(store.item(row: 7), equals: item)
    try expect(store.item(id: item.id), equals: item)
    try expect(store.item(primaryKey: item.primaryKey), equals: item)
    #expect(try store.item(name: id16(7, 3)) == nil)
    try expect(store.item(name: id16(2, 3))?.row, equals: 2)

    item.name = id16(70, 3)
    item.id = id16(70, 1)
    item.expires = nil
    item.meta = SeededBytes.of(1, count: 100_000)
    try store.beginImmediate()
    #expect(try store.updateItem(item))
    #expect(try !store.updateItem(sampleItem(99)))
    try store.commit()
    try expect(store.item(name: id16(70, 3)), equals: item)
    #expect(try store.item(id: id16(7, 1)) == nil)

    try store.beginImmediate()
    #expect(try store.deleteItem(row: 7))
    #expect(try !store.deleteItem(row: 7))
    try store.commit()
    #expect(try store.item(row: 7) == nil)
    #expect(try store.material(row: 2) != nil)
  }

  /// Verified to fail when an item is still remembered after its change, and after the end of its transaction.
  @Test(
    "an item that is looked up again is the present one: after a change, a deletion, a rollback, another's commit"
  )
  func lookedUpAgain() throws {
    var store = try makeVault(at: folder("v"))
    var other = try Store.open(at: folder("v"), access: .readWrite)
    let old = sampleItem(2)
    var new = old
    new.version = 2
    try store.beginImmediate()
    try expect(store.item(id: old.id), equals: old)
    try expect(store.item(id: sampleItem(3).id), equals: sampleItem(3))
    try expect(store.item(id: old.id), equals: old)
    try store.updateItem(new)
    try expect(store.item(id: old.id), equals: new)
    try store.deleteItem(row: 2)
    #expect(try store.item(id: old.id) == nil)
    try store.insertItem(new)
    try expect(store.item(id: old.id), equals: new)
    store.rollback()
    try expect(store.item(id: old.id), equals: old)

    try store.beginRead()
    try expect(store.item(id: old.id), equals: old)
    try other.beginImmediate()
    try other.updateItem(new)
    try other.commit()
    try expect(store.item(id: old.id), equals: old)
    try store.commit()
    try expect(store.item(id: old.id), equals: new)
    try store.beginRead()
    try expect(store.item(id: old.id), equals: new)
  }

  @Test("a taken value is named, on insert and on update, and the transaction goes on")
  func duplicates() throws {
    var store = try makeVault(at: folder("v"))
    var same = sampleItem(9)
    try store.beginImmediate()
    same.id = id16(1, 1)
    #expect(throws: StorageError.duplicate(.id)) { try store.insertItem(same) }
    same = sampleItem(9)
    same.primaryKey = id16(1, 2)
    #expect(throws: StorageError.duplicate(.primaryKey)) { try store.insertItem(same) }
    same = sampleItem(9)
    same.name = id16(1, 3)
    #expect(throws: StorageError.duplicate(.name)) { try store.insertItem(same) }
    same = sampleItem(9)
    same.row = 1
    #expect(throws: StorageError.duplicate(.row)) { try store.insertItem(same) }

    try store.insertItem(sampleItem(9))
    same = sampleItem(9)
    same.id = id16(2, 1)
    #expect(throws: StorageError.duplicate(.id)) { try store.updateItem(same) }
    same = sampleItem(9)
    same.primaryKey = id16(2, 2)
    #expect(throws: StorageError.duplicate(.primaryKey)) { try store.updateItem(same) }
    same = sampleItem(9)
    same.name = id16(2, 3)
    #expect(throws: StorageError.duplicate(.name)) { try store.updateItem(same) }
    try store.commit()
    try expect(store.item(row: 9), equals: sampleItem(9))
    try expect(store.counts().items, equals: 4)
  }

  @Test("items without a name do not stand in each other's way")
  func unnamed() throws {
    var store = try makeVault(at: folder("v"), items: 0)
    try store.beginImmediate()
    for row in 1...3 {
      var item = sampleItem(Int64(row))
      item.name = nil
      try store.insertItem(item)
    }
    try store.commit()
    try expect(store.counts().items, equals: 3)
  }

  @Test("items are streamed from a row on, in batches, until told to stop; the lending scan says the same")
  func streams() throws {
    var store = try makeVault(at: folder("v"), items: 20)
    var seen: [ItemRow] = []
    try store.forEachItem(after: 5, limit: 4) { (item: ItemRow) throws(StorageError) in
      seen.append(item)
      return true
    }
    #expect(seen == (6...9).map { sampleItem($0) })
    seen = []
    try store.forEachItem { (item: ItemRow) throws(StorageError) in
      seen.append(item)
      return item.row < 3
    }
    expect(seen.map(\.row), equals: [1, 2, 3])
    var scanned: [Int64] = []
    func isSample(_ fields: ItemFields, _ meta: RawSpan) -> Bool {
      let item = sampleItem(fields.row)
      return unsafe fields == item.fields && meta.withUnsafeBytes { unsafe Array($0) } == item.meta
    }
    try store.scanItems(after: 17) { fields, meta in
      if isSample(fields, meta) { scanned.append(fields.row) }
      return true
    }
    expect(scanned, equals: [18, 19, 20])
    scanned = []
    try store.scanItems(limit: 4) { fields, _ in
      scanned.append(fields.row)
      return fields.row < 3
    }
    expect(scanned, equals: [1, 2, 3])
    scanned = []
    let name = try #require(sampleItem(5).name)
    try store.withItem(name: name) { fields, meta in if isSample(fields, meta) { scanned.append(fields.row) }
    }
    try store.withItem(name: id16(9, 9)) { fields, _ in scanned.append(fields.row) }
    expect(scanned, equals: [5])
  }

  @Test("what a stream's closure throws comes out, and the store goes on")
  func streamThrows() throws {
    struct Mine: StorageFailure, Equatable {
      var storage: StorageError?
      init(_ error: StorageError) { storage = error }
      init() {}
    }
    var store = try makeVault(at: folder("v"))
    #expect(throws: Mine()) { try store.forEachItem { (_: ItemRow) throws(Mine) in throw Mine() } }
    #expect(throws: Mine(.duplicate(.row))) {
      try store.write { (store: inout Store) throws(Mine) in
        do throws(StorageError) { try store.insertSlot(sampleSlot(1)) } catch { throw Mine(error) }
      }
    }
    try expect(store.counts().items, equals: 3)
  }

  @Test("expired items are those before the time, ascending; one without a time never is")
  func expired() throws {
    var store = try makeVault(at: folder("v"), items: 5)
    try store.beginImmediate()
    for (row, time) in [(4, 100), (2, 50), (5, 101)] {
      var item = sampleItem(Int64(row))
      item.expires = Int64(time)
      try store.updateItem(item)
    }
    try store.commit()
    try expect(store.expired(before: 101), equals: [2, 4])
    try expect(store.expired(before: 50), equals: [])
  }

  @Test("material and state are inserted, written again and deleted")
  func materialAndState() throws {
    var store = try makeVault(at: folder("v"))
    let material = MaterialRow(keys: [1], secret: SeededBytes.of(5, count: 1 << 20))
    let state = StateRow(revision: UInt64(Int64.max), body: [])
    try store.beginImmediate()
    try store.setMaterial(material, row: 2)
    try store.setMaterial(MaterialRow(keys: [], secret: []), row: 50)
    try store.setState(state, row: 2)
    #expect(try store.deleteState(row: 1))
    #expect(try !store.deleteState(row: 1))
    #expect(try store.deleteMaterial(row: 1))
    #expect(try !store.deleteMaterial(row: 1))
    try store.commit()
    try expect(store.material(row: 2), equals: material)
    try expect(store.material(row: 50), equals: MaterialRow(keys: [], secret: []))
    #expect(try store.material(row: 1) == nil)
    try expect(store.state(row: 2), equals: state)
    #expect(try store.state(row: 1) == nil)
    try expect(store.state(row: 0)?.revision, equals: 1)
  }

  @Test("blind values lead to their rows, ascending, and go one by one")
  func blind() throws {
    var store = try makeVault(at: folder("v"), items: 6)
    try expect(store.rows(blind: id16(0, 9)), equals: [1, 3, 5])
    try expect(store.rows(blind: id16(77, 9)), equals: [])
    try expect([1, 2, 3, 5, 6].filter { try store.hasBlind(value: id16(0, 9), row: $0) }, equals: [1, 3, 5])
    #expect(try !store.hasBlind(value: id16(77, 9), row: 1))
    try store.beginImmediate()
    #expect(try !store.insertBlind(value: id16(0, 9), row: 3))
    #expect(try store.insertBlind(value: id16(1, 9), row: 3))
    #expect(try store.deleteBlind(value: id16(0, 9), row: 1))
    #expect(try !store.deleteBlind(value: id16(0, 9), row: 1))
    #expect(throws: StorageError.duplicate(.row)) { try store.insertSlot(sampleSlot(1)) }
    try store.commit()
    try expect(store.rows(blind: id16(0, 9)), equals: [3, 5])
    try expect(store.rows(blind: id16(1, 9)), equals: [2, 3, 4, 6])
    var pairs: [Int64] = []
    try store.forEachBlind { (value: [UInt8], row: Int64) throws(StorageError) in
      pairs.append(row)
      return pairs.count < 3
    }
    expect(pairs.count, equals: 3)
  }

  @Test("the summed rows carry the last 16 bytes of each part and the generation of their item")
  func summed() throws {
    var store = try makeVault(at: folder("v"), items: 2)
    try store.beginImmediate()
    var item = sampleItem(2)
    item.generation = 0x0102_0304
    try store.updateItem(item)
    try store.setState(StateRow(revision: 1, body: [1, 2, 0, 0, 0, 9] + id16(5)), row: 0)
    try store.setState(StateRow(revision: 1, body: id16(8)), row: 40)
    try store.commit()
    var rows: [SummedRow] = []
    try store.forEachSummed { (row: SummedRow) throws(StorageError) in rows.append(row) }
    let material = SeededBytes.of(1, count: 115).suffix(16) + SeededBytes.of(1, count: 102).suffix(16)
    let expected: [SummedRow] = [
      SummedRow(table: .item, row: 1, generation: 1, tags: sampleItem(1).meta.suffix(16)),
      SummedRow(table: .item, row: 2, generation: 0x0102_0304, tags: sampleItem(2).meta.suffix(16)),
      SummedRow(
        table: .material, row: 1, generation: 1,
        tags: SeededBytes.of(0, count: 115).suffix(16) + SeededBytes.of(0, count: 102).suffix(16)),
      SummedRow(table: .material, row: 2, generation: 0x0102_0304, tags: Array(material)),
      SummedRow(table: .state, row: 0, generation: 9, tags: id16(5)),
      SummedRow(table: .state, row: 1, generation: 1, tags: SeededBytes.of(0, count: 194).suffix(16)),
      SummedRow(
        table: .state, row: 2, generation: 0x0102_0304, tags: SeededBytes.of(1, count: 194).suffix(16)),
      SummedRow(table: .state, row: 40, generation: nil, tags: id16(8)),
    ]
    expect(Array(rows.prefix(8)), equals: expected)
    let blinds = Set(rows.dropFirst(8).map { "\($0.table) \($0.row) \($0.tags)" })
    expect(blinds, equals: ["blind 1 \(id16(0, 9))", "blind 2 \(id16(1, 9))"])
    try expect(store.counts().summed, equals: rows.count)
  }

  @Test("audit entries are appended once, rewritten, streamed, and go with their segments")
  func audit() throws {
    var store = try makeVault(at: folder("v"), items: 10)
    let mac = SeededBytes.of(3, count: 32)
    try store.beginImmediate()
    #expect(throws: StorageError.duplicate(.row)) {
      try store.appendAudit(AuditRow(sequence: 10, body: [], mac: mac))
    }
    #expect(try store.updateAudit(AuditRow(sequence: 4, body: [4], mac: mac)))
    #expect(try !store.updateAudit(AuditRow(sequence: 40, body: [4], mac: mac)))
    try store.insertSegment(SegmentRow(number: 2, first: 4, previous: mac, start: [1]))
    try store.insertSegment(SegmentRow(number: 3, first: 8, previous: mac, start: []))
    try store.commit()
    try expect(store.auditEntries(from: 4, limit: 2).map(\.sequence), equals: [4, 5])
    try expect(store.auditEntries(from: 4, limit: 1), equals: [AuditRow(sequence: 4, body: [4], mac: mac)])
    try store.beginImmediate()
    try expect(store.deleteSegments(through: 2), equals: 2)
    try expect(store.deleteSegments(through: 3), equals: 0)
    try store.commit()
    try expect(store.segments(), equals: [SegmentRow(number: 3, first: 8, previous: mac, start: [])])
    try expect(store.auditEntries().map(\.sequence), equals: [8, 9, 10])
  }

  @Test("what is too large is refused before it is written")
  func tooLarge() throws {
    var store = try makeVault(at: folder("v"))
    try store.beginImmediate()
    let long = [UInt8](repeating: 0, count: Store.mostBytes + 1)
    #expect(throws: StorageError.tooLarge) { try store.setHead(long) }
    #expect(throws: StorageError.tooLarge) {
      try store.setState(StateRow(revision: UInt64(Int64.max) + 1, body: []), row: 1)
    }
    try store.commit()
    try expect(store.head().count, equals: 290)
  }

  @Test("the library says its version")
  func version() {
    #expect(Store.sqliteVersion.hasPrefix("3."))
  }
}
