import Foundation
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Old device keys", .bounded)
struct OldKeyTests {
  // Verified to fail when deleteReplacedKeys deletes every key but the present one and rotateDeviceKey takes no lock.
  // Either alone does no harm: each of the two keeps the other's key.
  @Test("a key that is on its way into the vault is not removed as an old one")
  func race() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let other = try place.openCore()
    let ended = DispatchSemaphore(value: 0)
    let files = place.protector
    let removed = Count()
    try core.rotateDeviceKey(
      to: PausingFiles(files: files) {
        Thread {
          let keys = try? other.deleteReplacedKeys(in: files)
          removed.set(keys?.removed.count ?? -1)
          ended.signal()
        }.start()
        // Long enough for a removal that waits for nothing.
        usleep(300_000)
      })
    ended.wait()
    expect(removed.value, equals: 0)
    _ = try place.openCore()
    try expect(files.keys(of: core.status().vault), equals: [core.status().deviceKey])
  }

  // Verified to fail when the first error ends the removal.
  @Test("a key that cannot be removed is told of, and the others are removed")
  func stubborn() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let vault = try core.status().vault
    var old: [DeviceKeyID] = []
    for _ in 0..<3 {
      let id = try core.status().deviceKey
      let path = place.protector.path(of: id, vault)
      let content = try #require(FileManager.default.contents(atPath: path))
      try core.rotateDeviceKey()
      let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
      #expect(FileManager.default.createFile(atPath: path, contents: content, attributes: mode))
      old.append(id)
    }
    let first = try place.protector.keys(of: vault).first { old.contains($0) }
    let removal = try core.deleteReplacedKeys(
      in: PausingFiles(files: place.protector, refusesDeleting: first) {})
    #expect(removal.failures.count == 1 && removal.removed.count == 2)
    let left = try Set(place.protector.keys(of: vault))
    expect(left, equals: [try #require(first), try core.status().deviceKey])
  }

  /// Verified to fail when a new key is forgotten whenever the recovery or the restore fails.
  @Test("a new key that a vault names stays, also where what comes after it fails")
  func named() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let code = try core.makeRecoveryCode()
    let backup = place.folder + "/data/backup.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "p"))
    let refusing = PausingFiles(files: place.protector, refusesLoading: true) {}
    expect(.busy) { () throws(VaultError) in
      _ = try VaultCore.recover(
        at: place.path, with: code, protector: refusing, environment: place.environment)
    }
    try expect(place.openCore().verify().problems, equals: [])
    let path = place.folder + "/data/restored.vault"
    expect(.busy) { () throws(VaultError) in
      _ = try VaultCore.restore(
        from: backup, passphrase: Passcode(testing: "p"), to: path, protector: refusing,
        environment: place.environment)
    }
    let restored = try VaultCore.open(
      at: path, protector: place.protector, environment: place.environment)
    try expect(restored.verify().problems, equals: [])
    // One that no vault names goes: here the path is taken.
    let vault = try VaultCore.outline(at: path).vault
    let keys = try place.protector.keys(of: vault).count
    expect(.vaultExists) { () throws(VaultError) in
      _ = try VaultCore.restore(
        from: backup, passphrase: Passcode(testing: "p"), to: path, protector: refusing,
        environment: place.environment)
    }
    try expect(place.protector.keys(of: vault).count, equals: keys)
  }

  /// Carries a number out of a thread.
  private final class Count: Sendable {
    private let number = Mutex<Int?>(nil)
    var value: Int? { number.withLock { $0 } }
    func set(_ value: Int) { number.withLock { $0 = value } }
  }
}
