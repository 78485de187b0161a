import AuthenticatorKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Restore and recovery as calls", .bounded, .requirement("L6"))
struct VaultPlacesTests {
  private let place = TemporaryVault()
  private var path: VaultPath { VaultPath(place.path) }
  private var backup: VaultPath { VaultPath(place.folder + "/b.vault") }

  /// A vault with "mail", this device's "device" and a counter at 5; a backup of it; then "late" and the counter at 9.
  /// It is closed when this returns.
  @discardableResult
  private func filled() throws -> ItemID {
    let core = try place.makeCore()
    _ = try core.add(NewItem(.genericPassword, name: "mail"), secret: SecretBytes(testing: "m"))
    let device = AccessControl(.whenUnlocked, thisDeviceOnly: true)
    _ = try core.add(
      NewItem(.genericPassword, name: "device", access: device), secret: SecretBytes(testing: "d"))
    var attributes = Attributes()
    (attributes[.otpType], attributes[.otpRole]) = (1, 1)
    var new = NewItem(.otp, name: "counter", attributes: attributes)
    new.state.counter = 5
    let counter = try core.add(
      new, secret: SecretBytes(testing: "12345678901234567890"), by: Component(.otp)
    ).id
    _ = try core.backUp(to: backup.path, passphrase: Passcode(testing: "phrase"))
    _ = try core.add(NewItem(.genericPassword, name: "late"), secret: SecretBytes(testing: "l"))
    try core.write { transaction in try transaction.changeState(of: counter) { $0.counter = 9 } }
    _ = try core.makeRecoveryCode()
    return counter
  }

  private func restore(to path: VaultPath, _ phrase: String = "phrase") async throws -> RestoredVault {
    try await Vault.restore(
      from: backup, passphrase: Passcode(testing: phrase), to: path, protector: place.protector,
      environment: place.environment)
  }

  private func replace(_ phrase: String = "phrase") async throws -> RestoredVault {
    try await Vault.restore(
      from: backup, passphrase: Passcode(testing: phrase), replacing: path, protector: place.protector,
      environment: place.environment)
  }

  private func recover(_ code: borrowing RecoveryCode) async throws -> RecoveredVault {
    try await Vault.recover(
      at: path, with: code, protector: place.protector, environment: place.environment)
  }

  @Test("a restore makes a vault of the backup; a wrong passphrase and a taken path are refused")
  func restored() async throws {
    try filled()
    let other = VaultPath(place.folder + "/data/other.vault")
    await expect(.authenticationFailed) { _ = try await restore(to: other, "wrong") }
    await expect(.vaultExists) { _ = try await restore(to: path) }
    let restored = try await restore(to: other)
    #expect(restored.report.items == 2 && restored.report.needsResync == 1)
    #expect(restored.path == other.path && restored.oldVault == nil)
    let mail = try await restored.vault.items(matching: Query(name: "mail"))[0]
    try await expect(restored.vault.secret(of: mail.id).bytesForTesting, equals: Array("m".utf8))
    try await expect(restored.vault.verify().problems, equals: [])
  }

  @Test("files that are no backup, or not there, are refused")
  func noBackup() async throws {
    try filled()
    let other = VaultPath(place.folder + "/data/other.vault")
    let absent = VaultPath(place.folder + "/no")
    for (file, code) in [(path, VaultError.Code.malformed), (absent, .vaultMissing)] {
      await expect(code) {
        _ = try await Vault.restore(
          from: file, passphrase: Passcode(testing: "phrase"), to: other, protector: place.protector,
          environment: place.environment)
      }
    }
    await expect(.vaultMissing) { _ = try await Vault.open(at: other, protector: place.protector) }
  }

  // Verified to fail when the restore does not get the restore point of the replaced vault.
  @Test("a restore over the vault drops what was listed, keeps the larger counter and the old vault")
  func replaced() async throws {
    let counter = try filled()
    let dropped = try await Vault.droppedItems(
      byRestoring: backup, passphrase: Passcode(testing: "phrase"), over: path, protector: place.protector,
      environment: place.environment)
    expect(dropped.map(\.name), equals: ["device", "late"])
    await expect(.authenticationFailed) { _ = try await replace("wrong") }
    try expect(place.openCore().status().itemCount, equals: 4)
    let restored = try await replace()
    expect(restored.report.dropped.map(\.name), equals: ["device", "late"])
    expect(restored.report.recoveryCode, equals: .revoked)
    let state = try await restored.vault.read { try $0.state(of: counter) }
    #expect(state.counter == 9 && state.needsResync)
    let aside = try #require(restored.oldVault)
    let old = try VaultCore.open(at: aside, protector: place.protector, environment: place.environment)
    try expect(old.status().itemCount, equals: 4)
    try await expect(restored.vault.verify().problems, equals: [])
  }

