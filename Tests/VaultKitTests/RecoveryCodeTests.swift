import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

@Suite("Recovery codes", .bounded, .requirement("U4"))
struct RecoveryCodeTests {
  private let place = TemporaryVault()

  @Test("made, replaced and removed at any time, with a passcode and without", arguments: [nil, "p"])
  func life(passcode: String?) throws {
    let core = try place.makeCore(passcode: passcode)
    #expect(try !core.status().hasRecoveryCode)
    expect(.policy) { () throws(VaultError) in try core.removeRecoveryCode() }
    let first = try core.makeRecoveryCode()
    try core.checkRecoveryCode(first)
    let second = try core.freshRecoveryCode()
    expect(.authenticationFailed) { () throws(VaultError) in try core.checkRecoveryCode(second) }
    try core.checkRecoveryCode(first)
    try core.setRecoveryCode(second)
    try core.checkRecoveryCode(second)
    expect(.authenticationFailed) { () throws(VaultError) in try core.checkRecoveryCode(first) }
    try expectSound(passcode)
    expect(.authenticationFailed) { () throws(VaultError) in _ = try place.recover(with: first) }
    let recovered = try place.recover(with: second).core
    if let passcode { try recovered.unlock(with: Passcode(testing: passcode)) }
    try recovered.removeRecoveryCode()
    #expect(try !recovered.status().hasRecoveryCode)
    expect(.authenticationFailed) { () throws(VaultError) in try recovered.checkRecoveryCode(second) }
    expect(.policy) { () throws(VaultError) in _ = try place.recover(with: second) }
    #expect(try Intruder(place: place).rows().slots.allSatisfy { $0.opener != 2 })
    try expectSound(passcode)
    let operations = try recovered.auditEntries().map(\.operation)
    expect(operations.count { $0 == .recoveryCodeMade }, equals: 2)
    #expect(operations.contains(.recoveryCodeRemoved))
  }

  @Test("a locked vault neither makes nor removes one, and says that it has one")
  func locked() throws {
    let code = try place.makeCore(passcode: "p").makeRecoveryCode()
    let core = try place.openCore()
    let config = try core.status().config
    expect(.locked) { () throws(VaultError) in _ = try core.makeRecoveryCode() }
    expect(.locked) { () throws(VaultError) in try core.removeRecoveryCode() }
    try core.checkRecoveryCode(code)
    #expect(try core.status().config == config && core.status().hasRecoveryCode)
  }

  /// The person writes the code down first, and the vault may lock meanwhile. Verified to fail when the commits do not say that they
  /// need the unlocked vault.
  @Test(
    "a program that can unlock the vault is asked to for the commit, but not for a code that is not there")
  func unlocking() throws {
    _ = try place.makeCore(passcode: "p")
    let core = try place.openCore()
    let asked = Mutex(0)
    let asking = core.committing(
      by: { _ in },
      unlocking: {
        asked.withLock { $0 += 1 }
        return (try? core.unlock(with: Passcode(testing: "p"))) != nil
      })
    expect(.policy) { () throws(VaultError) in try asking.removeRecoveryCode() }
    expect(asked.withLock { $0 }, equals: 0)
    let code = try asking.freshRecoveryCode()
    try asking.setRecoveryCode(code)
    try asking.checkRecoveryCode(code)
    core.lock()
    try asking.removeRecoveryCode()
    #expect(try !core.status().hasRecoveryCode && asked.withLock { $0 } == 2)
  }

  @Test("checking needs no device key, and a vault that does not belong together fails it")
  func check() throws {
    let core = try place.makeCore(passcode: "p")
    let code = try core.makeRecoveryCode()
    let status = try core.status()
    try place.protector.deleteKey(status.deviceKey, of: status.vault)
    try VaultCore.checkRecoveryCode(code, at: place.path, environment: place.environment)
    try Intruder(place: place).tamper { store throws(StorageError) in
      var slots = try store.slots()
      slots[0].body[20] ^= 1
      try store.replaceSlots(slots)
    }
    expect(.damaged) { () throws(VaultError) in
      try VaultCore.checkRecoveryCode(code, at: place.path, environment: place.environment)
    }
  }

