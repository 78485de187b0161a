import Foundation
import TestSupport
import Testing
import VaultStorage

/// ST4: a cleaning or synchronizing program removes `-wal` or `-shm` while a process has the vault open. Each but the last is verified to fail when
/// a transaction does not compare these files with those that are open: the commits of the other process are gone.
@Suite("Files beside an open vault that are removed or replaced", .bounded)
struct SideFilesTests {
  enum Change: Int, CaseIterable {
    case index, log, both
    var names: [String] { [self == .index ? [] : ["v-wal"], self == .log ? [] : ["v-shm"]].flatMap(\.self) }
    /// The file that is named.
    var first: String { self == .index ? "v-shm" : "v-wal" }
  }

  @Test("a commit is refused, and the file is named", arguments: Change.allCases)
  func refused(change: Change) throws {
    let folder = TemporaryFolder()
    do {
      var store = try makeVault(at: folder("v"))
      try write([1], to: &store)
      for name in change.names { folder.remove(name) }
      for _ in 0..<2 {
        #expect(throws: StorageError.sideFile(String(store.path.dropLast()) + change.first)) {
          try write([2], to: &store)
        }
        #expect(throws: StorageError.self) { try store.checkpoint(truncate: true) }
        #expect(throws: StorageError.self) { try store.vacuum() }
        #expect(throws: StorageError.self) { try store.beginRead() }
        let isInTransaction = store.isInTransaction
        #expect(!isInTransaction)
      }
    }
    var store = try Store.open(at: folder("v"), access: .readWrite)
    try expect(store.head(), equals: [1])
    try write([3], to: &store)
  }

  @Test("removed within a transaction, its commit is refused", arguments: Change.allCases)
  func within(change: Change) throws {
    let folder = TemporaryFolder()
    do {
      var store = try makeVault(at: folder("v"))
      try write([1], to: &store)
      #expect(throws: StorageError.sideFile(String(store.path.dropLast()) + change.first)) {
        try store.write { (store: inout Store) throws(StorageError) in
          try store.setHead([2])
          for name in change.names { folder.remove(name) }
        }
      }
    }
    var store = try Store.open(at: folder("v"), access: .readOnly)
    try expect(store.head(), equals: [1])
  }

  @Test(
    "what another process commits meanwhile stays, whatever the first one does then",
    arguments: Change.allCases)
  func other(change: Change) async {
    await #expect(processExitsWith: .success) { [number = change.rawValue as Int] in
      let change = Change(rawValue: number)!
      let folder = TemporaryFolder()
      let other = Partner {
        guard var other = try? Store.open(at: folder("v"), access: .readWrite) else { return 3 }
        guard (try? other.head()) == [1] else { return 4 }
        return (try? write([2], to: &other)) == nil ? 5 : 0
      }
      do {
        var store = try makeVault(at: folder("v"))
        try write([1], to: &store)
        // The log is in the file, so that another process can read it without that log.
        require(try store.checkpoint(truncate: false), "no checkpoint")
        for name in change.names { folder.remove(name) }
        let code = other.run()
        require(code == 0, "the other process: \(code)")
        require((try? write([9], to: &store)) == nil, "a commit was not refused")
        require((try? store.beginRead()) == nil, "a read was not refused")
      }
      var store = try Store.open(at: folder("v"), access: .readWrite)
      let head = try store.head()
      require(head == [2], "the commit was lost: \(head)")
      require(try store.integrityCheck() == [], "the file is damaged")
    }
  }

  /// The log is moved into the file at the refusal.
  @Test("what was acknowledged before the log was removed survives a kill after the refusal")
  func killed() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      do { _ = try makeVault(at: folder("v")) }
      let child = ForkedChild {
        guard var store = try? Store.open(at: folder("v"), access: .readWrite) else { return 3 }
        guard (try? write([1], to: &store)) != nil else { return 4 }
        folder.remove("v-wal")
        guard (try? write([2], to: &store)) == nil else { return 5 }
        kill(getpid(), SIGKILL)
        return 6
      }
      let code = child.wait()
      require(code == -SIGKILL, "\(code)")
      var store = try Store.open(at: folder("v"), access: .readOnly)
      let head = try store.head()
      require(head == [1], "the commit was lost: \(head)")
    }
  }

  @Test("a process that finds another log than the index describes says which file it is")
  func mixed() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let log = URL(fileURLWithPath: folder.path).resolvingSymlinksInPath().path + "/v-wal"
      let other = Partner {
        outcome(expecting: .sideFile(log)) {
          var other = try Store.open(at: folder("v"), access: .readWrite)
          _ = try other.head()
        }
      }
      var store = try makeVault(at: folder("v"))
      try write([1], to: &store)
      folder.remove("v-wal")
      let code = other.run()
      require(code == 0, "\(code)")
    }
  }
}

private func write(_ head: [UInt8], to store: inout Store) throws(StorageError) {
  try store.write { (store: inout Store) throws(StorageError) in try store.setHead(head) }
}
