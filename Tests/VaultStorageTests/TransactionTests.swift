import Foundation
import Testing
import VaultStorage

@Suite("Transactions")
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
    #expect(try store.head().count == 290)
    try store.write { (store: inout Store) throws(StorageError) in try store.setHead([2]) }
    #expect(try store.head() == [2])
  }

  /// Planted, and found: work whose answer nobody asks for, work at each synchronisation of a commit, and work after it.
  @Test(
    "work done meanwhile runs once, before anybody else sees the commit; where it fails nothing is changed")
  func meanwhile() throws {
    var store = try makeVault(at: folder("v"))
    var other = try Store.open(at: folder("v"), access: .readWrite)
    var runs = 0
    // Many commits: some begin the log anew, with one synchronisation more.
    for number in 0..<1_500 {
      let isGood = number % 3 != 0
      let head = [UInt8(number % 250), 0]
      let before = try other.head()
      try store.beginImmediate()
      try store.setHead(head)
      do throws(StorageError) {
        try store.commit {
          runs += 1
          #expect((try? other.head()) == before)
          return isGood
        }
        #expect(isGood)
      } catch {
        guard case .io = error, !isGood else {
          Issue.record("\(number): \(error)")
          return
        }
      }
      #expect(runs == number + 1)
      #expect(try other.head() == (isGood ? head : before))
      #expect(try store.head() == (isGood ? head : before))
    }
    #expect(try store.integrityCheck() == [])
    try store.beginImmediate()
    try store.commit {
      runs += 1
      return true
    }
    #expect(runs == 1_501)
  }

  /// Planted bug, seen to fail: what went to the log before the work failed stays there.
  @Test("a commit whose work fails is not found by whoever recovers the log after a crash")
  func meanwhileAndCrash() throws {
    var store = try makeVault(at: folder("v"))
    let files = FileManager.default
    // The second time the log begins anew; the last one takes more than is gathered at once.
    for (number, size) in [100, 100, 300_000].enumerated() {
      try store.write { (store: inout Store) throws(StorageError) in try store.setHead([UInt8(number)]) }
      if number == 1 { _ = try store.checkpoint(truncate: false) }
      try store.beginImmediate()
      try store.setHead([99])
      try store.setMaterial(MaterialRow(keys: [1], secret: SeededBytes.of(number, count: size)), row: 1)
      do throws(StorageError) {
        try store.commit { false }
        Issue.record("it was committed")
      } catch {}
      for end in ["", "-wal", "-shm"] { try? files.removeItem(atPath: folder("after" + end)) }
      for end in ["", "-wal"] { try files.copyItem(atPath: folder("v" + end), toPath: folder("after" + end)) }
      var after = try Store.open(at: folder("after"), access: .readWrite)
      #expect(try after.head() == [UInt8(number)])
      #expect(try after.integrityCheck() == [])
    }
    try store.write { (store: inout Store) throws(StorageError) in try store.setHead([5]) }
    #expect(try store.head() == [5])
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
    #expect(try store.counts() == RowCounts(items: 3, materials: 3, states: 4, blinds: 3))
    #expect(try store.slots().count == 2)
    let isOpen = store.isInTransaction
    #expect(!isOpen)
  }

  @Test("a read transaction sees one state while another connection writes")
  func snapshot() throws {
    var reader = try makeVault(at: folder("v"))
    var writer = try Store.open(at: folder("v"), access: .readWrite)
    try reader.beginRead()
    #expect(try reader.head().count == 290)
    try writer.write { (store: inout Store) throws(StorageError) in try store.setHead([1]) }
    #expect(try reader.head().count == 290)
    #expect(try !writer.checkpoint(truncate: true))
    try reader.commit()
    #expect(try reader.head() == [1])
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

  @Test("a second writer waits for the first")
  func waiting() async throws {
    do { _ = try makeVault(at: folder("v")) }
    let path = folder("v")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          do {
            var store = try Store.open(at: path, access: .readWrite)
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
    #expect(try store.state(row: 1)?.revision == 401)
  }

  @Test("a reader may not write, and says so")
  func readOnly() throws {
    do { _ = try makeVault(at: folder("v")) }
    var store = try Store.open(at: folder("v"), access: .readOnly)
    #expect(throws: StorageError.readOnly) { try store.beginImmediate() }
    #expect(throws: StorageError.readOnly) { try store.checkpoint(truncate: true) }
    #expect(try store.counts().items == 3)
  }

  @Test("integrity is checked with progress, which may end it")
  func integrity() throws {
    var store = try makeVault(at: folder("v"), items: 2_000)
    var calls = 0
    #expect(
      try store.integrityCheck {
        calls += 1
        return true
      } == [])
    #expect(calls > 1)
    calls = 0
    #expect(
      try store.integrityCheck {
        calls += 1
        return false
      } == [])
    #expect(calls == 1)
    #expect(try store.counts().items == 2_000)
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
      try store.read { (store: inout Store) throws(StorageError) in try store.setHead([]) }
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
    let cat = Process()
    let pipe = Pipe()
    cat.executableURL = URL(filePath: "/bin/cat")
    cat.arguments = try FileManager.default.contentsOfDirectory(atPath: folder.path).map { folder($0) }
    cat.standardOutput = pipe
    try cat.run()
    let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
    cat.waitUntilExit()
    return bytes
  }
}
