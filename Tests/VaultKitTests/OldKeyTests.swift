import Foundation
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Old device keys", .bounded)
struct OldKeyTests {
  // Verified to fail when rotateDeviceKey takes no lock, and when deleteReplacedKeys deletes every key but the present one.
  @Test("a key that is on its way into the vault is not removed as an old one")
  func onItsWay() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let other = try place.openCore()
    let files = place.protector
    let key = try files.path(of: core.status().deviceKey, core.status().vault)
    let directory = String(key[..<key.lastIndex(of: "/")!])
    let seen = Mutex<(isLocked: Bool, removed: Int)?>(nil)
    try core.rotateDeviceKey(
      to: PausingFiles(files: files) { () throws(VaultError) in
        let isLocked = ProtectorLock(atOnce: directory) == nil
        // The lock keeps a removal away. One without it knows the key as none of the replaced ones.
        let removed = try other.deleteReplacedKeys(in: LocklessFiles(files: files)).removed.count
        seen.withLock { $0 = (isLocked, removed) }
      })
    #expect(seen.withLock { $0?.isLocked == true && $0?.removed == 0 })
    _ = try place.openCore()
    try expect(files.keys(of: core.status().vault), equals: [core.status().deviceKey])
  }

  // Verified to fail when deleteReplacedKeys takes no lock.
  @Test("while the lock is held no old key is removed")
  func locked() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let old = try core.status().deviceKey
    let vault = try core.status().vault
    let content = try #require(FileManager.default.contents(atPath: place.protector.path(of: old, vault)))
    try core.rotateDeviceKey()
    let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    let path = place.protector.path(of: old, vault)
    #expect(FileManager.default.createFile(atPath: path, contents: content, attributes: mode))
    expect(.busy) { () throws(VaultError) in
      _ = try core.deleteReplacedKeys(in: PausingFiles(files: place.protector, refusesLock: true) {})
    }
    try expect(place.protector.keys(of: vault).count, equals: 2)
    try expect(core.deleteReplacedKeys(in: place.protector).removed.map(\.id), equals: [old])
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
}
