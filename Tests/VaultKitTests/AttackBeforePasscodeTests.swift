import Foundation
import PasswordDerivation
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// Somebody held vault file and device key before the first passcode, and so knows class keys and the audit root of then.
/// What a passcode vouches for must not follow from that.
@Suite("Attacks by a holder of the device key from before the first passcode", .bounded)
struct AttackBeforePasscodeTests {
  private let place = TemporaryVault(environment: .testing(clock: FixedClock()))
  private var intruder: Intruder { Intruder(place: place) }

  private func passcode(_ text: String = "passcode") throws(VaultError) -> Passcode {
    try Passcode(testing: text)
  }

  // MARK: Header field 16

  /// Verified to fail when `setPasscode` makes the class key whenUnlocked the trust key.
  @Test("a factor MAC made with a class key of before the first passcode is damage at the next unlock")
  func forgedMAC() throws {
    let core = try place.makeCore()
    let slots = try intruder.slots()
    let key = try intruder.keys().classKey(1, slots)
    try core.setPasscode(passcode())
    try intruder.plantMember(nextConfig: true, trust: key)
    expect(.damaged) { () throws(VaultError) in try place.openCore().unlock(with: passcode()) }
    // A process that is unlocked reads the header with its next step.
    expect(.damaged) { () throws(VaultError) in
      _ = try core.enroll(BiometricPhrase(testing: "mine"), named: "me", passcode: passcode())
    }
  }

  /// Verified to fail when `beginEpoch` does not unlock once more inside its transaction.
  @Test("the new generation does not vouch for what was planted between the passcode and itself")
  func plantedBeforeCommit() throws {
    _ = try place.makeCore(passcode: "passcode")
    let plant = LoadingFiles(files: place.protector) { [intruder] in
      try intruder.plantMember(nextConfig: true, trust: SecretBytes(testing: "no trust key"))
    }
    let core = try VaultCore.open(at: place.path, protector: plant, environment: place.environment)
    plant.arm()
    expect(.damaged) { () throws(VaultError) in try core.rotateEpoch(passcode: passcode()) }
    try expect(place.openCore().status().generation, equals: 1)
  }

  /// Verified to fail when a header is checked where both keys are open alone.
  @Test("a running process takes the trust key and the class keys for open together, or not at all")
  func openTogether() throws {
    for kind: UInt8 in [3, 6] {
      let place = TemporaryVault()
      let core = try place.makeCore(passcode: "passcode")
      // The same key, sealed again by who has the device key: what was opened of it is dropped.
      try Intruder(place: place).changeKeys(nextConfig: true) { _, slots, keys in
        for index in slots.indices where slots[index].kind == kind && slots[index].subject < 2 {
          slots[index] = try keys.resealed(slots[index])
        }
      }
      expect(.damaged) { () throws(VaultError) in _ = try core.enrolledMembers() }
      try place.openCore().unlock(with: passcode())
    }
  }

