import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing
import VaultAgent
import VaultCommands
import VaultKit
import VaultTestKit

/// The vaults that the agent has open, by the identity of their files.
@Suite("Vaults of the agent", .bounded)
struct ServedVaultsTests {
  @Test("a file is one vault under all its names, and it is opened once", .requirement("G1"))
  func identity() throws {
    let rig = try ServedRig()
    let link = rig.place.folder + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: rig.place.path)
    let first = try #require(try rig.vault())
    let second = try #require(
      try rig.vaults.vault(rig.file, at: link, deviceKey: nil) { throw CocoaError(.fileNoSuchFile) })
    #expect(first.isNew && !second.isNew && first.core === second.core)
    #expect(rig.vaults.all().count == 1 && rig.vaults.accepts(rig.file, deviceKey: nil))
    #expect(!rig.vaults.accepts(rig.file, deviceKey: "/other"))
    #expect(try rig.vaults.vault(rig.file, at: link, deviceKey: "/other") { first.core } == nil)
  }

  @Test(
    "a vault locks when it was not used for its idle time, and asking for its state moves nothing",
    .requirement("G2"))
  func idle() throws {
    let rig = try ServedRig()
    try rig.unlock()
    rig.clock.advance(by: .seconds(599))
    _ = rig.vaults.all()
    #expect(rig.vaults.endLeases() == 1_600_000)
    #expect(rig.core.isUnlocked)
    rig.clock.advance(by: .seconds(1))
    _ = rig.vaults.all()
    #expect(rig.vaults.endLeases() == nil && !rig.core.isUnlocked)
    expect(rig.reasons(), equals: [.idle])
  }

  @Test("a use moves the idle end, never the absolute one", .requirement("G2"))
  func use() throws {
    let rig = try ServedRig()
    try rig.unlock(idle: .seconds(10), absolute: .seconds(25))
    for _ in 0..<3 {
      rig.clock.advance(by: .seconds(8))
      rig.vaults.endLeases()
      rig.vaults.used(rig.file)
    }
    #expect(rig.core.isUnlocked)
    rig.clock.advance(by: .seconds(1))
    rig.vaults.endLeases()
    #expect(!rig.core.isUnlocked)
    expect(rig.reasons(), equals: [.leaseEnded])
  }

  @Test("another unlock keeps the times of a lease that runs", .requirement("G2"))
  func again() throws {
    let rig = try ServedRig()
    try rig.unlock(idle: .seconds(60), absolute: .seconds(90))
    rig.clock.advance(by: .seconds(50))
    let vault = try #require(rig.vaults.unlocked(rig.file))
    #expect(vault.idleLeft == .seconds(40) && vault.absoluteLeft == .seconds(40), "\(vault)")
  }

  @Test(
    "a vault that was unlocked without the agent being told gets the usual lease with its next use",
    .requirement("G2"))
  func missingLease() throws {
    let rig = try ServedRig()
    _ = try rig.vault()
    try rig.core.unlock(with: Passcode(testing: "1234"))
    #expect(rig.vaults.endLeases() == nil)
    rig.vaults.used(rig.file)
    #expect(rig.vaults.endLeases() == 1_600_000)
  }

  @Test(
    "a vault whose file was replaced or deleted is locked and forgotten", .requirement("G3"),
    arguments: [false, true])
  func replaced(isDeleted: Bool) throws {
    let rig = try ServedRig()
    try rig.unlock()
    let (manager, path) = (FileManager.default, rig.place.path)
    if isDeleted {
      try manager.removeItem(atPath: path)
    } else {
      try manager.copyItem(atPath: path, toPath: path + ".new")
      _ = unsafe rename(path + ".new", path)
    }
    rig.vaults.dropReplaced()
    #expect(!rig.core.isUnlocked && rig.vaults.all().isEmpty)
    expect(rig.reasons(), equals: [.fileReplaced])
    #expect(try rig.vault() == nil)
    let next = FileIdentity(of: path)
    expect(next == nil, equals: isDeleted)
    let opened = try next.map {
      try rig.vaults.vault($0, at: path, deviceKey: nil) { try rig.place.openCore() }
    }
    expect(opened == nil, equals: isDeleted)
  }

  @Test("keys are wiped before the log is written, and a log that hangs delays no lock", .requirement("G3"))
  func logLater() throws {
    let goOn = DispatchSemaphore(value: 0)
    let wasUnlocked = Mutex<[Bool]>([])
    let log = LockLog { _, core in
      goOn.wait()
      wasUnlocked.withLock { $0.append(core.isUnlocked) }
    }
    let rig = try ServedRig(log: log)
    try rig.unlock()
    expect(rig.vaults.lockAll(because: .command), equals: [rig.place.path])
    #expect(!rig.core.isUnlocked && !log.wait(atMost: .nanoseconds(1)))
    goOn.signal()
    #expect(log.wait(atMost: .seconds(300)))
    expect(wasUnlocked.withLock { $0 }, equals: [false])
    expect(rig.vaults.lockAll(because: .command), equals: [], "it is locked")
  }

  @Test("the log of the vault says why it was locked", .requirement("G3"))
  func audit() throws {
    let log = LockLog()
    let rig = try ServedRig(log: log)
    try rig.unlock()
    rig.vaults.lockAll(because: .sessionLocked)
    #expect(log.wait(atMost: .seconds(300)))
    let entries = try rig.core.auditEntries()
    #expect(entries.last?.operation == .locked, "\(entries)")
    #expect(entries.last?.detail == LockReason.sessionLocked.rawValue, "\(entries)")
  }

  @Test(
    "what is unlocked while the machine goes to sleep is locked at once, and the log says so once",
    .requirement("G3"))
  func suspended() throws {
    let rig = try ServedRig()
    try rig.unlock()
    rig.vaults.lockAll(because: .sleep)
    try rig.core.unlock(with: Passcode(testing: "1234"))
    #expect(rig.vaults.unlocked(rig.file) == nil && !rig.core.isUnlocked)
    #expect(rig.vaults.setLease(of: rig.file, idle: nil, absolute: nil) == nil)
    expect(rig.reasons(), equals: [.sleep, .sleep], "one for each unlock")
    rig.vaults.awoke()
    try rig.core.unlock(with: Passcode(testing: "1234"))
    #expect(rig.vaults.unlocked(rig.file) != nil && rig.core.isUnlocked)
  }

  @Test(
    "a descriptor of an open vault stays open, and others are closed", .requirement("G9"),
    arguments: ["", "-wal", "-shm"])
  func descriptors(suffix: String) throws {
    let rig = try ServedRig()
    _ = try rig.vault()
    let held = unsafe open(rig.place.path + suffix, O_RDONLY | O_CLOEXEC)
    try #require(held >= 0)
    #expect(rig.vaults.holds(held))
    rig.vaults.closeUnlessHeld(held)
    #expect(fcntl(held, F_GETFD) >= 0)
    let other = unsafe open(rig.place.path + ".other", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    let number = FileIdentity(of: other)
    #expect(number != nil && !rig.vaults.holds(other))
    rig.vaults.closeUnlessHeld(other)
    #expect(FileIdentity(of: other) != number)
  }

  @Test("what is unlocked after the agent was told to end is locked at once", .requirement("G3"))
  func ending() throws {
    let rig = try ServedRig()
    _ = try rig.vault()
    rig.vaults.lockAll(because: .ending)
    rig.vaults.awoke()
    try rig.core.unlock(with: Passcode(testing: "1234"))
    #expect(rig.vaults.unlocked(rig.file) == nil && !rig.core.isUnlocked)
  }

  @Test("a descriptor of a vault is closed with the vault", .requirement("G9"))
  func keptUntilClosed() throws {
    let place = TemporaryVault()
    do { _ = try place.makeCore() }
    let file = try #require(FileIdentity(of: place.path))
    let vaults = ServedVaults(clock: FixedClock())
    _ = try vaults.vault(file, at: place.path, deviceKey: nil) { try place.openCore() }
    vaults.closeUnlessHeld(unsafe open(place.path, O_RDONLY | O_CLOEXEC))
    #expect(try openings(of: place.path) > 0)
    vaults.ended(file, uses: 1)
    try expect(openings(of: place.path), equals: 0)
  }

  @Test("a vault that keeps too many descriptors of its own files is locked", .requirement("G9"))
  func mostKept() throws {
    let rig = try ServedRig()
    try rig.unlock()
    for count in 1...ServedVaults.mostKept {
      rig.vaults.closeUnlessHeld(unsafe open(rig.place.path, O_RDONLY | O_CLOEXEC))
      expect(rig.core.isUnlocked, equals: count < ServedVaults.mostKept, "\(count)")
    }
    expect(rig.reasons(), equals: [.descriptors])
  }

  @Test("no more than sixteen vaults are open", .requirement("G8"))
  func most() throws {
    let rig = try ServedRig()
    var kept: [TemporaryVault] = []
    for _ in 0..<ServedVaults.mostVaults {
      let place = TemporaryVault()
      _ = try place.makeCore()
      kept.append(place)
      let file = try #require(FileIdentity(of: place.path))
      _ = try rig.vaults.vault(file, at: place.path, deviceKey: nil) { try place.openCore() }
    }
    #expect(rig.vaults.all().count == ServedVaults.mostVaults && !rig.vaults.hasRoom(for: rig.file))
    #expect(try rig.vault() == nil)
    expect(kept.count, equals: ServedVaults.mostVaults)
  }
}

