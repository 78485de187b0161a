import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultAgent
import VaultCommands
import VaultKit
import VaultTestKit

/// Vaults that the agent has, between the requests for them.
@Suite("Vaults of the agent between requests", .bounded, .requirement("G17"))
struct RestingVaultTests {
  @Test("a vault that is locked is closed when its last request ends")
  func closed() throws {
    let rig = try ServedRig()
    _ = try rig.vault()
    _ = try rig.vault()
    rig.vaults.ended(rig.file, uses: 1)
    expect(rig.vaults.all().count, equals: 1)
    rig.vaults.ended(rig.file, uses: 1)
    #expect(rig.vaults.all().isEmpty)
    #expect(try rig.vault()?.isNew == true)
  }

  @Test("an unlocked vault stays open, is closed by its lock, and not while a request uses it")
  func locked() throws {
    let rig = try ServedRig()
    try rig.unlock()
    rig.vaults.ended(rig.file, uses: 1)
    expect(rig.vaults.all().map(\.isUnlocked), equals: [true])
    _ = try rig.vault()
    rig.vaults.lockAll(because: .command)
    rig.vaults.waitForLog()
    expect(rig.vaults.all().map(\.isUnlocked), equals: [false])
    rig.vaults.ended(rig.file, uses: 1)
    #expect(rig.vaults.all().isEmpty)
  }

  @Test("a lock closes a vault that no request uses, when its log has the entry")
  func closedByLock() throws {
    let rig = try ServedRig(log: LockLog())
    try rig.unlock()
    rig.vaults.ended(rig.file, uses: 1)
    rig.vaults.lockAll(because: .idle)
    rig.vaults.waitForLog()
    #expect(rig.vaults.all().isEmpty)
    try expect(rig.core.auditEntries().last?.detail, equals: LockReason.idle.rawValue)
  }

  @Test("after the last request the log of an unlocked vault is empty")
  func emptyLog() throws {
    let rig = try ServedRig()
    try rig.unlock()
    _ = try rig.core.add(NewItem(.genericPassword, name: "late"), secret: SecretBytes(testing: "x"))
    #expect(try rig.log(.size) as? Int != 0)
    rig.vaults.ended(rig.file, uses: 1)
    try expect(rig.log(.size) as? Int, equals: 0)
  }

  @Test("a vault whose file was written over is locked and closed, with no entry in its log")
  func writtenOver() throws {
    let rig = try ServedRig()
    let old = try Data(contentsOf: URL(fileURLWithPath: rig.place.path))
    try rig.unlock()
    _ = try rig.core.add(NewItem(.genericPassword, name: "late"), secret: SecretBytes(testing: "x"))
    rig.vaults.ended(rig.file, uses: 1)
    rig.vaults.dropReplaced()
    #expect(rig.core.hasOpenKeys)
    try rig.writeOver(old + Data(count: 4096))
    rig.vaults.dropReplaced()
    #expect(!rig.core.hasOpenKeys && rig.vaults.all().isEmpty)
    expect(rig.reasons(), equals: [])
  }

  @Test("a commit of another process is no writing over")
  func otherCommit() throws {
    let rig = try ServedRig()
    try rig.unlock()
    rig.vaults.ended(rig.file, uses: 1)
    let before = try rig.log(.modificationDate) as? Date
    let other = try rig.place.openCore()
    try other.unlock(with: Passcode(testing: "1234"))
    var count = 0
    // The clock of files goes in steps of some milliseconds.
    try waitUntil("a later time of the log") {
      count += 1
      _ = try other.add(NewItem(.genericPassword, name: "theirs \(count)"), secret: SecretBytes(testing: "x"))
      let isEmpty = other.emptyLog()
      return try isEmpty && rig.log(.modificationDate) as? Date != before
    }
    rig.vaults.dropReplaced()
    #expect(rig.core.hasOpenKeys)
    expect(rig.vaults.all().count, equals: 1)
  }
}

extension ServedRig {
  fileprivate func log(_ attribute: FileAttributeKey) throws -> Any? {
    try FileManager.default.attributesOfItem(atPath: place.path + "-wal")[attribute]
  }

  /// As `cp` does it, which keeps the file.
  fileprivate func writeOver(_ bytes: Data) throws {
    // Not closed: that would release the locks of this process on the vault.
    let file = unsafe open(place.path, O_WRONLY | O_TRUNC | O_CLOEXEC)
    try #require(file >= 0)
    try FileHandle(fileDescriptor: file, closeOnDealloc: false).write(contentsOf: bytes)
  }
}
