import Foundation
import TestSupport
import Testing
import VaultStorage
import VaultTestKit

@Suite("Damaged files", .bounded)
struct DamageTests {
  let folder = TemporaryFolder()

  @Test(
    "an empty file, a short one and one of other content are damaged, and stay as they are",
    arguments: [
      [], [0], Array("SQLite format 3".utf8), Array("SQLite format 3\0".utf8),
      SeededBytes.of(1, count: 5_000),
      [UInt8](repeating: 0, count: 8_192), Array("{\"not\": \"a vault\"}".utf8),
    ] as [[UInt8]])
  func garbage(bytes: [UInt8]) {
    folder.write("v", bytes)
    folder.setMode("v", 0o600)
    let before = folder.listing
    for access in [Store.Access.readOnly, .readWrite] {
      let error = #expect(throws: StorageError.self) { try openAndDrop(folder("v"), access) }
      #expect(isDamage(error), "\(String(describing: error))")
    }
    expect(folder.listing, equals: before)
  }

  @Test("a vault cut short at any length is damaged or says so at use")
  func truncated() throws {
    let whole = try bytesOfVault(items: 40)
    let lengths =
      stride(from: 0, to: whole.count, by: 4_096).map { $0 } + [1, 15, 16, 99, 100, 511, 4_095, 4_097]
    for length in lengths {
      folder.write("v", Array(whole[..<length]))
      folder.setMode("v", 0o600)
      var result = Outcome()
      readEverything(folder("v"), &result)
      #expect(result.error.map(isDamage) == true, "\(length) bytes: \(result)")
    }
  }

  @Test("3,000 vaults with changed bytes never crash, and give a typed error or well-formed rows")
  func mutations() throws {
    let whole = try bytesOfVault(items: 8)
    var generator = SeededGenerator(seed: 0xBAD_5EED)
    var (failed, opened) = (0, 0)
    for _ in 0..<3_000 {
      folder.write("v", mutated(whole, &generator))
      folder.setMode("v", 0o600)
      var result = Outcome()
      readEverything(folder("v"), &result)
      guard let error = result.error else {
        opened += 1
        continue
      }
      failed += 1
      if !isDamage(error) { Issue.record("\(error)") }
    }
    #expect(failed > 300)
    #expect(opened > 300)
  }

  @Test("1,000 vaults with a changed log beside them never crash")
  func mutatedLog() throws {
    let (file, log) = try bytesOfOpenVault()
    var generator = SeededGenerator(seed: 0x106)
    let path = folder("v").replacing("//", with: "/")
    for _ in 0..<1_000 {
      folder.write("v", file)
      folder.write("v-wal", mutated(log, &generator))
      for name in ["v", "v-wal"] { folder.setMode(name, 0o600) }
      var result = Outcome()
      readEverything(folder("v"), &result)
      // Without its first bytes, it may be a file of the user.
      let isForeign = result.error == .refusedBeside(.notOfSQLite, path: path + "-wal")
      if let error = result.error, !isDamage(error), !isForeign { Issue.record("\(error)") }
      for name in ["v", "v-wal", "v-shm"] { folder.remove(name) }
    }
  }

  // Items, sums and entries of the log can be read around a row that is damaged: it is marked, and no error.
  @Test(
    "a value of a wrong length or range in a row is damage of its table, never a trap",
    arguments: [
      ("UPDATE header SET mac = x'00'", .header), ("DELETE FROM header", .header),
      ("DELETE FROM head", .head),
      ("UPDATE slot SET kind = 256", .slot), ("UPDATE slot SET kind = -1", .slot),
      ("UPDATE slot SET subject = 4294967296", .slot), ("UPDATE slot SET opener_id = x'00'", .slot),
      ("UPDATE item SET id = x'00' WHERE row = 2", .item),
      ("UPDATE item SET name = x'00' WHERE row = 2", .item),
      ("UPDATE item SET primary_key = zeroblob(17) WHERE row = 2", .item),
      ("UPDATE item SET row = -1 WHERE row = 2", .item), ("UPDATE item SET row = 0 WHERE row = 2", .item),
      ("UPDATE item SET class = 256", .item), ("UPDATE item SET kind = -1", .item),
      ("UPDATE item SET version = -1", .item), ("UPDATE item SET material = -1", .item),
      ("UPDATE item SET generation = 4294967296", .item), ("UPDATE item SET meta = x''", .item),
      ("UPDATE material SET keys = zeroblob(15)", .material), ("UPDATE material SET secret = x''", .material),
      ("UPDATE state SET revision = -1", .state), ("UPDATE state SET body = x''", .state),
      ("UPDATE blind SET value = zeroblob(15) WHERE row = 1", .blind),
      ("UPDATE audit SET mac = zeroblob(31)", .audit),
      ("UPDATE segment SET previous = x''", .segment), ("UPDATE segment SET number = -1", .segment),
      ("UPDATE segment SET first = -9", .segment),
    ] as [(String, StorageError.Table)])
  func wrongValues(sql: String, table: StorageError.Table) throws {
    do { _ = try makeVault(at: folder("v")) }
    try RawSQLite.run(sql, on: folder("v"))
    var result = Outcome()
    readEverything(folder("v"), &result)
    expect(result.error, equals: .damaged(.row(table)))
  }

