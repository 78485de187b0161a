import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("The device key of a change that was killed", .bounded)
struct LeftKeyTests {
  private let place = TemporaryVault()
  private var note: String { place.path + ".rotating" }

  /// What comes after the process that was killed.
  enum Next: CaseIterable {
    case rotation, rotationElsewhere, removal, recovery, restore
  }

  @Test("the next command that changes device keys deletes it, and its note", arguments: Next.allCases)
  func next(_ next: Next) async throws {
    let code = try place.makeCore().makeRecoveryCode()
    let backup = place.folder + "/data/b"
    do { _ = try place.openCore().backUp(to: backup, passphrase: Passcode(testing: "p")) }
    let left = try leaveKey()
    let before = try present
    try expect(
      place.openCore().deviceKeys(in: place.protector).first { $0.id == left }?.standing, equals: .left)
    switch next {
    case .rotation: try place.openCore().rotateDeviceKey()
    case .rotationElsewhere:
      try place.openCore().rotateDeviceKey(to: FileProtector(file: place.folder + "/keys/my.key"))
    case .removal:
      try expect(place.openCore().deleteReplacedKeys(in: place.protector).removed.map(\.id), equals: [left])
    case .recovery:
      try place.protector.deleteKey(before, of: vaultID)
      _ = try VaultCore.recover(
        at: place.path, with: code, protector: place.protector, environment: place.environment)
    case .restore:
      _ = try await Vault.restore(
        from: VaultPath(backup), passphrase: Passcode(testing: "p"), replacing: VaultPath(place.path),
        protector: place.protector, environment: place.environment)
    }
    let keys = try Set(place.protector.keys(of: vaultID))
    let needed: Set<DeviceKeyID> =
      switch next {
      case .rotation, .recovery: [try present]
      case .rotationElsewhere: []
      case .removal: [before]
      case .restore: [before, try present]
      }
    expect(keys, equals: needed)
    #expect(!FileManager.default.fileExists(atPath: note))
  }

  @Test("beside a named key file, the key that waits there is deleted, and the file keeps the vault's key")
  func namedFile() throws {
    let named = FileProtector(file: place.folder + "/keys/my.key")
    _ = try VaultCore.create(at: place.path, protector: named, environment: place.environment)
    func open() throws(VaultError) -> VaultCore {
      try VaultCore.open(at: place.path, protector: named, environment: place.environment)
    }
    let left = try leaveKey(in: named)
    try expect(open().deleteReplacedKeys(in: named).removed.map(\.id), equals: [left])
    try expect(named.keys(of: vaultID), equals: [present])
    _ = try leaveKey(in: named)
    try open().rotateDeviceKey()
    try expect(named.keys(of: vaultID), equals: [present])
    expect(named.namedKey, equals: try present)
    try expect(open().verify().problems, equals: [])
  }

  /// Why a key with a note is not one that was left.
  enum Reason: CaseIterable {
    case present, otherFile, otherVault, beside
  }

  @Test("a key with a note that something else may need stays", arguments: Reason.allCases)
  func stays(_ reason: Reason) throws {
    do { _ = try place.makeCore() }
    let left = try reason == .present ? present : leaveKey()
    switch reason {
    case .present: try writeNote(left)
    case .otherFile: try writeNote(left, inode: 7)
    case .otherVault: try writeNote(left, vault: String(repeating: "ab", count: 16))
    case .beside:
      try FileManager.default.copyItem(atPath: place.path, toPath: place.path + ".before-restore")
      try Data("mine".utf8).write(to: URL(fileURLWithPath: place.path + ".restoring"))
    }
    let removal = try place.openCore().deleteReplacedKeys(in: place.protector)
    #expect(removal.removed.isEmpty && removal.failures.isEmpty == (reason != .beside))
    #expect(try place.protector.keys(of: vaultID).contains(left))
    // An opening removes a note that says nothing.
    expect(FileManager.default.fileExists(atPath: note), equals: reason == .beside)
    try expect(place.openCore().verify().problems, equals: [])
  }

  @Test("while a key is on its way into the vault, it is neither listed as left nor deleted")
  func onItsWay() throws {
    let core = try place.makeCore()
    let place = place
    try core.rotateDeviceKey(
      to: PausingFiles(files: place.protector) { () throws(VaultError) in
        let other = try place.openCore()
        let found = try other.deviceKeys(in: place.protector).map(\.standing)
        let removed = try other.deleteReplacedKeys(in: LocklessFiles(files: place.protector)).removed
        #expect(Set(found.map { "\($0)" }) == ["present", "unknown"] && removed.isEmpty)
      })
    try expect(place.openCore().verify().problems, equals: [])
    try expect(place.protector.keys(of: vaultID), equals: [present])
    #expect(!FileManager.default.fileExists(atPath: note))
  }

  @Test("a file of the user with the name of the note stays, and no key is made")
  func foreignNote() throws {
    let core = try place.makeCore()
    let before = try place.protector.keys(of: vaultID)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: note))
    expect(.fileExists) { () throws(VaultError) in try core.rotateDeviceKey() }
    try expect(String(contentsOfFile: note, encoding: .utf8), equals: "mine")
    try expect(place.protector.keys(of: vaultID), equals: before)
    try expect(place.openCore().verify().problems, equals: [])
  }

  @Test(
    "a file of the user with a name that a restore makes stays, and nothing is restored",
    arguments: [".#.new", ".#.new-wal", "#-wal", "#.lock"])
  func foreignDraft(pattern: String) async throws {
    let backup = place.folder + "/data/b"
    do { _ = try place.makeCore().backUp(to: backup, passphrase: Passcode(testing: "p")) }
    let restoring = "test.vault.restoring-" + String(repeating: "0a", count: 16)
    let file = place.folder + "/data/" + pattern.replacingOccurrences(of: "#", with: restoring)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
    let before = try present
    await expect(.fileExists) {
      _ = try await Vault.restore(
        from: VaultPath(backup), passphrase: Passcode(testing: "p"), replacing: VaultPath(place.path),
        protector: place.protector, environment: place.environment)
    }
    try expect(String(contentsOfFile: file, encoding: .utf8), equals: "mine")
    try expect(place.openCore().status().deviceKey, equals: before)
  }

  // MARK: What a killed process leaves

  private var vaultID: VaultID { get throws { try VaultCore.outline(at: place.path).vault } }
  private var present: DeviceKeyID { get throws { try VaultCore.outline(at: place.path).deviceKey } }

  /// Leaves what a rotation leaves that is killed before its commit: a key, and the note that names it.
  private func leaveKey(in files: FileProtector? = nil) throws -> DeviceKeyID {
    let key = try DeviceKey.fresh(random: SeededRandom(seed: 7).source)
    try (files ?? place.protector).storeKey(key, of: vaultID)
    try writeNote(key.id)
    return key.id
  }

  private func writeNote(_ key: DeviceKeyID, vault: String? = nil, inode: UInt64? = nil) throws {
    let attributes = try FileManager.default.attributesOfItem(atPath: place.path)
    let number = try inode ?? #require(attributes[.systemFileNumber] as? UInt64)
    let digits = String(number, radix: 16)
    let words = [
      try vault ?? vaultID.hexadecimal, key.hexadecimal,
      String(repeating: "0", count: 32 - digits.count) + digits,
    ]
    try Data(words.joined(separator: " ").utf8).write(to: URL(fileURLWithPath: note))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: note)
  }
}
