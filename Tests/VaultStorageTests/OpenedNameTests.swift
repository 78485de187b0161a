import Foundation
import TestSupport
import Testing
import VaultStorage

/// Verified to fail, each of them, when a commit does not compare the name: what is acknowledged is in no file of that name.
@Suite("A vault's name that leads elsewhere while it is open", .bounded, .requirement("S3"))
struct OpenedNameTests {
  let folder = TemporaryFolder()

  /// What happens to the name of an open vault.
  enum Change: String, CaseIterable, CustomTestStringConvertible {
    case removed = "the file removed"
    case moved = "the file moved away"
    case replaced = "a copy moved over the file"
    case linked = "a second name"
    case folderMoved = "the folder moved, another vault in its place"
    case folderRemoved = "the folder removed"
    var testDescription: String { rawValue }
  }

  @Test("a commit is refused and writes nothing", arguments: Change.allCases)
  func refused(change: Change) throws {
    let files = FileManager.default
    var store = try makeVault(at: folder("a/v"))
    try store.write { (store: inout Store) throws(StorageError) in try store.setHead([1]) }
    let path = store.path
    // By another process: closing a descriptor of the vault here would drop the store's locks.
    switch change {
    case .removed: folder.remove("a/v")
    case .moved: try files.moveItem(atPath: folder("a/v"), toPath: folder("a/w"))
    case .replaced:
      do { _ = try makeVault(at: folder("b/v")) }
      unsafe expect(rename(folder("b/v"), folder("a/v")), equals: 0)
    case .linked: unsafe expect(link(folder("a/v"), folder("a/w")), equals: 0)
    case .folderMoved:
      try files.moveItem(atPath: folder("a"), toPath: folder("c"))
      do { _ = try makeVault(at: folder("a/v")) }
    case .folderRemoved:
      for name in ["a/v", "a/v-wal", "a/v-shm", "a"] { folder.remove(name) }
    }
    for _ in 0..<2 {
      #expect(throws: StorageError.moved(path)) {
        try store.write { (store: inout Store) throws(StorageError) in try store.setHead([2]) }
      }
      #expect(throws: StorageError.moved(path)) { try store.checkpoint(truncate: true) }
      #expect(throws: StorageError.moved(path)) { try store.vacuum() }
    }
    // What was acknowledged before is still there for a process that has the file open.
    try expect(store.head(), equals: [1])
    let isInTransaction = store.isInTransaction
    #expect(!isInTransaction)
  }

  @Test("a store whose vault was replaced does no harm to the new vault when it closes")
  func closing() throws {
    var new: Store
    do {
      var store = try makeVault(at: folder("a/v"))
      try store.write { (store: inout Store) throws(StorageError) in try store.setHead([1]) }
      try FileManager.default.moveItem(atPath: folder("a"), toPath: folder("c"))
      new = try makeVault(at: folder("a/v"))
      try new.write { (store: inout Store) throws(StorageError) in try store.setHead([2]) }
    }
    #expect(FileManager.default.fileExists(atPath: folder("a/v-wal")))
    var other = try Store.open(at: folder("a/v"), access: .readOnly)
    try expect(other.head(), equals: [2])
    var moved = try Store.open(at: folder("c/v"), access: .readOnly)
    try expect(moved.head(), equals: [1])
  }

  @Test("a name that leads to the vault by another way is the same name")
  func sameByLink() throws {
    var store = try makeVault(at: folder("a/v"))
    try FileManager.default.moveItem(atPath: folder("a"), toPath: folder("b"))
    try FileManager.default.createSymbolicLink(atPath: folder("a"), withDestinationPath: "b")
    try store.write { (store: inout Store) throws(StorageError) in try store.setHead([1]) }
    try expect(store.head(), equals: [1])
  }
}
