import Foundation
import TestSupport
import Testing
import VaultStorage

@Suite("Transactions", .bounded)
struct TransactionTests {
  let folder = TemporaryFolder()
  private struct Stop: StorageFailure, Equatable {
    init(_ error: StorageError) {}
    init() {}
  }

  @Test("what a throwing body wrote is rolled back, and the store goes on")
  func rollbackOnThrow() throws {
    var store = try makeVault(at: folder("v"))
    #expect(throws: Stop()) {
      try store.write { (store: inout Store) throws(Stop) in
        do throws(StorageError) { try store.setHead([1]) } catch { throw Stop(error) }
        throw Stop()
      }
    }
    try expect(store.head().count, equals: 290)
    try store.write { (store: inout Store) throws(StorageError) in try store.setHead([2]) }
    try expect(store.head(), equals: [2])
  }

  @Test("a rollback undoes every table, and rolling back without a transaction does nothing")
  func rollback() throws {
    var store = try makeVault(at: folder("v"))
    store.rollback()
    try store.beginImmediate()
    try store.deleteItem(row: 1)
    try store.deleteMaterial(row: 1)
    try store.setHead([])
    try store.replaceSlots([])
    store.rollback()
    try expect(store.counts(), equals: RowCounts(items: 3, materials: 3, states: 4, blinds: 3))
    try expect(store.slots().count, equals: 2)
    let isOpen = store.isInTransaction
    #expect(!isOpen)
  }

  @Test("a read transaction sees one state while another connection writes")
  func snapshot() throws {
    var reader = try makeVault(at: folder("v"))
    var writer = try Store.open(at: folder("v"), access: .readWrite)
    try reader.beginRead()
    try expect(reader.head().count, equals: 290)
    try writer.write { (store: inout Store) throws(StorageError) in try store.setHead([1]) }
    try expect(reader.head().count, equals: 290)
    #expect(try !writer.checkpoint(truncate: true))
    try reader.commit()
    try expect(reader.head(), equals: [1])
    #expect(try writer.checkpoint(truncate: true))
  }

  @Test("a truncating checkpoint leaves no byte of a deleted secret in file or log")
  func deletedIsGone() throws {
    var store = try makeVault(at: folder("v"))
    let marker = SeededBytes.of(0xA11CE, count: 3_000)
    try store.write { (store: inout Store) throws(StorageError) in
      try store.setMaterial(MaterialRow(keys: marker, secret: marker), row: 1)
    }
    #expect(try bytesOfAllFiles().range(of: Data(marker[100..<140])) != nil)
    try store.write { (store: inout Store) throws(StorageError) in _ = try store.deleteMaterial(row: 1) }
    #expect(try store.checkpoint(truncate: true))
    #expect(try bytesOfAllFiles().range(of: Data(marker[100..<140])) == nil)
  }

  @Test("ordinary commits do not truncate the log, and do not let it grow without end")
  func logIsRecycled() throws {
    var store = try makeVault(at: folder("v"))
    var sizes: [Int] = []
    for round in 0..<2_500 {
      try store.write { (store: inout Store) throws(StorageError) in
        try store.setState(StateRow(revision: UInt64(round), body: SeededBytes.of(1, count: 194)), row: 1)
        try store.setHead(SeededBytes.of(round, count: 290))
      }
      sizes.append(try FileManager.default.attributesOfItem(atPath: folder("v-wal"))[.size] as? Int ?? 0)
    }
    #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(try #require(sizes.last) < 5 << 20)
  }

  /// Verified to fail without a limit on the idle log: it keeps its 16 MB.
  @Test("a log that a long reader let grow shrinks once the reader has ended")
  func logShrinks() throws {
    var store = try makeVault(at: folder("v"))
    func logSize() throws -> Int {
      try FileManager.default.attributesOfItem(atPath: folder("v-wal"))[.size] as? Int ?? 0
    }
    do {
      var reader = try Store.open(at: folder("v"), access: .readOnly)
      try reader.beginRead()
      _ = try reader.head()
      for round in 0..<16 {
        try store.write { (store: inout Store) throws(StorageError) in
          let secret = SeededBytes.of(round, count: 1 << 20)
          try store.setMaterial(MaterialRow(keys: [1], secret: secret), row: 1)
        }
      }
      #expect(try logSize() > 16 << 20)
      // Neither waits for the reader for good, and neither does the work.
      #expect(try !store.checkpoint(truncate: true))
      #expect(try !store.checkpoint(truncate: true, isPatient: false))
    }
    #expect(try store.checkpoint(truncate: false))
    for round in 0..<3 {
      try store.write { (store: inout Store) throws(StorageError) in try store.setHead([UInt8(round)]) }
    }
    #expect(try logSize() <= 8 << 20)
    try expect(store.integrityCheck(), equals: [])
  }

  @Test("a second writer waits for the first")
  func waiting() async throws {
    do { _ = try makeVault(at: folder("v")) }
    let path = folder("v")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          do {
            var store = try Store.open(at: path, access: .readWrite, patience: patience)
            for _ in 0..<100 {
              try store.write { (store: inout Store) throws(StorageError) in
                let state = try store.state(row: 1)
                try store.setState(StateRow(revision: (state?.revision ?? 0) + 1, body: [1]), row: 1)
              }
            }
          } catch { Issue.record("\(error)") }
        }
      }
    }
    var store = try Store.open(at: path, access: .readOnly)
    try expect(store.state(row: 1)?.revision, equals: 401)
  }

  @Test("a reader may not write, and says so")
  func readOnly() throws {
    do { _ = try makeVault(at: folder("v")) }
    var store = try Store.open(at: folder("v"), access: .readOnly)
    #expect(throws: StorageError.readOnly) { try store.beginImmediate() }
    #expect(throws: StorageError.readOnly) { try store.checkpoint(truncate: true) }
    try expect(store.counts().items, equals: 3)
  }

  @Test("integrity is checked with progress, which may end it")
  func integrity() throws {
    var store = try makeVault(at: folder("v"), items: 2_000)
    var calls = 0
    try expect(
      store.integrityCheck {
        calls += 1
        return true
      }, equals: [])
    #expect(calls > 1)
    calls = 0
    try expect(
      store.integrityCheck {
        calls += 1
        return false
      }, equals: [])
    expect(calls, equals: 1)
    try expect(store.counts().items, equals: 2_000)
  }

  @Test("a change outside a write transaction is our mistake and stops the process")
  func changeOutside() async {
    await #expect(processExitsWith: .failure) {
      let folder = TemporaryFolder()
      var store = try makeVault(at: folder("v"))
      try store.setHead([])
    }
    await #expect(processExitsWith: .failure) {
      let folder = TemporaryFolder()
      var store = try makeVault(at: folder("v"))
      try store.beginRead()
      try store.setHead([])
    }
    await #expect(processExitsWith: .failure) {
      let folder = TemporaryFolder()
      var store = try makeVault(at: folder("v"))
      try store.beginRead()
      try store.beginImmediate()
    }
  }

  /// Read by another process: closing a descriptor here would drop the locks of the store.
  private func bytesOfAllFiles() throws -> Data {
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).map { folder($0) }
    return try Program("/bin/cat", files).run().output
  }
}