  @Test("keys that another process changes while a code is being written down are sealed for that same code")
  func changedMeanwhile() throws {
    let core = try place.makeCore(passcode: "p")
    let code = try core.freshRecoveryCode()
    let other = try place.openCore()
    try other.rotateEpoch(passcode: Passcode(testing: "p"))
    try other.rotateDeviceKey()
    try other.changePasscode(from: Passcode(testing: "p"), to: Passcode(testing: "q"))
    expect(.locked) { () throws(VaultError) in try core.setRecoveryCode(code) }
    #expect(try !other.status().hasRecoveryCode)
    try core.unlock(with: Passcode(testing: "q"))
    try core.setRecoveryCode(code)
    try other.checkRecoveryCode(code)
    try expectSound("q")
    #expect(try place.recover(with: code).lost.items.isEmpty)
  }

  @Test("a code lives through a change of passcode, device key and epoch, and through a purge")
  func throughChanges() throws {
    let core = try place.makeCore(passcode: "p")
    let code = try core.makeRecoveryCode()
    try core.changePasscode(from: Passcode(testing: "p"), to: Passcode(testing: "q"))
    try core.rotateEpoch(passcode: Passcode(testing: "q"))
    try core.checkRecoveryCode(code)
    try core.purge(passcode: Passcode(testing: "q"))
    try core.checkRecoveryCode(code)
    _ = try core.removePasscode(Passcode(testing: "q"))
    try core.checkRecoveryCode(code)
    try expectSound(nil)
  }

  @Test(
    "the last two groups prove that a code was written down", arguments: ["same", "other", "half", "empty"])
  func lastGroups(kind: String) throws {
    let code = try place.makeCore().freshRecoveryCode()
    let text = String(decoding: code.text.bytesForTesting, as: UTF8.self)
    let end = text.suffix(9)
    let typed: [String] =
      switch kind {
      case "same": [String(end), end.lowercased(), end.filter { $0 != "-" } + " ", " " + String(end)]
      case "other": [String(text.prefix(9)), String(end.reversed()), text]
      case "half": [String(end.suffix(4)), String(end.dropLast())]
      default: ["", "-", " "]
      }
    for answer in typed {
      #expect(code.endsWith(SecretBytes(testing: answer)) == (kind == "same"), "\(kind)")
    }
  }

  private func expectSound(_ passcode: String?) throws {
    let core = try place.openCore()
    if let passcode { try core.unlock(with: Passcode(testing: passcode)) }
    try expect(core.verify().problems, equals: [])
  }
}

/// What a restore does with the recovery code, with and without a vault at the path (section 13).
@Suite("Recovery codes after a restore", .bounded)
struct RestoredRecoveryCodeTests {
  private let place = TemporaryVault(environment: .testing(clock: FixedClock()))
  private var backup: String { place.folder + "/data/b.vault" }
  private var restoredPath: String { place.folder + "/data/r.vault" }