  /// Verified to fail when `changePasscode` seals the old trust key again.
  @Test("what was vouched for under the old passcode is damage beside the slots of the new one")
  func olderHeader() throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.makeRecoveryCode()
    let older = try intruder.header()
    _ = try core.makeRecoveryCode()
    try core.changePasscode(from: passcode(), to: passcode("second"))
    try intruder.changeKeys(nextConfig: true) { header, _, _ in
      for number: UInt16 in [12, 16] { header[number] = older[number] }
    }
    expect(.damaged) { () throws(VaultError) in try place.openCore().unlock(with: passcode("second")) }
  }

  /// Verified to fail when field 16 does not cover field 8.
  @Test("keys of the generation before, put back beside the present ones, are damage at the next unlock")
  func revivedGeneration() throws {
    let core = try place.makeCore(passcode: "passcode")
    let older = try intruder.slots().filter { (1...3).contains($0.kind) }
    try core.rotateEpoch(passcode: passcode())
    try place.openCore().unlock(with: passcode())
    try intruder.changeKeys(nextConfig: true) { header, slots, _ in
      header.set(8, u32: 1)
      let free = try present(slots.map(\.id).max()) + 1
      for (number, slot) in older.enumerated() {
        var slot = slot
        slot.id = free + Int64(number)
        slots.append(slot)
      }
    }
    let later = try place.openCore()
    #expect(later.isRotating, "what was put back is not the reason")
    expect(.damaged) { () throws(VaultError) in try later.unlock(with: passcode()) }
  }

  /// Verified to fail when every passcode gets the same trust key.
  @Test("a passcode that is changed or set again, and a new generation, have another trust key")
  func keysOfTrust() throws {
    let core = try place.makeCore(passcode: "passcode")
    let first = try intruder.trustKey("passcode")
    try core.changePasscode(from: passcode(), to: passcode("second"))
    #expect(try intruder.trustKey("second") != first)
    let other = try place.openCore()
    _ = try other.enroll(BiometricPhrase(testing: "mine"), named: "me", passcode: passcode("second"))
    try core.unlock(with: passcode("second"))
    try expect(core.enrolledMembers().map(\.name), equals: ["me"])
    try core.rotateEpoch(passcode: passcode("second"))
    let second = try intruder.trustKey("second")
    _ = try core.removePasscode(passcode("second"))
    #expect(try intruder.slots().allSatisfy { $0.kind != 6 })
    try core.setPasscode(passcode())
    try expect(Set([first, second, intruder.trustKey("passcode")]).count, equals: 3)
    try place.openCore().unlock(with: passcode())
  }

  @Test(
    "a restored vault has the trust key of its backup, also in the middle of a rotation",
    arguments: [false, true])
  func restored(isRotating: Bool) throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.add(NewItem(.genericPassword, name: "a"), secret: SecretBytes(testing: "s"))
    if isRotating { try core.beginRotation(passcode: passcode()) }
    let backup = place.folder + "/backup"
    _ = try core.backUp(to: backup, passphrase: passcode("passphrase"))
    let restored = try VaultCore.restore(
      from: backup, passphrase: passcode("passphrase"), to: place.folder + "/new/v.vault",
      protector: place.protector, environment: place.environment
    ).core
    place.environment.passRestoreDelay()
    try restored.unlock(with: passcode())
    _ = try restored.enroll(BiometricPhrase(testing: "mine"), named: "me", passcode: passcode())
    try expect(restored.verify().problems, equals: [])
    // The empty segment of the backup shows where the log begins, also when there are more.
    _ = try restored.removePasscode(passcode())
    try restored.setPasscode(passcode())
    try RawSQLite.run(
      "DELETE FROM segment WHERE number = (SELECT min(number) FROM segment)",
      on: place.folder + "/new/v.vault")
    try expect(restored.verify().problems, equals: ["audit: segments are missing"])
  }

  // MARK: The log

  /// Verified to fail when field 16 does not cover the audit roots.
  @Test("a log that was rewritten from the root of before the passcode is damage at the next unlock")
  func oldRoot() throws {
    let core = try place.makeCore()
    _ = try core.add(NewItem(.genericPassword, name: "a"))
    let root = try intruder.openAuditRoot()
    try core.setPasscode(passcode())
    _ = try core.add(NewItem(.genericPassword, name: "b"))
    try intruder.changeKeys(nextConfig: true) { _, slots, _ in
      slots.removeAll { $0.kind == 5 && $0.subject == 2 }
    }
    try intruder.rewriteLog(from: root)
    let locked = try place.openCore()
    try expect(locked.verify().problems, equals: [], "telling takes the passcode")
    expect(.damaged) { () throws(VaultError) in try locked.unlock(with: passcode()) }
    expect(.damaged) { () throws(VaultError) in _ = try core.add(NewItem(.genericPassword, name: "c")) }
  }

  /// Shows that the forged log is right: the test above must fail for the roots alone.
  @Test("without a passcode the device key is enough to write the log again")
  func wellForged() throws {
    _ = try place.makeCore().add(NewItem(.genericPassword, name: "a"))
    try intruder.rewriteLog(from: intruder.openAuditRoot())
    let report = try place.openCore().verify()
    #expect(report.problems == [] && report.isAuditChainChecked)
  }

  /// Verified to fail when field 16 does not cover the audit roots.
  @Test("the oldest root taken away with its segment is damage at the next unlock")
  func withoutOldRoot() throws {
    let core = try place.makeCore()
    try core.setPasscode(passcode())
    try intruder.changeKeys { _, slots, _ in slots.removeAll { $0.kind == 5 && $0.subject == 1 } }
    try RawSQLite.run(
      "DELETE FROM audit WHERE sequence < (SELECT first FROM segment WHERE number = 2); "
        + "DELETE FROM segment WHERE number = 1", on: place.path)
    let locked = try place.openCore()
    try expect(locked.verify().problems, equals: ["audit: segments are missing"])
    expect(.damaged) { () throws(VaultError) in try locked.unlock(with: passcode()) }
  }
}

extension Intruder {
  fileprivate func slots() throws -> [SlotRow] {
    try tamper { store throws(StorageError) in try store.slots() }
  }

  /// Enrolls a member of his own, with header field 16 as `trust` makes it. Every slot behind the passcode is sealed
  /// again under the outer key, so that no process goes on with what it had opened.
  fileprivate func plantMember(nextConfig: Bool, trust: borrowing SecretBytes) throws {
    let trust = trust.copy()
    try changeKeys(nextConfig: nextConfig) { header, slots, keys in
      let set = forgedSet(
        generation: 0, id: [UInt8](repeating: 1, count: 16), factor: 0x0600_0001, label: "eve")
      header[13]! += [6, 0, 0, 1] + [UInt8](repeating: 9, count: 32)
      header[14] = try keys.sealSet(set)
      var covered = Record()
      for (field, of) in [(1, 12), (2, 13), (3, 15)] as [(UInt16, UInt16)] { covered[field] = header[of] }
      covered[4] = set.encoded
      covered[5] = slots.filter { $0.kind == 5 }.map(\.subject).sorted().flatMap { number(UInt64($0))[4...] }
      header[16] = KeyedHMAC(key: HKDF.derive(from: trust, label: Labels.factorMAC)).code(
        for: covered.encoded)
      for index in slots.indices where slots[index].opener == 8 {
        // A this-device-only class has another outer key.
        guard slots[index].kind != 3 || slots[index].subject < 0x80 else { continue }
        slots[index] = try keys.resealed(slots[index])
      }
    }
  }

