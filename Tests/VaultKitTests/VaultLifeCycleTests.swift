import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

@Suite("The life of an open vault as calls", .bounded, .requirement("L6"))
struct VaultLifeCycleTests {
  /// Counts the calls of a progress closure, and checks each.
  private final class Steps: Sendable {
    private let count = Mutex(0)
    var isEmpty: Bool { count.withLock { $0 == 0 } }

    func note(_ progress: VerifyProgress) {
      #expect(progress.done <= progress.total)
      count.withLock { $0 += 1 }
    }
  }

  private func add(_ count: Int, to vault: Vault) async throws {
    try await vault.write { transaction in
      for index in 0..<count {
        _ = try transaction.add(
          NewItem(.genericPassword, name: "item \(index)"), secret: SecretBytes(testing: "s"))
      }
    }
  }

  @Test("a backup tells what it left out and how far it is, and replaces no file")
  func backUp() async throws {
    let place = TemporaryVault()
    let vault = try place.make()
    try await add(3, to: vault)
    let access = AccessControl(.whenUnlocked, thisDeviceOnly: true)
    _ = try await vault.add(NewItem(.genericPassword, name: "here", access: access))
    let path = VaultPath(place.folder + "/b.vault")
    let steps = Steps()
    let report = try await vault.backUp(
      to: path, passphrase: Passcode(testing: "phrase"), progress: { steps.note($0) })
    #expect(report.items == 3 && report.leftOut.map(\.name) == ["here"] && !steps.isEmpty)
    expect(report.leftOut.map(\.reason), equals: [.thisDeviceOnly])
    await expect(.vaultExists) {
      _ = try await vault.backUp(to: path, passphrase: Passcode(testing: "phrase"))
    }
  }

  @Test("a rotation of the device key deletes the old key, or names the file that needs it")
  func deviceKey() async throws {
    let place = TemporaryVault()
    let vault = try place.make()
    let aside = place.path + ".before-restore"
    try FileManager.default.copyItem(atPath: place.path, toPath: aside)
    let before = try await vault.status().deviceKey
    let kept = try await vault.rotateDeviceKey()
    #expect(!kept.isDeleted && kept.keeper == aside && kept.isKeeperReadable)
    #expect(try await vault.status().deviceKey != before)
    try FileManager.default.removeItem(atPath: aside)
    let files = FileProtector(file: place.folder + "/keys/my.key")
    #expect(try await vault.rotateDeviceKey(to: files).isDeleted)
    try await expect(files.keys(of: vault.status().vault).count, equals: 1)
    try await expect(vault.verify().problems, equals: [])
  }

  @Test("a rotation of the epoch needs the passcode that is set, and gives the new generation")
  func epoch() async throws {
    let place = TemporaryVault()
    let vault = try place.make(passcode: "pass")
    try await add(3, to: vault)
    await expect(.locked) { _ = try await vault.rotateEpoch() }
    await expect(.authenticationFailed) {
      _ = try await vault.rotateEpoch(passcode: Passcode(testing: "other"))
    }
    try await expect(vault.status().generation, equals: 1)
    let steps = Steps()
    let report = try await vault.rotateEpoch(
      passcode: Passcode(testing: "pass"), progress: { steps.note($0) })
    #expect(report.generation == 2 && report.items == 3 && report.dropped.isEmpty && !steps.isEmpty)
    let verified = try await vault.verify()
    #expect(verified.isComplete && verified.problems == [])
  }

  // Verified to fail when `continueRotation` says that nothing is left after its first batch.
  @Test("a rotation in steps lets other calls run in between, and ends in a later session")
  func steps() async throws {
    let place = TemporaryVault()
    let vault = try place.make()
    try await add(700, to: vault)
    #expect(try await vault.continueRotation() == false)
    try await vault.beginRotation()
    await expect(.policy) { try await vault.beginRotation() }
    #expect(try await vault.continueRotation() == true)
    #expect(try await vault.status().isRotating)
    let late = try await vault.add(
      NewItem(.genericPassword, name: "late"), secret: SecretBytes(testing: "l"))
    let other = try place.open()
    while try await other.continueRotation() {}
    let status = try await other.status()
    #expect(!status.isRotating && status.generation == 2)
    try await expect(vault.secret(of: late.id).bytesForTesting, equals: Array("l".utf8))
    try await expect(vault.verify().problems, equals: [])
  }

