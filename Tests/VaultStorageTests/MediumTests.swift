import CSQLite
import Foundation
import TestSupport
import Testing
import VaultStorage

@Suite("Disks that are full, and media that cannot be written", .bounded)
struct MediumTests {
  let folder = TemporaryFolder()

  @Test("a full disk is an error of its own, changes nothing, and the store goes on when there is space")
  func full() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      var store = try makeVault(at: folder("v"))
      signal(SIGXFSZ, SIG_IGN)
      limitFileSize(300_000)
      let large = MaterialRow(keys: [1], secret: SeededBytes.of(1, count: 1 << 20))
      let code = outcome(expecting: .full) {
        try store.write { (store: inout Store) throws(StorageError) in
          try store.setHead([1])
          try store.setMaterial(large, row: 1)
          // A full disk rolled all back: what follows must neither run nor be committed by itself.
          try store.setHead([2])
        }
      }
      require(code == 0, "\(code)")
      require(try store.head().count == 290, "part of the transaction stayed")
      require(try store.material(row: 1)?.secret.count == 102, "part of the transaction stayed")

      // What fits is written still: nothing of the transaction that was too large waits to be written before it.
      try store.write { (store: inout Store) throws(StorageError) in try store.setHead([3]) }
      require(try store.head() == [3], "not written")

      limitFileSize(.max)
      try store.write { (store: inout Store) throws(StorageError) in try store.setMaterial(large, row: 1) }
      require(try store.material(row: 1) == large, "not written")
      require(try store.integrityCheck() == [], "integrity")
    }
  }

  @Test("an error that is caught inside the transaction does not let the rest be written")
  func caught() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      var store = try makeVault(at: folder("v"))
      signal(SIGXFSZ, SIG_IGN)
      limitFileSize(300_000)
      try store.beginImmediate()
      var caught = 0
      let secret = [UInt8](repeating: 7, count: 1 << 20)
      for row in 1...3 {
        do throws(StorageError) {
          // More than the cache holds is written before the commit.
          for part in 0..<200 {
            try store.setMaterial(MaterialRow(keys: [1], secret: secret), row: Int64(100 + part))
          }
        } catch {
          require(error == .full, "\(row): \(error)")
          caught += 1
        }
      }
      limitFileSize(.max)
      require(outcome(expecting: .full) { try store.setHead([7]) } == 0, "a change ran after the loss")
      require(caught == 3, "\(caught)")
      require(outcome(expecting: .full) { try store.commit() } == 0, "a lost transaction was committed")
      require(try store.counts().materials == 3, "rows stayed")
      try store.write { (store: inout Store) throws(StorageError) in try store.setHead([8]) }
      require(try store.head() == [8], "the store does not go on")
    }
  }

  /// Verified to fail when no file system is named at the opening.
  @Test("a file system that the application has made SQLite's default is not called")
  func defaultOfApplication() async {
    await #expect(processExitsWith: .success) {
      let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
      unsafe own.initialize(to: sqlite3_vfs_find(nil)!.pointee)
      unsafe own.pointee.zName = unsafe UnsafePointer(strdup("own"))
      unsafe own.pointee.xFullPathname = { _, _, _, _ in abort() }
      unsafe own.pointee.xAccess = { _, _, _, _ in abort() }
      require(unsafe sqlite3_vfs_register(own, 1) == SQLITE_OK, "not registered")
      let folder = TemporaryFolder()
      var store = try makeVault(at: folder("v"))
      try store.write { (store: inout Store) throws(StorageError) in try store.setHead([1]) }
      require(try store.head() == [1], "not written")
      require(unsafe sqlite3_vfs_find(nil) == own, "the default is another one")
    }
  }

  @Test("making a vault on a full disk leaves nothing")
  func makingOnFull() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      for limit in [0, 100, 4_096, 10_000, 40_000] as [rlim_t] {
        let folder = TemporaryFolder()
        limitFileSize(limit)
        let code = outcome(expecting: .full) { _ = try makeVault(at: folder("a/v"), items: 100) }
        limitFileSize(.max)
        require(code == 0, "\(limit): \(code)")
        require(folder.listing.isEmpty, "\(limit): \(folder.listing)")
      }
    }
  }

  @Test("a vault that has its name when the disk is full is not said to be missing")
  func openingOnFull() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let folder = TemporaryFolder()
      do {
        let made = try Store.create(
          at: folder("v"), publishing: { () throws(StorageError) in limitFileSize(0) }
        ) { (store: inout Store) throws(StorageError) in try fill(&store, items: 5) }
        require(made.lacksRoom, "there is room")
      }
      limitFileSize(.max)
      var store = try Store.open(at: folder("v"), access: .readWrite)
      require(try store.counts().items == 5, "not whole")
    }
  }

  @Test("a disk with 256 KiB: what was acknowledged stays, the rest is refused")
  func smallDisk() async throws {
    try needMounts("a small disk")
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      Mount.make(at: folder.path, "size=256k,mode=700")
      defer { Mount.remove(folder.path) }
      var store = try makeVault(at: folder("v"))
      var written = 0
      while written < 10_000 {
        let row = Int64(1_000 + written)
        do throws(StorageError) {
          try store.write { (store: inout Store) throws(StorageError) in
            let secret = SeededBytes.of(Int(row), count: 500)
            try store.setMaterial(MaterialRow(keys: id16(1), secret: secret), row: row)
          }
        } catch {
          require(error == .full, "\(error)")
          break
        }
        written += 1
      }
      require(written > 5 && written < 10_000, "\(written)")
      for row in 1_000..<1_000 + written {
        let secret = try store.material(row: Int64(row))?.secret
        require(secret == SeededBytes.of(row, count: 500), "row \(row)")
      }
      let rows = try store.counts().materials
      require(rows == 3 + written, "\(rows)")
    }
  }

  @Test("a folder or a file that cannot be written opens read-only and nothing is made")
  func unwritable() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      becomeOrdinary(folder)
      for (name, mode) in [("d/v", 0o500), ("e/v", 0o700)] as [(String, mode_t)] {
        do { _ = try makeVault(at: folder(name)) }
        folder.setMode(name, mode == 0o700 ? 0o400 : 0o600)
        folder.setMode(String(name.prefix(1)), mode)
        var store = try Store.open(at: folder(name), access: .readWrite)
        require(store.isReadOnly, "not read-only")
        require(try store.counts().items == 3, "rows")
        require(outcome(expecting: .readOnly) { try store.beginImmediate() } == 0, "a write began")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder(String(name.prefix(1))))
        require(names == ["v"], "\(names)")
        folder.setMode(String(name.prefix(1)), 0o700)
      }
      folder.setMode("d", 0o500)
      let code = outcome(expecting: .cannotOpen(errno: EACCES)) { _ = try makeVault(at: folder("d/x/w")) }
      require(code == 0, "making: \(code)")
      folder.setMode("d", 0o700)
    }
  }

  @Test("a log left in a folder that cannot be written is read, never passed over")
  func unwritableWithLog() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      becomeOrdinary(folder)
      leaveLog(folder)
      require(folder.names == ["v", "v-shm", "v-wal"], "\(folder.names)")
      folder.setMode("", 0o500)
      do {
        var store = try Store.open(at: folder("v"), access: .readWrite)
        require(store.isReadOnly, "not read-only")
        require(try store.head() == [42], "the log was passed over")
      }
      // Without the index of the log it cannot be read there.
      folder.setMode("", 0o700)
      folder.remove("v-shm")
      folder.setMode("", 0o500)
      let code = outcome(expecting: .readOnly) { try openAndDrop(folder("v")) }
      require(code == 0, "without -shm: \(code)")
      folder.setMode("", 0o700)
      var store = try Store.open(at: folder("v"), access: .readWrite)
      require(try store.head() == [42], "the log was lost")
    }
  }

  @Test("a medium mounted read-only opens read-only")
  func readOnlyMedium() async throws {
    try needMounts("a medium that is mounted read-only")
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      Mount.make(at: folder.path, "mode=700")
      defer { Mount.remove(folder.path) }
      do { _ = try makeVault(at: folder("v")) }
      Mount.makeReadOnly(folder.path)
      var store = try Store.open(at: folder("v"), access: .readWrite)
      require(store.isReadOnly, "not read-only")
      require(try store.counts().items == 3, "rows")
      require(outcome(expecting: .readOnly) { _ = try makeVault(at: folder("w")) } == 0, "making")
    }
  }
}