/// How many descriptors of this process lead to a file.
private func openings(of path: String) throws -> Int {
  try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)) == path
  }
}

/// A vault with the passcode 1234 in the table of an agent, whose clock stands at 1,000 s after boot.
struct ServedRig {
  let clock = FixedClock()
  let place: TemporaryVault
  let core: VaultCore
  let file: FileIdentity
  let vaults: ServedVaults
  private let noted: NotedReasons

  init(log: LockLog? = nil) throws {
    let noted = NotedReasons()
    place = TemporaryVault(TestWorld(clock: clock))
    core = try place.makeCore(passcode: "1234")
    core.lock()
    file = try #require(FileIdentity(of: place.path))
    vaults = ServedVaults(clock: clock, log: log ?? LockLog { reason, _ in noted.add(reason) })
    self.noted = noted
  }

  /// As a request for it does.
  func vault() throws -> (core: VaultCore, isNew: Bool)? {
    try vaults.vault(file, at: place.path, deviceKey: nil) { core }
  }

  func unlock(idle: Duration? = nil, absolute: Duration? = nil) throws {
    _ = try vault()
    try core.unlock(with: Passcode(testing: "1234"))
    _ = try #require(vaults.setLease(of: file, idle: idle, absolute: absolute))
  }

  /// Why it was locked, each time.
  func reasons() -> [LockReason] {
    vaults.waitForLog()
    return noted.all
  }
}

final class NotedReasons: Sendable {
  private let reasons = Mutex<[LockReason]>([])
  func add(_ reason: LockReason) { reasons.withLock { $0.append(reason) } }
  var all: [LockReason] { reasons.withLock { $0 } }
}
