import Foundation
import TestSupport
import Testing
import VaultStorage

@Suite("Several processes", .bounded)
struct ProcessTests {
  @Test("a store is refused after fork, in all its calls, and the child's end harms nothing")
  func fork() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let other = Partner {
        outcome(expecting: .busy) {
          var other = try Store.open(at: folder("v"), access: .readWrite, patience: .milliseconds(100))
          try other.beginImmediate()
        }
      }
      var store = try makeVault(at: folder("v"))
      try store.write { (store: inout Store) throws(StorageError) in try store.setHead([1]) }
      try store.beginImmediate()
      try store.setHead([2])
      for (name, call) in callsOfStore() {
        let code = ForkedChild.run { outcome(expecting: .usedAfterFork) { try call(&store) } }
        require(code == 0, "\(name): \(code)")
      }
      let second = ForkedChild.run { outcome(expecting: .usedAfterFork) { try openAndDrop(folder("v")) } }
      require(second == 0, "opened a second time in a child: \(second)")
      // Still in the transaction, the lock held: another process waits for it in vain.
      let waited = other.run()
      require(waited == 0, "the lock was lost: \(waited)")
      try store.commit()
      require(try store.head() == [2], "the commit was lost")
      require(folder.names == ["v", "v-shm", "v-wal"], "\(folder.names)")
    }
  }

  @Test("a store that ends in a child leaves log and locks of the parent alone")
  func endInChild() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let store = Box(try makeVault(at: folder("v")))
      try store.change { (store: inout Store) throws(StorageError) in try store.setHead([1]) }
      let before = folder.listing
      let code = ForkedChild.run {
        store.drop()
        return 0
      }
      require(code == 0, "\(code)")
      require(folder.listing == before, "\(folder.listing)")
      try store.change { (store: inout Store) throws(StorageError) in try store.setHead([2]) }
    }
  }

  // A process that closes any descriptor of a file loses all its POSIX locks on it. Then the next process to close
  // the vault takes itself for the last one and removes the log under our commits.
  @Test("opening and closing the vault again takes no lock from the store that is open")
  func locksStay() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let opener = Partner { (try? openAndDrop(folder("v"))) == nil ? 1 : 0 }
      let reader = Partner {
        guard var other = try? Store.open(at: folder("v"), access: .readOnly) else { return 1 }
        return (try? other.head()) == [2] ? 0 : 2
      }
      var store = try makeVault(at: folder("v"))
      try store.write { (store: inout Store) throws(StorageError) in try store.setHead([1]) }
      for access in [Store.Access.readWrite, .readOnly] { try openAndDrop(folder("v"), access) }
      require(outcome(expecting: .alreadyExists) { _ = try makeVault(at: folder("v")) } == 0, "making")
      require(opener.run() == 0, "opening elsewhere")
      require(folder.names == ["v", "v-shm", "v-wal"], "\(folder.names)")
      try store.write { (store: inout Store) throws(StorageError) in try store.setHead([2]) }
      let seen = reader.run()
      require(seen == 0, "the commit was lost: \(seen)")
    }
  }

  @Test("what was acknowledged before a kill is there, and what was not is there whole or not at all")
  func killed() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      do { _ = try makeVault(at: folder("v")) }
      var generator = SeededGenerator(seed: 1)
      var sequence: UInt64 = 1_000
      for _ in 0..<40 {
        let pipe = Pipe()
        let child = ForkedChild {
          writeUntilKilled(folder("v"), after: sequence, telling: pipe.fileHandleForWriting.fileDescriptor)
        }
        try pipe.fileHandleForWriting.close()
        let first =
          try pipe.fileHandleForReading.read(upToCount: 8 * Int(1 + generator.next() % 12)) ?? Data()
        // The child writes until it is killed, so this hits a commit or the moment between two.
        for _ in 0..<generator.next() % 20_000 { _ = generator.next() }
        kill(child.pid, SIGKILL)
        require(child.wait() == -SIGKILL, "the child ended by itself")
        let drained = try first + (pipe.fileHandleForReading.readToEnd() ?? Data())
        sequence = try lastWholeCommit(
          in: folder("v"), acknowledged: max(sequence, lastNumber(in: drained)), before: sequence)
      }
      require(sequence >= 1_040, "too few commits to mean anything: \(sequence)")
    }
  }

  @Test("many processes count together: no number twice, no error")
  func counting() async {
    await #expect(processExitsWith: .success) {
      let processes = 50
      let each = 20
      let folder = TemporaryFolder()
      do { _ = try makeVault(at: folder("v")) }
      let children = (0..<processes).map { _ in
        ForkedChild {
          guard var store = try? Store.open(at: folder("v"), access: .readWrite, patience: patience)
          else { return 1 }
          for _ in 0..<each {
            let written: Void? = try? store.write { (store: inout Store) throws(StorageError) in
              let next = try (store.state(row: 1)?.revision ?? 0) + 1
              try store.setState(StateRow(revision: next, body: [1]), row: 1)
              // Taken once: a number given out twice is an error here.
              try store.appendAudit(AuditRow(sequence: 100 + next, body: [], mac: id16(1) + id16(2)))
            }
            guard written != nil else { return 2 }
          }
          return 0
        }
      }
      let codes = children.map { $0.wait() }
      require(codes.allSatisfy { $0 == 0 }, "\(codes)")
      var store = try Store.open(at: folder("v"), access: .readOnly)
      require(try store.state(row: 1)?.revision == UInt64(1 + processes * each), "not all were counted")
      require(try store.auditEntries(from: 100).count == processes * each, "not all were logged")
    }
  }

  @Test("processes that each open, write once and close do not get in each other's way")
  func opening() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      do { _ = try makeVault(at: folder("v")) }
      let children = (0..<8).map { _ in
        ForkedChild {
          for _ in 0..<25 {
            guard var store = try? Store.open(at: folder("v"), access: .readWrite, patience: patience)
            else { return 1 }
            let written: Void? = try? store.write { (store: inout Store) throws(StorageError) in
              let next = try (store.state(row: 1)?.revision ?? 0) + 1
              try store.setState(StateRow(revision: next, body: [1]), row: 1)
            }
            guard written != nil else { return 2 }
          }
          return 0
        }
      }
      let codes = children.map { $0.wait() }
      require(codes.allSatisfy { $0 == 0 }, "\(codes)")
      var store = try Store.open(at: folder("v"), access: .readOnly)
      require(try store.state(row: 1)?.revision == 201, "not all were counted")
    }
  }

  @Test("a process that keeps the lock makes others busy after their patience, not for ever")
  func keptLock() throws {
    let folder = TemporaryFolder()
    var holder = try makeVault(at: folder("v"))
    var other = try Store.open(at: folder("v"), access: .readWrite, patience: .milliseconds(50))
    try holder.beginImmediate()
    #expect(throws: StorageError.busy) { try other.beginImmediate() }
    try expect(other.counts().items, equals: 3)
    try holder.commit()
    try other.beginImmediate()
    other.rollback()
  }
}

