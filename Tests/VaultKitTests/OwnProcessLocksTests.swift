import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Another process looks for the locks, because a process does not see its own.
@Suite("The locks of an open vault stay while its own process uses the file", .bounded, .requirement("G9"))
struct OwnProcessLocksTests {
  private let place = TemporaryVault()

  /// What the library does with a vault file besides transactions.
  enum Use: CaseIterable, CustomTestStringConvertible {
    case outline, secondOpening, backup, hold, unfinished, leftovers, keeper, secretFile, secretInIndex,
      descriptor, wrongCode

    var testDescription: String { "\(self)" }
  }

  @Test("a use of the file beside an open transaction", arguments: Use.allCases)
  func used(_ use: Use) throws {
    let core = try place.makeCore(passcode: "passcode")
    let vault = try core.status().vault
    try core.writing { transaction throws(VaultError) in
      try transaction.log(.verified)
      do {
        try expect(locks(), equals: "True True\n")
        try run(use, vault)
        try expect(locks(), equals: "True True\n")
      } catch { Issue.record(error) }
    }
    try expect(core.verify().problems, equals: [])
  }

  private func run(_ use: Use, _ vault: VaultID) throws {
    switch use {
    case .outline: _ = try VaultOutline(at: place.path)
    case .secondOpening: _ = try place.openCore().items(matching: .all)
    case .backup:
      let other = try place.openCore()
      let error = thrown { () throws(VaultError) in
        _ = try other.backUp(to: place.folder + "/backup", passphrase: Passcode(testing: "phrase"))
      }
      expect(error?.code, equals: .locked)
    case .hold: #expect(try isHeld())
    case .unfinished: _ = try VaultNames.unfinished(beside: place.path)
    case .leftovers: _ = try InterruptedRestore(path: place.path, vault: vault).leftovers()
    case .keeper:
      _ = try RestoreFiles(path: place.path).keeper(of: VaultOutline(at: place.path).deviceKey, vault)
    case .secretFile: expectNoSecret(place.path)
    case .secretInIndex: expectNoSecret(place.path + "-shm")
    case .descriptor:
      for suffix in ["", "-wal", "-shm"] {
        let file = unsafe open(place.path + suffix, O_RDONLY | O_CLOEXEC)
        #expect(VaultNames.isOpenVault(file))
        VaultNames.close(file)
      }
    case .wrongCode:
      let code = try TemporaryVault().makeCore().makeRecoveryCode()
      expect(.authenticationFailed) { () throws(VaultError) in
        try VaultCore.checkRecoveryCode(code, at: place.path, environment: place.environment)
      }
    }
  }

  private func isHeld() throws -> Bool {
    guard let hold = try VaultNames.Hold(vault: place.path) else { return true }
    hold.keep()
    return false
  }

  private func expectNoSecret(_ path: String) {
    expect(.malformed) { () throws(VaultError) in _ = try SecretBytes.contents(ofFile: path) }
  }

  @Test("a descriptor that is closed directly ends them: the look from outside sees it")
  func control() throws {
    let core = try place.makeCore()
    try core.writing { transaction throws(VaultError) in
      try transaction.log(.verified)
      close(unsafe open(place.path, O_RDONLY | O_CLOEXEC))
      close(unsafe open(place.path + "-shm", O_RDONLY | O_CLOEXEC))
      do { try expect(locks(), equals: "False False\n") } catch { Issue.record(error) }
    }
  }

  @Test("a vault with the name of a lock file keeps its locks while another vault is made beside it")
  func namedAsLock() throws {
    let path = place.folder + "/x.lock"
    let core = try VaultCore.create(at: path, protector: place.protector, environment: place.environment)
    try core.writing { transaction throws(VaultError) in
      try transaction.log(.verified)
      let error = thrown { () throws(VaultError) in
        _ = try VaultCore.create(
          at: place.folder + "/x", protector: place.protector, environment: place.environment)
      }
      #expect(error != nil)
      do { try expect(locks(of: path), equals: "True True\n") } catch { Issue.record(error) }
    }
  }

  @Test("a descriptor that was kept is closed with the vault")
  func kept() throws {
    var core: VaultCore? = try place.makeCore()
    let file = unsafe open(place.path, O_RDONLY | O_CLOEXEC)
    VaultNames.close(file)
    #expect(fcntl(file, F_GETFD) >= 0)
    try expect(#require(core).status().itemCount, equals: 0)
    core = nil
    #expect(!VaultNames.isOpenVault(path: place.path))
  }

  /// Verified to fail with the end of commit b471ba6f: what was kept was closed when the vault counted as closed already, so it took the
  /// locks of whoever opened it just then. Acknowledged changes were lost that way.
  @Test("a vault that is opened while what was kept of it is being closed has its locks")
  func closedMeanwhile() throws {
    allowManyDescriptors()
    do { _ = try place.makeCore() }
    // Open all the time: closing it would end the locks.
    let probe = unsafe open(place.path, O_RDWR | O_CLOEXEC)
    defer { close(probe) }
    for round in 0..<60 {
      var core: VaultCore? = try place.openCore()
      for _ in 0..<700 { VaultNames.close(unsafe open(place.path, O_RDONLY | O_CLOEXEC)) }
      try expect(#require(core).status().itemCount, equals: 0)
      let begins = Atomic(false)
      let isDone = Atomic(false)
      let opened = Mutex<Bool?>(nil)
      let thread = Thread { [place] in
        while !begins.load(ordering: .acquiring) {}
        for _ in 0..<(round * 2_000) { _ = begins.load(ordering: .relaxed) }
        let other = try? place.openCore()
        // The locks must last, also when the other thread is done.
        while !isDone.load(ordering: .acquiring) {}
        let isLocked = other != nil && Self.isLocked(probe)
        opened.withLock { $0 = isLocked }
        withExtendedLifetime(other) {}
      }
      thread.start()
      begins.store(true, ordering: .releasing)
      core = nil
      isDone.store(true, ordering: .releasing)
      try waitUntil("the other opening") { opened.withLock { $0 != nil } }
      #expect(opened.withLock { $0 } == true, "round \(round)")
    }
  }

  /// F_OFD_GETLK, which the Glibc module lacks.
  private static let getOpenFileLock: Int32 = 36

  /// Whether a process has a reader's lock on the vault (SQLite's file format, section 2.2.1); also this one, which asks by another open file.
  private static func isLocked(_ file: Int32) -> Bool {
    var lock = flock()
    (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
    (lock.l_start, lock.l_len) = (0x4000_0002, 510)
    return unsafe fcntl(file, getOpenFileLock, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
  }

  private func allowManyDescriptors() {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_max, 4_096)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Whether others see the lock of a reader on the vault, and that of a writer on the index of its log (SQLite's file format,
  /// sections 2.2.1 and 4).
  private func locks(of path: String? = nil) throws -> String {
    try Program("/usr/bin/python3", ["-c", Self.look, path ?? place.path]).run().text
  }

  private static let look = """
    import fcntl, struct, sys
    def held(path, start, count):
        with open(path, "r+b") as file:
            asked = struct.pack("hhqqixxxx", fcntl.F_WRLCK, 0, start, count, 0)
            found = fcntl.fcntl(file, fcntl.F_GETLK, asked)
            return struct.unpack("hhqqixxxx", found)[0] != fcntl.F_UNLCK
    print(held(sys.argv[1], 0x40000002, 510), held(sys.argv[1] + "-shm", 120, 1))
    """
}
