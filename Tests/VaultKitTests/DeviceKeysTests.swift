import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

@Suite("The owner of device keys", .bounded)
struct DeviceKeysTests {
  /// Header field 20 of a vault or a backup.
  private func replacedKeys(_ path: String) throws -> [DeviceKeyID] {
    var store = try Store.open(at: path, access: .readOnly)
    let bytes = try Record(decoding: try store.header().body)[20] ?? []
    expect(bytes.count % 16, equals: 0)
    return stride(from: 0, to: bytes.count, by: 16).compactMap { DeviceKeyID(Array(bytes[$0..<$0 + 16])) }
  }

  // Verified to fail when the present key is added instead of the one before, and when the oldest are kept.
  @Test("each replaced key is listed once, the oldest first, the newest 64, and never the present one")
  func list() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    var seen: [DeviceKeyID] = []
    try expect(replacedKeys(place.path), equals: [])
    for _ in 0..<66 {
      seen.append(try core.status().deviceKey)
      try expect(core.rotateDeviceKey(), equals: .deleted)
      try expect(replacedKeys(place.path), equals: seen.suffix(64))
    }
    #expect(try !seen.contains(core.status().deviceKey))
    try expect(place.protector.keys(of: core.status().vault), equals: [core.status().deviceKey])
    try expect(place.openCore().verify().problems, equals: [])
  }

  @Test("a recovery lists the lost key; a backup, and what is restored from it, list none")
  func beginsEmpty() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let code = try core.makeRecoveryCode()
    let lost = try core.status().deviceKey
    let recovered = try VaultCore.recover(
      at: place.path, with: code, protector: place.protector, environment: place.environment
    ).core
    try expect(replacedKeys(place.path), equals: [lost])
    // The key was not lost after all: this vault knows that it replaced it.
    let found = try recovered.deviceKeys(in: place.protector)
    expect(found.first { $0.id == lost }?.standing, equals: .replaced)
    let backup = place.folder + "/data/b"
    _ = try recovered.backUp(to: backup, passphrase: Passcode(testing: "p"))
    try expect(replacedKeys(backup), equals: [])
    let path = place.folder + "/data/restored"
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "p"), to: path, protector: place.protector,
      environment: place.environment
    ).core
    try expect(replacedKeys(path), equals: [])
    // The keys of the vault that was backed up are not keys of this vault.
    let foreign = try restored.deviceKeys(in: place.protector).filter { $0.standing == .unknown }
    try expect(Set(foreign.map(\.id)), equals: [lost, recovered.status().deviceKey])
    #expect(try restored.deleteReplacedKeys(in: place.protector).removed.isEmpty)
    try expect(recovered.deleteReplacedKeys(in: place.protector).removed.map(\.id), equals: [lost])
    #expect(try place.openCore().verify().problems == [] && restored.verify().problems == [])
  }

  /// Key files whose storing reports a failure.
  private func failingFiles(_ files: FileProtector) -> PausingFiles {
    PausingFiles(files: files) { () throws(VaultError) in
      throw VaultError(.io, "the folder could not be synchronized")
    }
  }

  // Verified to fail when store() does not remove what it began.
  @Test("a key whose storing failed is removed again")
  func abandoned() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let vault = try core.status().vault
    let failing = failingFiles(place.protector)
    expect(.io) { () throws(VaultError) in try core.rotateDeviceKey(to: failing) }
    try expect(place.protector.keys(of: vault), equals: [core.status().deviceKey])
    let other = TemporaryVault()
    expect(.io) { () throws(VaultError) in
      _ = try VaultCore.create(
        at: other.path, protector: failingFiles(other.protector), environment: other.environment)
    }
    expect(.vaultMissing) { () throws(VaultError) in _ = try VaultCore.outline(at: other.path) }
  }

  // S2. On b5afbda the file that gets its name has no segment, and its first entry comes in a commit of
  // its own.
  @Test(
    "a vault and a restored vault have their first segment and entry in the file that gets its name",
    .requirement("S2"))
  func firstEntry() throws {
    let place = TemporaryVault()
    do {
      let core = try place.makeCore()
      #expect(
        try core.status().sequence == 1 && core.auditEntries(from: 1).map(\.operation) == [.vaultCreated])
      _ = try core.backUp(to: place.folder + "/data/b", passphrase: Passcode(testing: "p"))
      let restored = try VaultCore.restore(
        from: place.folder + "/data/b", passphrase: Passcode(testing: "p"), to: place.folder + "/data/r",
        protector: place.protector, environment: place.environment
      ).core
      try expect(restored.auditEntries(from: 1).map(\.operation.name), equals: ["restored"])
      try expect(restored.verify().problems, equals: [])
    }
    try expect(place.openCore().verify().problems, equals: [])
  }

  /// A vault with its key in a named file, and a rotation that was interrupted before the new key was moved to that
  /// file.
  private struct Interrupted {
    let place = TemporaryVault()
    /// Opened before it happened.
    let core: VaultCore
    let replaced, present: DeviceKeyID
    var file: String { place.folder + "/keys/my.key" }
    var named: FileProtector { FileProtector(file: file) }
    var waiting: String { "\(file).\(present.hexadecimal).new" }

    /// - Parameter isNeeded: A copy of the old vault is beside it, as after a restore.
    init(isNeeded: Bool = false) throws {
      let file = place.folder + "/keys/my.key"
      let named = FileProtector(file: file)
      _ = try VaultCore.create(at: place.path, protector: named, environment: place.environment)
      if isNeeded {
        try FileManager.default.copyItem(atPath: place.path, toPath: place.path + ".before-restore")
      }
      core = try VaultCore.open(at: place.path, protector: named, environment: place.environment)
      replaced = try core.status().deviceKey
      let content = try #require(FileManager.default.contents(atPath: file))
      _ = try core.rotateDeviceKey()
      present = try core.status().deviceKey
      if isNeeded {
        try FileManager.default.removeItem(atPath: "\(file).\(replaced.hexadecimal).new")
      }
      try FileManager.default.moveItem(atPath: file, toPath: "\(file).\(present.hexadecimal).new")
      let isBack = FileManager.default.createFile(
        atPath: file, contents: content, attributes: [.posixPermissions: 0o600])
      try #require(isBack)
      let found = named.namedKey
      expect(found, equals: replaced)
    }

    func open(_ path: String? = nil) throws(VaultError) -> VaultCore {
      try VaultCore.open(at: path ?? place.path, protector: named, environment: place.environment)
    }

    /// The key files in the folder, without what remembers the number of commits.
    var files: [String] {
      get throws {
        try FileManager.default.contentsOfDirectory(atPath: place.folder + "/keys")
          .filter { !$0.hasSuffix(".seen") }.sorted()
      }
    }
  }

  // Verified to fail when deleteReplacedKeys does not bring the present key into its place first.
  @Test("a key that waits beside a named file comes into its place before the replaced one is deleted")
  func interruptedThenDeleted() throws {
    let vault = try Interrupted()
    try expect(vault.core.deleteReplacedKeys(in: vault.named).removed.map(\.id), equals: [vault.replaced])
    expect(vault.named.namedKey, equals: vault.present)
    try expect(vault.files, equals: ["my.key"])
    try expect(vault.open().verify().problems, equals: [])
  }

  // Verified to fail when an opening leaves the present key where it waits.
  @Test("the next opening ends an interrupted rotation of a named key, and deletes none")
  func interruptedThenOpened() throws {
    let vault = try Interrupted()
    _ = try vault.open()
    expect(vault.named.namedKey, equals: vault.present)
    try expect(Set(vault.named.keys(of: vault.core.status().vault)), equals: [vault.present, vault.replaced])
    try expect(vault.open().deleteReplacedKeys(in: vault.named).removed.map(\.id), equals: [vault.replaced])
    try expect(vault.files, equals: ["my.key"])
    try expect(vault.open().verify().problems, equals: [])
  }

  // Verified to fail when `promote` does not end what the interrupted rotation had left.
  @Test("after one more rotation the named file holds the present key, whatever an interrupted one had left")
  func interruptedThenRotated() throws {
    let vault = try Interrupted()
    try expect(vault.core.rotateDeviceKey(), equals: .deleted)
    try expect(vault.named.namedKey, equals: vault.core.status().deviceKey)
    try expect(vault.files, equals: ["my.key"])
    try expect(vault.open().verify().problems, equals: [])
  }

  // Verified to fail when loadKey looks beside the named file only when that holds another key, and when one that
  // others can read is taken for lost.
  @Test("a key that waits beside a named file opens the vault where that file is gone, or cannot be read")
  func interruptedThenGone() throws {
    let vault = try Interrupted()
    try FileManager.default.removeItem(atPath: vault.file)
    try expect(vault.open().verify().problems, equals: [])
    #expect(
      FileManager.default.createFile(
        atPath: vault.file, contents: Data([1]), attributes: [.posixPermissions: 0o600]))
    try expect(vault.open().verify().problems, equals: [])
    // A file that is not a key of this vault stays, and the message says where the key is.
    try expect(vault.core.rotateDeviceKey(), equals: .deleted)
    let outline = try VaultCore.outline(at: vault.place.path)
    expect(FileManager.default.contents(atPath: vault.file), equals: Data([1]))
    let name = "\(vault.file).\(outline.deviceKey.hexadecimal).new"
    expect(vault.named.presentPath(of: outline.deviceKey, outline.vault), equals: name)
    // A key that others can read is refused, but not reported as lost.
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: name)
    expect(.deviceKeyUnavailable) { () throws(VaultError) in _ = try vault.open() }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: name)
    try expect(vault.open().verify().problems, equals: [])
  }

  // Verified to fail when finishPromotion sets no key aside.
  @Test("a replaced key in a named file that a kept vault needs gets a file of its own")
  func interruptedAndNeeded() throws {
    let vault = try Interrupted(isNeeded: true)
    #expect(try vault.core.deleteReplacedKeys(in: vault.named).removed.isEmpty)
    expect(vault.named.namedKey, equals: vault.present)
    try expect(vault.files, equals: ["my.key", "my.key.\(vault.replaced.hexadecimal).new"])
    for path in [vault.place.path, vault.place.path + ".before-restore"] {
      try expect(vault.open(path).verify().problems, equals: [])
    }
  }
}