  /// The trust key, with a passcode.
  fileprivate func trustKey(_ passcode: String) throws -> [UInt8] {
    let header = try header()
    let keys = try keys()
    let kdf = try Record(decoding: present(header[11]))
    let root = try Argon2id.derive(
      from: SecretBytes(testing: passcode), salt: present(kdf[6]),
      parameters: Argon2id.Parameters(
        memoryKiB: kdf.u32(3), iterations: kdf.u32(4), parallelism: kdf.u32(5)),
      bounds: place.environment.bounds)
    let slot = try present(slots().first { $0.kind == 6 && $0.opener == 8 && $0.subject == 0 })
    let inner = try CommittingSeal.open(
      slot.body, under: keys.slotKey, label: Labels.sealSlot, aad: RootKeys.slotData(slot, keys.vault))
    var data = try Record(decoding: RootKeys.slotData(slot, keys.vault))
    data[24] = header[11]
    data.set(25, u8: 2)
    return try CommittingSeal.open(
      inner.bytesForTesting, under: HKDF.derive(from: root, label: Labels.unlock), label: Labels.sealSlot,
      aad: data.encoded
    ).bytesForTesting
  }

  /// The audit root of the first segment of a vault without a passcode.
  fileprivate func openAuditRoot() throws -> SecretBytes {
    let slot = try present(slots().first { $0.kind == 5 && $0.subject == 1 && $0.opener == 4 })
    let keys = try keys()
    return try CommittingSeal.open(
      slot.body, under: keys.slotKey, label: Labels.sealSlot, aad: RootKeys.slotData(slot, keys.vault))
  }

  /// One segment, from a root, with as many entries as there are: each says that something was read.
  fileprivate func rewriteLog(from root: borrowing SecretBytes) throws {
    let keys = try keys()
    let seal = try keys.seal(Labels.audit, Labels.auditNonce)
    let rows = try tamper { store throws(StorageError) in try store.auditEntries() }
    func moved(_ key: borrowing SecretBytes, _ label: String) -> SecretBytes {
      SecretBytes(copying: KeyedHMAC(key: key).code(for: Array(label.utf8)))
    }
    let none = [UInt8](repeating: 0, count: 32)
    var key = moved(root, "vault/1/audit-segment")
    var mac = SHA256.hash(Array("vault/1/audit-anchor".utf8) + number(1) + number(1) + none)
    var forged: [AuditRow] = []
    for row in rows {
      var data = keys.part("audit")
      data.set(17, u64: row.sequence)
      var record = try Record(decoding: seal.open(row.body, aad: data.encoded))
      record.set(7, u16: 10)
      mac = KeyedHMAC(key: key).code(for: mac + number(row.sequence) + SHA256.hash(record.encoded))
      key = moved(key, "vault/1/audit-next")
      forged.append(
        AuditRow(
          sequence: row.sequence,
          body: try seal.seal(record.encoded, aad: data.encoded, random: SystemRandom()), mac: mac))
    }
    try RawSQLite.run("DELETE FROM audit; DELETE FROM segment;", on: place.path)
    try tamper { [forged] store throws(StorageError) in
      for entry in forged { try store.appendAudit(entry) }
      try store.insertSegment(SegmentRow(number: 1, first: 1, previous: none, start: []))
    }
    let (last, chain) = (key.bytesForTesting, moved(root, "vault/1/audit-chain").bytesForTesting)
    try changeHead { [mac] head in
      head.replaceSubrange(96..<112, with: number(1) + number(1))
      head.replaceSubrange(112..<144, with: last)
      head.replaceSubrange(144..<176, with: mac)
      head.replaceSubrange(200..<232, with: chain)
    }
  }
}

extension RootKeys {
  /// The same content in a seal of another salt, under the outer key.
  fileprivate func resealed(_ slot: SlotRow) throws -> SlotRow {
    let data = Self.slotData(slot, vault)
    let content = try CommittingSeal.open(slot.body, under: slotKey, label: Labels.sealSlot, aad: data)
    var slot = slot
    slot.body = try CommittingSeal.seal(
      content, under: slotKey, label: Labels.sealSlot, aad: data, random: SystemRandom())
    return slot
  }
}

/// Eight bytes, big endian.
private func number(_ value: UInt64) -> [UInt8] {
  (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
}