  // Verified to fail when a paused rotation is not an error: the loop of a caller would then never end.
  @Test("a rotation that meets damage pauses with an error; the parts are listed and can be dropped")
  func damaged() async throws {
    let place = TemporaryVault()
    let vault = try place.make()
    try await add(3, to: vault)
    try await vault.beginRotation()
    let id = try await vault.items(matching: Query(name: "item 1"))[0].id
    try Intruder(place: place).tamper { store throws(StorageError) in
      var row = try store.item(id: id.stored)!
      row.meta[row.meta.count / 2] ^= 1
      try store.updateItem(row)
    }
    await expect(.damaged) { while try await vault.continueRotation() {} }
    try await expect(vault.damagedParts().count, equals: 1)
    #expect(try await vault.status().isRotationPaused)
    await expect(.damaged) { _ = try await vault.rotateEpoch() }
    let report = try await vault.rotateEpoch(dropDamaged: true)
    #expect(report.dropped.count == 1 && report.dropped[0].isRemoved && report.items == 2)
    #expect(!report.dropped[0].isOfNewerVersion && !report.dropped[0].words.isEmpty)
    try await expect(vault.verify().problems, equals: [])
  }

  @Test("a locked vault continues no rotation")
  func lockedSteps() async throws {
    let vault = try TemporaryVault().make(passcode: "pass")
    try await vault.beginRotation(passcode: Passcode(testing: "pass"))
    vault.lock()
    await expect(.locked) { _ = try await vault.continueRotation() }
    try await vault.unlock(with: Passcode(testing: "pass"))
    while try await vault.continueRotation() {}
    try await expect(vault.verify().problems, equals: [])
  }

  @Test("a purge gives new keys for everything, and deletes the replaced ones")
  func purge() async throws {
    let place = TemporaryVault()
    let vault = try place.make()
    try await add(2, to: vault)
    let before = try await vault.status().deviceKey
    let report = try await vault.purge()
    #expect(report.rotation.generation == 2 && report.rotation.items == 2 && report.keptKeys.isEmpty)
    let status = try await vault.status()
    #expect(status.deviceKey != before)
    try expect(place.protector.keys(of: status.vault), equals: [status.deviceKey])
  }

  // Verified to fail when the error of the deletion is thrown.
  @Test("a purge that cannot delete replaced keys says so, and did everything else")
  func purgeKeepingKeys() async throws {
    let place = TemporaryVault()
    let files = LockingOnce(files: place.protector)
    let vault = Vault(
      core: try VaultCore.create(at: place.path, protector: files, environment: place.environment))
    try await add(2, to: vault)
    let report = try await vault.purge()
    #expect(report.rotation.generation == 2 && report.deletedKeys.isEmpty)
    expect(report.keptKeys.map(\.code), equals: [.busy])
    try await expect(vault.verify().problems, equals: [])
  }

  // Verified to fail when the code is not tried on the vault's slot.
  @Test("the recovery code ends a delay; another vault's code does not")
  func delay() async throws {
    let place = TemporaryVault(environment: .testing(clock: FixedClock()))
    let vault = try place.make(passcode: "pass")
    let code = try await vault.makeRecoveryCode()
    for _ in 0..<5 {
      await expect(.authenticationFailed) { try await vault.unlock(with: Passcode(testing: "wrong")) }
    }
    await expect(.passcodeDelay) { try await vault.unlock(with: Passcode(testing: "pass")) }
    let other = try TemporaryVault().makeCore().makeRecoveryCode()
    await expect(.authenticationFailed) { try await vault.endDelay(with: other) }
    await expect(.passcodeDelay) { try await vault.unlock(with: Passcode(testing: "pass")) }
    try await vault.endDelay(with: code)
    try await vault.unlock(with: Passcode(testing: "pass"))
    let without = try TemporaryVault().make(passcode: "pass")
    await expect(.policy) { try await without.endDelay(with: code) }
  }