  private func backUp(_ core: VaultCore) throws {
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "phrase"))
  }

  private func restore(over point: RestorePoint?, to path: String? = nil) throws -> RestoredCore {
    try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "phrase"), to: path ?? restoredPath,
      protector: place.protector, newer: point, environment: place.environment)
  }

  private func check(_ code: borrowing RecoveryCode) throws(VaultError) {
    try VaultCore.checkRecoveryCode(code, at: restoredPath, environment: place.environment)
  }

  private func recover(_ code: borrowing RecoveryCode) throws(VaultError) {
    _ = try VaultCore.recover(
      at: restoredPath, with: code, protector: place.protector, environment: place.environment)
  }

  private func fields() throws -> Record {
    let row = try Store.open(at: restoredPath, access: .readOnly).headerRow()
    return try Record(decoding: row.body)
  }

  @Test("over nothing the code of the backup is valid again", arguments: [nil, "p"])
  func overNothing(passcode: String?) throws {
    let core = try place.makeCore(passcode: passcode)
    let code = try core.makeRecoveryCode()
    try backUp(core)
    try expect(restore(over: nil).report.recoveryCode, equals: .valid)
    try check(code)
    try recover(code)
  }

  @Test("over a vault with the same code it still works", arguments: [nil, "p"])
  func same(passcode: String?) throws {
    let core = try place.makeCore(passcode: passcode)
    let code = try core.makeRecoveryCode()
    try backUp(core)
    try expect(restore(over: core.restorePoint()).report.recoveryCode, equals: .kept)
    try check(code)
    try recover(code)
  }

  @Test(
    "over a vault that has another code or none, no code works, and nothing is wrapped to either",
    arguments: [nil, "p"], [true, false])
  func another(passcode: String?, hasAnother: Bool) throws {
    let core = try place.makeCore(passcode: passcode)
    let old = try core.makeRecoveryCode()
    try backUp(core)
    let now = try core.makeRecoveryCode()
    if !hasAnother { try core.removeRecoveryCode() }
    let restored = try restore(over: core.restorePoint())
    expect(restored.report.recoveryCode, equals: .revoked)
    try expectRevoked(old)
    try expectRevoked(now)
    #expect(try !restored.core.status().hasRecoveryCode)
    #expect(try fields()[19] == (passcode == nil ? nil : [7, 0, 0, 0]))
    #expect(try (fields()[12] == nil) == (passcode == nil))
    // A backup of it, restored where there is no vault, does not bring the code back.
    if let passcode {
      place.environment.passRestoreDelay()
      try restored.core.unlock(with: Passcode(testing: passcode))
    }
    _ = try restored.core.backUp(to: backup + "2", passphrase: Passcode(testing: "phrase"))
    let beside = try VaultCore.restore(
      from: backup + "2", passphrase: Passcode(testing: "phrase"), to: restoredPath + "2",
      protector: place.protector, environment: place.environment)
    #expect(try beside.report.recoveryCode == nil && !beside.core.status().hasRecoveryCode)
    place.environment.passRestoreDelay()
    let again = try open()
    if let passcode { try again.unlock(with: Passcode(testing: passcode)) }
    #expect(try fields()[12] == nil && fields()[19] == nil)
    try expectRevoked(old)
    try expectRevoked(now)
    try enrollAndRotate(again, passcode)
    try expectRevoked(old)
    try expectRevoked(now)
    let last = try open()
    if let passcode { try last.unlock(with: Passcode(testing: passcode)) }
    let code = try last.makeRecoveryCode()
    try check(code)
    try expect(last.verify().problems, equals: [])
    try recover(code)
  }

  /// The factors are authenticated without the removed half.
  private func enrollAndRotate(_ core: VaultCore, _ passcode: String?) throws {
    if let passcode {
      let reopened = try open()
      try reopened.unlock(with: Passcode(testing: passcode))
      _ = try reopened.enroll(
        BiometricPhrase(testing: "mine"), named: "me", passcode: Passcode(testing: passcode))
      try reopened.rotateEpoch(passcode: Passcode(testing: passcode))
    } else {
      try core.rotateEpoch()
    }
  }

  @Test("a revoked code stays so when the passcode is removed by the very unlock")
  func removedPasscode() throws {
    let core = try place.makeCore(passcode: "p")
    let old = try core.makeRecoveryCode()
    try backUp(core)
    try core.removeRecoveryCode()
    let restored = try restore(over: core.restorePoint()).core
    _ = try restored.removePasscode(Passcode(testing: "p"))
    #expect(try fields()[12] == nil && fields()[19] == nil)
    try expectRevoked(old)
    try restored.rotateEpoch()
    try expectRevoked(old)
  }

  @Test("a backup without a code, over a vault that has one: none works, and it is told")
  func backupWithout() throws {
    let core = try place.makeCore(passcode: "p")
    try backUp(core)
    let code = try core.makeRecoveryCode()
    let restored = try restore(over: core.restorePoint())
    #expect(try restored.report.recoveryCode == .revoked && !restored.core.status().hasRecoveryCode)
    try expectRevoked(code)
    try restored.core.unlock(with: Passcode(testing: "p"))
    #expect(try restore(over: nil, to: restoredPath + "2").report.recoveryCode == nil)
  }

  private func open() throws(VaultError) -> VaultCore {
    try VaultCore.open(at: restoredPath, protector: place.protector, environment: place.environment)
  }

  private func expectRevoked(
    _ code: borrowing RecoveryCode, at location: SourceLocation = #_sourceLocation
  ) throws {
    expect(.authenticationFailed, at: location) { () throws(VaultError) in try check(code) }
    expect(.policy, at: location) { () throws(VaultError) in try recover(code) }
    let core = try open()
    expect(.policy, at: location) { () throws(VaultError) in try core.endDelay(with: code) }
    #expect(try Store.open(at: restoredPath, access: .readOnly).slotOpeners().contains(2) == false)
  }
}

extension Store {
  fileprivate consuming func headerRow() throws(StorageError) -> HeaderRow {
    var store = self
    return try store.header()
  }

  fileprivate consuming func slotOpeners() throws(StorageError) -> [UInt8] {
    var store = self
    return try store.slots().map(\.opener)
  }
}