  @Test("a row that its index does not know is found by the integrity check")
  func integrity() throws {
    var bytes = try bytesOfVault(items: 40)
    let name: [UInt8] = id16(2, 3)
    let places = bytes.indices.dropLast(16).filter { Array(bytes[$0..<$0 + 16]) == name }
    expect(places.count, equals: 2)  // in the row and in the index
    bytes[try #require(places.last)] ^= 1
    folder.write("v", bytes)
    folder.setMode("v", 0o600)
    var store = try Store.open(at: folder("v"), access: .readOnly)
    #expect(try !store.integrityCheck().isEmpty)
  }

  @Test("a value that is longer than any of ours is refused, not loaded")
  func hugeValue() throws {
    do { _ = try makeVault(at: folder("v")) }
    try RawSQLite.run("UPDATE head SET body = zeroblob(\(Store.mostBytes + 1))", on: folder("v"))
    var store = try Store.open(at: folder("v"), access: .readOnly)
    #expect(throws: StorageError.tooLarge) { try store.head() }
  }

  // MARK: - Tools

  struct Outcome {
    var error: StorageError?
    var rows = 0
  }

  /// Opens the vault and reads every row of every table.
  private func readEverything(_ path: String, _ outcome: inout Outcome) {
    do throws(StorageError) {
      var store = try Store.open(at: path, access: .readOnly)
      var rows = 0
      _ = try store.header()
      _ = try store.head()
      rows += try store.slots().count + store.segments().count
      try store.forEachSummed { (row: SummedRow) throws(StorageError) in
        rows += 1
        if row.tags.count < 16 || row.table == .material && row.tags.count < 32 {
          throw .damaged(.row(row.table.named))
        }
      }
      var numbers: [Int64] = []
      try store.forEachItem(after: .min) { (item: ItemRow) throws(StorageError) in
        numbers.append(item.row)
        if item.isDamaged { throw .damaged(.row(.item)) }
        return numbers.count < 10_000
      }
      for number in numbers {
        _ = try store.material(row: number)
        if try store.state(row: number)?.revision == 0 { throw .damaged(.row(.state)) }
      }
      if try store.state(row: 0)?.revision == 0 { throw .damaged(.row(.state)) }
      try store.forEachBlind { (_: [UInt8], _: Int64) throws(StorageError) in
        rows += 1
        return rows < 100_000
      }
      for entry in try store.auditEntries(limit: 10_000) {
        rows += 1
        if entry.mac.count != 32 { throw .damaged(.row(.audit)) }
      }
      _ = try store.counts()
      _ = try store.integrityCheck()
      outcome.rows = rows
    } catch { outcome.error = error }
  }

  private func isDamage(_ error: StorageError?) -> Bool {
    switch error {
    case .damaged, .newerFormat, .tooLarge: true
    default: false
    }
  }

  private func bytesOfVault(items: Int) throws -> [UInt8] {
    do { _ = try makeVault(at: folder("whole"), items: items) }
    defer { folder.remove("whole") }
    return try Array(Data(contentsOf: URL(filePath: folder("whole"))))
  }

  /// File and log while a writer has it open, copied by another process so that no lock is dropped here.
  private func bytesOfOpenVault() throws -> (file: [UInt8], log: [UInt8]) {
    var store = try makeVault(at: folder("open"), items: 8)
    for row in 1...8 {
      try store.write { (store: inout Store) throws(StorageError) in
        try store.setState(StateRow(revision: 7, body: SeededBytes.of(row, count: 194)), row: Int64(row))
      }
    }
    for suffix in ["", "-wal"] {
      try Program("/bin/cp", [folder("open" + suffix), folder("copied" + suffix)]).run()
    }
    return try (
      Array(Data(contentsOf: URL(filePath: folder("copied")))),
      Array(Data(contentsOf: URL(filePath: folder("copied-wal"))))
    )
  }

  /// One to four changes: a bit, a byte, a run of bytes, a page swapped with another, a cut, an insertion.
  private func mutated(_ whole: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = whole
    for _ in 0...generator.next() % 4 {
      // Half of the changes go to the first page, where the schema and the header are.
      let most = generator.next() % 2 == 0 ? min(4_096, bytes.count) : bytes.count
      let index = Int(generator.next() % UInt64(most))
      switch generator.next() % 6 {
      case 0: bytes[index] ^= 1 << UInt8(generator.next() % 8)
      case 1: bytes[index] = UInt8(truncatingIfNeeded: generator.next())
      case 2:
        let end = min(bytes.count, index + Int(generator.next() % 64))
        for place in index..<end { bytes[place] = UInt8(truncatingIfNeeded: generator.next()) }
      case 3:
        let pages = bytes.count / 4_096
        guard pages > 1 else { continue }
        let (a, b) = (Int(generator.next() % UInt64(pages)), Int(generator.next() % UInt64(pages)))
        for offset in 0..<4_096 { bytes.swapAt(a * 4_096 + offset, b * 4_096 + offset) }
      case 4 where generator.next() % 4 == 0:
        bytes.removeLast(min(bytes.count - 1, Int(generator.next() % 9_000)))
      default: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: index)
      }
    }
    return bytes
  }
}

extension SummedRow.Table {
  fileprivate var named: StorageError.Table {
    switch self {
    case .item: .item
    case .material: .material
    case .state: .state
    case .blind: .blind
    case .former: .former
    }
  }
}