  @Test("a restore is refused over an open vault, over another one, and beside an earlier old one")
  func refused() async throws {
    try filled()
    do {
      let open = try place.openCore()
      await expect(.busy) { _ = try await replace() }
      try expect(open.status().itemCount, equals: 4)
    }
    try Data([1]).write(to: URL(fileURLWithPath: place.path + ".before-restore"))
    await expect(.fileExists) { _ = try await replace() }
    let other = TemporaryVault()
    do { _ = try other.makeCore() }
    await expect(.policy) {
      _ = try await Vault.restore(
        from: backup, passphrase: Passcode(testing: "phrase"), replacing: VaultPath(other.path),
        protector: other.protector, environment: other.environment)
    }
    try expect(place.openCore().status().itemCount, equals: 4)
  }

  // Verified to fail when a recovery does not look for the device key.
  @Test("a recovery is refused while the device key is there, and then loses only the items of this device")
  func recovered() async throws {
    try filled()
    let code = try place.openCore().makeRecoveryCode()
    await expect(.policy) { _ = try await recover(code) }
    try expect(place.openCore().status().itemCount, equals: 4)
    try FileManager.default.removeItem(atPath: place.folder + "/state")
    let other = try TemporaryVault().makeCore().makeRecoveryCode()
    await expect(.authenticationFailed) { _ = try await recover(other) }
    let recovered = try await recover(code)
    expect(recovered.lost.items.map(\.name), equals: ["device"])
    try await expect(recovered.vault.items(matching: Query()).count, equals: 3)
    try await expect(recovered.vault.verify().problems, equals: [])
  }

  // Verified to fail when only a key in a file is looked for.
  @Test(
    "a recovery to a key file is refused while the Secret Service has the key, or is locked",
    arguments: [nil, .deviceKeyLocked, .deviceKeyUnavailable] as [VaultError.Code?])
  func keptElsewhere(fault: VaultError.Code?) async throws {
    var environment = place.environment
    let keeper = Elsewhere(files: FileProtector(folder: place.folder + "/service"))
    let core = try VaultCore.create(at: place.path, protector: keeper, environment: environment)
    let device = AccessControl(.whenUnlocked, thisDeviceOnly: true)
    _ = try core.add(
      NewItem(.genericPassword, name: "device", access: device), secret: SecretBytes(testing: "d"))
    let code = try core.makeRecoveryCode()
    let broken = Elsewhere(files: keeper.files, fault: fault)
    environment.protector = { kind throws(VaultError) in
      guard kind == .secretService else { throw VaultError(.unsupported, "no such keeper") }
      return broken
    }
    func recover() async throws(VaultError) -> RecoveredVault {
      try await Vault.recover(
        at: path, with: code, protector: FileProtector(file: place.folder + "/new.key"),
        environment: environment)
    }
    if fault == .deviceKeyUnavailable {
      try await expect(recover().lost.items.map(\.name), equals: ["device"])
    } else {
      await expect(fault ?? .policy) { _ = try await recover() }
      try expect(core.status().itemCount, equals: 1)
      #expect(!FileManager.default.fileExists(atPath: place.folder + "/new.key"))
    }
  }

  @Test("without a recovery code a lost device key stays lost")
  func noCode() async throws {
    do { _ = try place.makeCore() }
    try FileManager.default.removeItem(atPath: place.folder + "/state")
    let other = try TemporaryVault().makeCore().makeRecoveryCode()
    await expect(.policy) { _ = try await recover(other) }
  }
}

/// A keeper of keys that counts as the Secret Service, and may refuse.
private struct Elsewhere: WrappedFiles {
  let files: FileProtector
  var fault: VaultError.Code?
  var kind: ProtectorKind { .secretService }

  func loadKey(_ key: DeviceKeyID, of vault: VaultID) throws(VaultError) -> DeviceKey {
    if let fault { throw VaultError(fault, "refused") }
    return try files.loadKey(key, of: vault)
  }
}
