import Dispatch
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Each lock comes from another thread, and the work goes on only when the lock has returned. A lock that waits for the work never
/// returns, and the limit of the test ends it.
@Suite("A lock while another thread works with the vault", .bounded, .requirement("G3"))
struct LockDuringWorkTests {
  private let place = TemporaryVault()

  /// A vault with two items, one of which opens without the passcode.
  private func scene() throws -> (core: VaultCore, guarded: ItemID, open: ItemID) {
    let core = try place.makeCore(passcode: "passcode")
    let guarded = try core.add(NewItem(.genericPassword, name: "guarded"), secret: SecretBytes(testing: "s"))
    let open = try core.add(
      NewItem(.genericPassword, name: "open", access: AccessControl(.afterFirstUnlock)),
      secret: SecretBytes(testing: "s"))
    return (core, guarded.id, open.id)
  }

  /// Locks from another thread, and waits until the lock has returned.
  private func lockElsewhere(_ core: VaultCore) {
    let returned = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      core.lock()
      returned.signal()
    }
    returned.wait()
  }

  @Test("does not wait for a reading: secrets behind the passcode no longer open in it, and all others do")
  func reading() throws {
    let (core, guarded, open) = try scene()
    try core.reading { transaction throws(VaultError) in
      _ = try transaction.useSecret(of: transaction.item(guarded), by: nil)
      #expect(core.hasOpenKeys)
      lockElsewhere(core)
      #expect(!core.hasOpenKeys)
      let item = try transaction.item(guarded)
      expect(
        thrown { () throws(VaultError) in _ = try transaction.useSecret(of: item, by: nil) }?.code,
        equals: .locked)
      _ = try transaction.useSecret(of: transaction.item(open), by: nil)
      try expect(transaction.items(matching: .all).count, equals: 2)
    }
    #expect(!core.isUnlocked)
    try core.unlock(with: Passcode(testing: "passcode"))
    try expect(core.secret(of: guarded).byteCount, equals: 1)
  }

  @Test("undoes a change that has used the passcode's keys, and leaves one that has not")
  func changing() throws {
    let (core, _, _) = try scene()
    let error = thrown { () throws(VaultError) in
      try core.writing { transaction throws(VaultError) in
        _ = try transaction.add(NewItem(.genericPassword, name: "new"), secret: SecretBytes(testing: "s"))
        lockElsewhere(core)
      }
    }
    expect(error?.code, equals: .locked)
    try core.writing { transaction throws(VaultError) in
      lockElsewhere(core)
      _ = try transaction.add(
        NewItem(.genericPassword, name: "other", access: AccessControl(.afterFirstUnlock)),
        secret: SecretBytes(testing: "s"))
    }
    try expect(core.items(matching: .all).map(\.name), equals: ["guarded", "open", "other"])
    try expect(core.verify().problems, equals: [])
  }

  @Test("ends a verification as locked")
  func verifying() throws {
    let (core, _, _) = try scene()
    let error = thrown { () throws(VaultError) in
      _ = try core.verify(progress: { if $0.done == $0.total { lockElsewhere(core) } })
    }
    expect(error?.code, equals: .locked)
    try expect(core.verify().lockedSecrets, equals: 1)
  }

  @Test("ends a backup as locked, without a file")
  func backingUp() throws {
    let (core, _, _) = try scene()
    let path = place.folder + "/backup.vault"
    let error = thrown { () throws(VaultError) in
      _ = try core.backUp(
        to: path, passphrase: Passcode(testing: "phrase"), publishing: { lockElsewhere(core) })
    }
    expect(error?.code, equals: .locked)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(
    "ends a rotation as locked, before or after its items; the next rotation completes it", arguments: [0, 3])
  func rotating(done: Int) throws {
    let (core, guarded, _) = try scene()
    let error = thrown { () throws(VaultError) in
      try core.rotateEpoch(
        passcode: Passcode(testing: "passcode"), progress: { if $0.done > done { lockElsewhere(core) } })
    }
    expect(error?.code, equals: .locked)
    #expect(!core.isUnlocked)
    expect(core.isRotating, equals: done > 0)
    try core.rotateEpoch(passcode: Passcode(testing: "passcode"))
    #expect(!core.isRotating)
    try expect(core.verify().problems, equals: [])
    try expect(core.secret(of: guarded).byteCount, equals: 1)
  }
}
