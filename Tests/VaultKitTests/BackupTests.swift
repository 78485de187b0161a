import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Backup, restore, recovery", .bounded)
struct BackupTests {
  @Test("a backup restores on another machine by its passphrase alone", arguments: [nil, "pass"])
  func roundTrip(passcode: String?) throws {
    let (place, ids) = try filled(passcode)
    let backup = place.folder + "/data/b.vault"
    let report = try open(place, passcode).backUp(to: backup, passphrase: Passcode(testing: "long phrase"))
    expect(report.items, equals: 2)
    expect(report.leftOut.map(\.name), equals: ["device", "token"])
    let other = TemporaryVault(environment: .testing(clock: FixedClock()))
    expect(.authenticationFailed) { () throws(VaultError) in
      _ = try VaultCore.restore(
        from: backup, passphrase: Passcode(testing: "wrong"), to: other.path, protector: other.protector,
        environment: other.environment)
    }
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "long phrase"), to: other.path, protector: other.protector,
      environment: other.environment)
    expect(restored.report.needsResync, equals: 1)
    other.environment.passRestoreDelay()
    let core = try open(other, passcode)
    try expect(core.secret(of: ids[0]).bytesForTesting, equals: Array("plain".utf8))
    let state = try core.reading { transaction throws(VaultError) in try transaction.state(of: ids[1]) }
    #expect(state.needsResync && state.counter == 9)
    try expect(core.verify().problems, equals: [])
    try expect(core.status().vault, equals: open(place, passcode).status().vault)
    let access = AccessControl(.whenUnlocked, thisDeviceOnly: true)
    _ = try core.add(
      NewItem(.genericPassword, name: "new", access: access), secret: SecretBytes(testing: "x"))
    try expect(open(other, passcode).verify().problems, equals: [])
  }

  /// Section 8, bytes 232 to 239. Verified to fail when a backup keeps those of the vault.
  @Test("a restored vault knows of no end of a token, because it has none")
  func tokenEnd() throws {
    let clock = FixedClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    let core = try place.makeCore()
    var new = NewItem(.cardToken, name: "token")
    new.tokenLife = TokenLife(
      issued: clock.now(), issuedBootTime: clock.bootMilliseconds(), boot: clock.bootID() ?? [],
      length: 1000, mostUses: 1)
    new.expires = new.tokenLife?.expires
    _ = try core.add(new, secret: SecretBytes(testing: "t"), by: Component(.cardToken))
    let backup = place.folder + "/data/b.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "p"))
    let other = TemporaryVault(environment: .testing(clock: clock))
    _ = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "p"), to: other.path, protector: other.protector,
      environment: other.environment)
    var ends: [Bool] = []
    for place in [place, other] {
      try Intruder(place: place).changeHead { ends.append($0[232..<240].contains { $0 != 0 }) }
    }
    expect(ends, equals: [true, false])
  }

  @Test("a backup is refused as a vault, and a vault as a backup; nothing is written over")
  func mixedUp() throws {
    let (place, _) = try filled(nil)
    let core = try place.openCore()
    let backup = place.folder + "/data/b.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "p"))
    expect(.policy) { () throws(VaultError) in
      _ = try VaultCore.open(at: backup, protector: place.protector, environment: place.environment)
    }
    expect(.malformed) { () throws(VaultError) in
      _ = try VaultCore.restore(
        from: place.path, passphrase: Passcode(testing: "p"), to: place.folder + "/data/c.vault",
        protector: place.protector, environment: place.environment)
    }
    expect(.vaultExists) { () throws(VaultError) in
      _ = try core.backUp(to: backup, passphrase: Passcode(testing: "p"))
    }
    expect(.vaultExists) { () throws(VaultError) in
      _ = try VaultCore.restore(
        from: backup, passphrase: Passcode(testing: "p"), to: place.path, protector: place.protector,
        environment: place.environment)
    }
    try expect(place.openCore().verify().problems, equals: [])
  }

  @Test("restoring in place of a newer vault keeps the larger counters")
  func newer() throws {
    let (place, ids) = try filled(nil)
    let core = try place.openCore()
    let backup = place.folder + "/data/b.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "p"))
    try core.write { transaction in try transaction.changeState(of: ids[1]) { $0.counter = 77 } }
    let point = try core.restorePoint()
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "p"), to: place.folder + "/data/r.vault",
      protector: place.protector, newer: point, environment: place.environment)
    let state = try restored.core.reading { transaction throws(VaultError) in
      try transaction.state(of: ids[1])
    }
    #expect(state.counter == 77 && state.needsResync)
  }

  @Test(
    "the recovery code opens a vault whose device key is lost; the old key is refused",
    arguments: [nil, "pass"])
  func recovery(passcode: String?) throws {
    let (place, ids) = try filled(passcode)
    let core = try open(place, passcode)
    let code = try core.makeRecoveryCode()
    let status = try core.status()
    let old = try place.protector.loadKey(status.deviceKey, of: status.vault)
    try place.protector.deleteKey(status.deviceKey, of: status.vault)
    expect(.deviceKeyAbsent) { () throws(VaultError) in _ = try place.openCore() }
    let other = try TemporaryVault().makeCore().makeRecoveryCode()
    expect(.authenticationFailed) { () throws(VaultError) in _ = try recover(place, other) }
    let recovered = try recover(place, code)
    expect(recovered.lost.items.map(\.name), equals: ["device"])
    let again = try open(place, passcode)
    try expect(again.secret(of: ids[0]).bytesForTesting, equals: Array("plain".utf8))
    try expect(again.verify().problems, equals: [])
    let access = AccessControl(.whenUnlocked, thisDeviceOnly: true)
    _ = try again.add(
      NewItem(.genericPassword, name: "new", access: access), secret: SecretBytes(testing: "x"))
    let stolen = FileProtector(file: place.folder + "/stolen.key")
    try stolen.storeKey(old, of: status.vault)
    expect(.deviceKeyWrong) { () throws(VaultError) in
      _ = try VaultCore.open(at: place.path, protector: stolen, environment: place.environment)
    }
    try expect(recover(place, code).lost.items.map(\.name), equals: ["new"])
  }

  private func recover(_ place: TemporaryVault, _ code: borrowing RecoveryCode) throws(VaultError)
    -> RecoveredCore
  {
    try VaultCore.recover(
      at: place.path, with: code, protector: place.protector, environment: place.environment)
  }

  private func open(_ place: TemporaryVault, _ passcode: String?) throws -> VaultCore {
    let core = try place.openCore()
    if let passcode { try core.unlock(with: Passcode(testing: passcode)) }
    return core
  }

  /// A password, a HOTP prover at 9, a this-device-only password, a token.
  private func filled(_ passcode: String?) throws -> (TemporaryVault, [ItemID]) {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: passcode)
    let plain = try core.add(NewItem(.genericPassword, name: "plain"), secret: SecretBytes(testing: "plain"))
    var attributes = Attributes()
    attributes[.otpType] = 1
    attributes[.otpRole] = 1
    var hotp = NewItem(.otp, name: "hotp", attributes: attributes)
    hotp.state.counter = 9
    let credential = try core.add(
      hotp, secret: SecretBytes(testing: "12345678901234567890"), by: Component(.otp))
    let device = AccessControl(.whenUnlocked, thisDeviceOnly: true)
    _ = try core.add(
      NewItem(.genericPassword, name: "device", access: device), secret: SecretBytes(testing: "d"))
    _ = try core.add(
      NewItem(.cardToken, name: "token"), secret: SecretBytes(testing: "t"), by: Component(.cardToken))
    return (place, [plain.id, credential.id])
  }
}