/// A store that a closure can end.
private final class Box {
  private var store: Store?

  init(_ store: consuming Store) { self.store = consume store }

  func change(_ body: (inout Store) throws(StorageError) -> Void) throws(StorageError) {
    try store?.write(body)
  }

  func drop() { store = nil }
}

/// Every call of a store that a child must not make, with its name.
private func callsOfStore() -> [(String, (inout Store) throws -> Void)] {
  func outsideTransaction(_ call: @escaping (inout Store) throws -> Void) -> (inout Store) throws -> Void {
    { store in
      store.rollback()
      try call(&store)
    }
  }
  return [
    ("reading", { store in _ = try store.head() }),
    ("writing", { store in try store.setHead([3]) }),
    ("committing", { store in try store.commit() }),
    ("beginning", outsideTransaction { store in try store.beginImmediate() }),
    ("checkpoint", outsideTransaction { store in _ = try store.checkpoint(truncate: true) }),
    ("integrity", outsideTransaction { store in _ = try store.integrityCheck() }),
  ]
}

/// Commits the numbers after `sequence`, each with its parts in four tables, and writes each to `descriptor` after
/// its commit.
private func writeUntilKilled(_ path: String, after sequence: UInt64, telling descriptor: Int32) -> Int32 {
  guard var store = try? Store.open(at: path, access: .readWrite, patience: patience) else { return 1 }
  var next = sequence
  while true {
    next += 1
    let written: Void? = try? store.write { (store: inout Store) throws(StorageError) in
      try store.setState(StateRow(revision: next, body: SeededBytes.of(Int(next), count: 194)), row: 1)
      try store.appendAudit(AuditRow(sequence: next, body: [], mac: SeededBytes.of(1, count: 32)))
      try store.setHead(SeededBytes.of(Int(next), count: 290))
    }
    guard written != nil else { return 2 }
    var word = next
    _ = unsafe Foundation.write(descriptor, &word, 8)
  }
}

/// The last number that the child wrote to its pipe; 0 for none.
private func lastNumber(in bytes: Data) -> UInt64 {
  unsafe bytes.suffix(8).withUnsafeBytes { unsafe $0.count == 8 ? $0.loadUnaligned(as: UInt64.self) : 0 }
}

/// The number of the last commit in the vault, whose parts must all be there, not before `acknowledged`.
private func lastWholeCommit(
  in path: String, acknowledged: UInt64, before sequence: UInt64
) throws -> UInt64 {
  var store = try Store.open(at: path, access: .readOnly)
  let state = try store.state(row: 1)
  let revision = state?.revision ?? 0
  if acknowledged > sequence { require(revision >= acknowledged, "lost: \(revision) < \(acknowledged)") }
  require(try store.integrityCheck() == [], "integrity")
  guard revision > 1_000 else { return sequence }
  require(state?.body == SeededBytes.of(Int(revision), count: 194), "torn state")
  require(try store.head() == SeededBytes.of(Int(revision), count: 290), "torn head")
  require(try store.auditEntries(from: revision).map(\.sequence) == [revision], "torn audit")
  return revision
}