  @Test("the parameters of the passcode are measured again, and the passcode stays")
  func recalibrate() async throws {
    let vault = try TemporaryVault().make(passcode: "pass")
    await expect(.authenticationFailed) { _ = try await vault.recalibrate(Passcode(testing: "other")) }
    let cost = try await vault.recalibrate(Passcode(testing: "pass"), target: .milliseconds(1))
    #expect(cost.now.memoryKiB >= cost.before.memoryKiB && cost.now.lanes == cost.before.lanes)
    try await vault.unlock(with: Passcode(testing: "pass"))
  }

  @Test("a verification says how far it is")
  func verify() async throws {
    let vault = try TemporaryVault().make()
    try await add(5, to: vault)
    let steps = Steps()
    try await expect(vault.verify(progress: { steps.note($0) }).items, equals: 5)
    #expect(!steps.isEmpty)
  }

  // Verified to fail when the delay is measured by the wall clock.
  @Test("a clock that goes back shortens no delay, opens no expired item, and stops no operation")
  func clockBack() async throws {
    let clock = FixedClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    let vault = try place.make(passcode: "pass")
    var new = NewItem(.genericPassword, name: "short")
    (new.expires, new.expiry) = (clock.now().advanced(byMilliseconds: 1_000), .refuse)
    let short = try await vault.add(new, secret: SecretBytes(testing: "s"))
    clock.advance(by: .seconds(2))
    try await add(1, to: vault)
    for wall in [clock.now().milliseconds - 365 * 24 * 3_600_000, 0] {
      clock.set(to: Instant(milliseconds: wall))
      await expect(.expired) { _ = try await vault.secret(of: short.id) }
      _ = try await vault.rotateEpoch(passcode: Passcode(testing: "pass"))
      _ = try await vault.backUp(
        to: VaultPath(place.folder + "/b\(wall)"), passphrase: Passcode(testing: "p"))
      try await expect(vault.verify().problems, equals: [])
    }
    for _ in 0..<5 {
      await expect(.authenticationFailed) { try await vault.unlock(with: Passcode(testing: "wrong")) }
    }
    clock.set(to: clock.now().advanced(byMilliseconds: 365 * 24 * 3_600_000))
    await expect(.passcodeDelay) { try await vault.unlock(with: Passcode(testing: "pass")) }
    clock.set(to: Instant(seconds: 0))
    await expect(.passcodeDelay) { try await vault.unlock(with: Passcode(testing: "pass")) }
    let opened = try await Vault.openOrCreate(
      at: VaultPath(place.path), protector: place.protector, environment: place.environment)
    #expect(!opened.isNew)
  }

  // Verified to fail when a vault does not read the keys again that another one has replaced.
  @Test("two actors on one vault in one process: each sees what the other did, also while keys are replaced")
  func twoActors() async throws {
    let place = TemporaryVault()
    let (one, other) = (try place.make(passcode: "pass"), try place.open())
    try await other.unlock(with: Passcode(testing: "pass"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (name, vault) in [("one", one), ("other", other)] {
        group.addTask {
          for index in 0..<20 { try await addUnlocked("\(name) \(index)", to: vault) }
        }
      }
      group.addTask {
        _ = try await one.rotateEpoch(passcode: Passcode(testing: "pass"))
        _ = try await other.rotateDeviceKey()
      }
      try await group.waitForAll()
    }
    for vault in [one, other] {
      try await expect(vault.status().itemCount, equals: 40)
      try await expect(vault.verify().problems, equals: [])
    }
    one.lock()
    #expect(await !one.isUnlocked)
    try await expect(place.open().status().generation, equals: 2)
  }

  /// Adds an item. Another session that replaces the keys locks this one.
  private func addUnlocked(_ name: String, to vault: Vault) async throws {
    while true {
      do {
        _ = try await vault.add(NewItem(.genericPassword, name: name), secret: SecretBytes(testing: name))
        return
      } catch {
        guard error.code == .locked else { throw error }
        try await vault.unlock(with: Passcode(testing: "pass"))
      }
    }
  }
}

/// Key files whose lock can be taken once.
private final class LockingOnce: WrappedFiles {
  let files: FileProtector
  private let isTaken = Atomic(false)

  init(files: FileProtector) { self.files = files }

  func lock(_ vault: VaultID) throws(VaultError) -> ProtectorLock? {
    guard !isTaken.exchange(true, ordering: .relaxed) else { throw VaultError(.busy, "not now") }
    return try files.lock(vault)
  }
}