/// Verified to fail when the store is opened as usual alone: ``StorageError/full``.
extension MediumTests {
  @Test("a full disk is read: without a log, with one, with one whose index is gone", arguments: [0, 1, 2])
  func readingOnFull(log: Int) async throws {
    try needMounts("a full disk")
    await #expect(processExitsWith: .success) { [log = log as Int] in
      let folder = TemporaryFolder()
      // No file and no byte more than there are.
      Mount.make(at: folder.path, "size=512k,nr_inodes=20,mode=700")
      defer { Mount.remove(folder.path) }
      if log > 0 { leaveLog(folder) } else { _ = try makeVault(at: folder("v")) }
      if log == 2 { folder.remove("v-shm") }
      fillDisk(folder)
      var store = try Store.open(at: folder("v"), access: .readWrite)
      // The index that a killed process left has its room: no other is needed.
      require(store.lacksRoom == (log != 1) && store.isReadOnly == (log != 1), "there is room")
      require(try store.head() == (log > 0 ? [42] : store.head()), "the log was passed over")
      require(try store.counts().items == 3, "rows")
      try store.beginRead()
      require(try store.counts().items == 3, "rows in a transaction")
      try store.commit()
      if log != 1 {
        require(outcome(expecting: .full) { try store.beginImmediate() } == 0, "a write began")
      }
      // Two such stores read in turn, and neither keeps the other from it.
      var second = try Store.open(at: folder("v"), access: .readOnly)
      require(try second.counts().items == 3 && store.counts().items == 3, "in turn")
      // Room again: another store writes, and the first one sees it, and writes.
      emptyDisk(folder)
      var other = try Store.open(at: folder("v"), access: .readWrite)
      require(!other.isReadOnly && !other.lacksRoom, "no room")
      let before = store.dataVersion
      try other.write { (store: inout Store) throws(StorageError) in try store.setHead([9]) }
      require(try store.head() == [9] && store.dataVersion != before, "an old state")
      try store.write { (store: inout Store) throws(StorageError) in try store.setHead([10]) }
      require(try !store.isReadOnly && other.head() == [10], "not written")
      require(try store.integrityCheck() == [], "integrity")
    }
  }

  @Test("what a store reads in a transaction on a full disk no other store opens meanwhile")
  func heldOnFull() async throws {
    try needMounts("a full disk")
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      Mount.make(at: folder.path, "size=512k,nr_inodes=20,mode=700")
      defer { Mount.remove(folder.path) }
      do { _ = try makeVault(at: folder("v")) }
      fillDisk(folder)
      var store = try Store.open(at: folder("v"), access: .readWrite)
      try store.beginRead()
      emptyDisk(folder)
      let code = outcome(expecting: .busy) {
        _ = try Store.open(at: folder("v"), access: .readWrite, patience: .milliseconds(1))
      }
      require(code == 0, "opened: \(code)")
      store.rollback()
      _ = try Store.open(at: folder("v"), access: .readWrite)
    }
  }

  @Test("under a limit on file sizes a vault is read")
  func readingUnderLimit() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let folder = TemporaryFolder()
      do { _ = try makeVault(at: folder("v")) }
      limitFileSize(0)
      var store = try Store.open(at: folder("v"), access: .readWrite)
      require(try store.isReadOnly && store.counts().items == 3, "rows")
      require(outcome(expecting: .full) { try store.beginImmediate() } == 0, "a write began")
      limitFileSize(.max)
      try store.write { (store: inout Store) throws(StorageError) in try store.setHead([7]) }
      require(try store.head() == [7], "not written")
    }
  }
}

