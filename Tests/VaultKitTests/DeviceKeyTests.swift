import SecretMemory
import Testing
import VaultKit
import VaultStorage
import VaultTestKit

@Suite("The owner of device keys")
struct DeviceKeyTests {
  /// Header field 20 of a vault or a backup.
  private func replacedKeys(_ path: String) throws -> [DeviceKeyID] {
    var store = try Store.open(at: path, access: .readOnly)
    let bytes = try Record(decoding: try store.header().body)[20] ?? []
    #expect(bytes.count % 16 == 0)
    return stride(from: 0, to: bytes.count, by: 16).compactMap { DeviceKeyID(Array(bytes[$0..<$0 + 16])) }
  }

  // Not yet planted: the present key is added in place of the one before; the oldest are kept.
  @Test("each replaced key is listed once, the oldest first, the newest 64, and never the present one")
  func list() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    var seen: [DeviceKeyID] = []
    #expect(try replacedKeys(place.path) == [])
    for _ in 0..<66 {
      seen.append(try core.status().deviceKey)
      #expect(try core.rotateDeviceKey() == .deleted)
      #expect(try replacedKeys(place.path) == seen.suffix(64))
    }
    #expect(try !seen.contains(core.status().deviceKey))
    #expect(try place.protector.keys(of: core.status().vault) == [core.status().deviceKey])
    #expect(try place.openCore().verify().problems == [])
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
    #expect(try replacedKeys(place.path) == [lost])
    // It was not lost after all: this vault knows that it replaced it.
    let found = try recovered.deviceKeys(in: place.protector)
    #expect(found.first { $0.id == lost }?.standing == .replaced)
    let backup = place.folder + "/data/b"
    _ = try recovered.backUp(to: backup, passphrase: Passcode(testing: "p"))
    #expect(try replacedKeys(backup) == [])
    let path = place.folder + "/data/restored"
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "p"), to: path, protector: place.protector,
      environment: place.environment
    ).core
    #expect(try replacedKeys(path) == [])
    // The keys of the vault that the backup was made of are not this one's.
    let foreign = try restored.deviceKeys(in: place.protector).filter { $0.standing == .unknown }
    #expect(try Set(foreign.map(\.id)) == [lost, recovered.status().deviceKey])
    #expect(try restored.deleteReplacedKeys(in: place.protector).isEmpty)
    #expect(try recovered.deleteReplacedKeys(in: place.protector).map(\.id) == [lost])
    #expect(try place.openCore().verify().problems == [] && restored.verify().problems == [])
  }

  /// Files, with a storing that says it failed.
  private struct Failing: Protector {
    let files: FileProtector
    var kind: ProtectorKind { .file }
    func probe(_ vault: VaultID) throws(VaultError) -> ProtectorState { try files.probe(vault) }
    func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
      try files.loadKey(key, of: vault)
    }
    func storeKey(_ key: borrowing DeviceKey, of vault: VaultID) throws(VaultError) {
      try files.storeKey(key, of: vault)
      throw VaultError(.io, "the folder could not be synchronized")
    }
    func deleteKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) {
      try files.deleteKey(key, of: vault)
    }
    func keys(of vault: VaultID) throws(VaultError) -> [DeviceKeyID] { try files.keys(of: vault) }
    func lock(_ vault: VaultID) throws(VaultError) -> ProtectorLock? { try files.lock(vault) }
  }

  // Not yet planted: store() does not remove what it began.
  @Test("a key whose storing failed is removed again")
  func abandoned() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    let vault = try core.status().vault
    let failing = Failing(files: place.protector)
    expect(.io) { () throws(VaultError) in try core.rotateDeviceKey(to: failing) }
    #expect(try place.protector.keys(of: vault) == [core.status().deviceKey])
    let other = TemporaryVault()
    expect(.io) { () throws(VaultError) in
      _ = try VaultCore.create(
        at: other.path, protector: Failing(files: other.protector), environment: other.environment)
    }
    expect(.vaultMissing) { () throws(VaultError) in _ = try VaultCore.outline(at: other.path) }
  }

  // S2. On b5afbda the file that gets its name has no segment, and its first entry comes in a commit of
  // its own.
  @Test("a vault and a restored vault have their first segment and entry in the file that gets its name")
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
      #expect(try restored.auditEntries(from: 1).map(\.operation.name) == ["restored"])
      #expect(try restored.verify().problems == [])
    }
    #expect(try place.openCore().verify().problems == [])
  }
}