/// Makes files until no other can be made, and fills one of them until no byte more fits.
private func fillDisk(_ folder: TemporaryFolder) {
  var number = 0
  while case let file = unsafe open(folder("fill\(number)"), O_CREAT | O_WRONLY, 0o600), file >= 0 {
    close(file)
    number += 1
  }
  let file = unsafe open(folder("fill0"), O_WRONLY)
  let bytes = [UInt8](repeating: 1, count: 1024)
  while unsafe write(file, bytes, bytes.count) > 0 {}
  close(file)
}

private func emptyDisk(_ folder: TemporaryFolder) {
  for number in 0..<64 { unsafe unlink(folder("fill\(number)")) }
}

private func limitFileSize(_ byteCount: rlim_t) {
  var limit = rlimit()
  unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  limit.rlim_cur = byteCount
  require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, "setrlimit")
}

/// Makes a vault whose last commit, a head of 42, is in the log only, as a killed process leaves it.
private func leaveLog(_ folder: TemporaryFolder) {
  do { _ = try makeVault(at: folder("v")) } catch { require(false, "\(error)") }
  let child = ForkedChild {
    guard var store = try? Store.open(at: folder("v"), access: .readWrite) else { return 1 }
    try? store.write { (store: inout Store) throws(StorageError) in try store.setHead([42]) }
    kill(getpid(), SIGKILL)
    store.rollback()
    return 2
  }
  require(child.wait() == -SIGKILL, "no kill")
}

/// File systems of this process alone.
private enum Mount {
  private typealias Unshare = @convention(c) (Int32) -> Int32
  private typealias Attach =
    @convention(c) (
      UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, UInt, UnsafePointer<CChar>?
    ) -> Int32
  private typealias Detach = @convention(c) (UnsafePointer<CChar>, Int32) -> Int32

  static func make(at path: String, _ options: String) {
    let unshare = unsafe unsafeBitCast(dlsym(nil, "unshare")!, to: Unshare.self)
    let (newNamespace, recursivePrivate): (Int32, UInt) = (0x20000, 0x44000)
    let isMade =
      unsafe unshare(newNamespace) == 0 && attach("none", "/", "none", recursivePrivate, nil) == 0
      && attach("none", path, "tmpfs", 0, options) == 0
    require(isMade, "cannot mount: errno \(errno)")
  }

  static func makeReadOnly(_ path: String) {
    let (remount, readOnly): (UInt, UInt) = (32, 1)
    require(unsafe attach("none", path, "tmpfs", remount | readOnly, nil) == 0, "remount")
  }

  static func remove(_ path: String) {
    let detach = unsafe unsafeBitCast(dlsym(nil, "umount2")!, to: Detach.self)
    let lazily: Int32 = 2
    _ = unsafe detach(path, lazily)
  }

  private static var attach: Attach { unsafe unsafeBitCast(dlsym(nil, "mount")!, to: Attach.self) }
}
