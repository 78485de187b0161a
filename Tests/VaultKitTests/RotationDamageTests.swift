import AuthenticatorKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// K3: damage neither ends a rotation half-way nor stops any other command.
@Suite("A rotation of the epoch that meets damage", .bounded, .requirement("K3"))
struct RotationDamageTests {
  enum Part: String, CaseIterable { case meta, keys, secret, state, audit, index, generation }

  /// Verified to fail when `prepareEpoch` checks nothing and the rotation begins; for secrets, when `check(_:_:_:)`
  /// ends after the data key.
  @Test("what does not open is named before it begins, and nothing is changed", arguments: Part.allCases)
  func named(part: Part) throws {
    let vault = try Damaged(passcode: "p", count: part == .index ? 400 : 12)
    let name = try vault.damage(part, at: 3)
    let before = try vault.core.status()
    for isPurge in [false, true] {
      var told: [DamagedPart] = []
      expect(.damaged) { () throws(VaultError) in
        if isPurge {
          try vault.core.purge(passcode: Passcode(testing: "p")) { _ in
          } damaged: {
            told.append($0)
          }
        } else {
          try vault.core.rotateEpoch(passcode: Passcode(testing: "p")) { _ in
          } damaged: {
            told.append($0)
          }
        }
      }
      #expect(told.count == 1 && told.first?.words.contains(name) == true, "\(told.map(\.words))")
    }
    let after = try vault.core.status()
    #expect(after.config == before.config && after.generation == 1 && !after.isRotating)
    expect(after.deviceKey, equals: before.deviceKey)
  }

  /// Verified to fail when `check(_:_:_:)` ends after the data key.
  @Test("the secret of an item that asks for a person is looked at, not opened", arguments: [false, true])
  func constrained(isNewer: Bool) throws {
    let vault = try Damaged(passcode: "p", count: 4)
    let access = try AccessControl(.devicePasscode)
    let id = try vault.core.add(
      NewItem(.genericPassword, name: "bank", access: access), secret: SecretBytes(testing: "secret")
    ).id
    try vault.core.rotateEpoch(passcode: Passcode(testing: "p"))
    try Intruder(place: vault.place).tamper { store throws(StorageError) in
      let number = try store.item(id: Bytes16(id.bytesForTesting))!.row
      var material = try store.material(row: number)!
      if isNewer { material.secret[0] = 2 } else { material.secret.removeLast(material.secret.count - 20) }
      try store.setMaterial(material, row: number)
    }
    var told: [DamagedPart] = []
    expect(isNewer ? .newerFormat : .damaged) { () throws(VaultError) in
      try vault.core.rotateEpoch(passcode: Passcode(testing: "p")) { _ in
      } damaged: {
        told.append($0)
      }
    }
    #expect(told.map(\.item) == [id] && told[0].what.contains("its secret"))
    try expect(vault.core.status().generation, equals: 2)
  }

  /// Verified to fail when the blind rows, or the state, of a dropped row stay, and when S keeps its summands; each
  /// without the `countAnew` that makes up for it.
  @Test(
    "with --drop-damaged it is removed and logged, and the rotation ends",
    // A rotation that is under way copies secrets as they are; the next one finds the damage.
    arguments: Part.allCases.map { ($0, false) } + Part.allCases.filter { $0 != .secret }.map { ($0, true) })
  func dropped(part: Part, isMidway: Bool) throws {
    let vault = try Damaged(passcode: "p", count: part == .index ? 400 : 12)
    if isMidway { try vault.core.beginRotation(passcode: Passcode(testing: "p")) }
    let name = try vault.damage(part, at: 3)
    try vault.core.rotateEpoch(passcode: Passcode(testing: "p"), dropDamaged: true)
    let later = try vault.place.openCore()
    #expect(!later.isRotating)
    try expect(later.status().generation, equals: 2)
    try later.unlock(with: Passcode(testing: "p"))
    let isItem = ![.audit, .index].contains(part)
    try expect(later.items(matching: Query()).count, equals: vault.ids.count - (isItem ? 1 : 0))
    let log = try later.auditEntries()
    if isItem {
      #expect(log.contains { $0.item == vault.ids[3] && $0.operation == .itemDeleted })
    } else if part == .audit {
      #expect(log.contains { $0.detail?.contains(name) == true })
    }
    let problems = try later.verify().problems
    #expect(part == .audit ? problems.count == 1 && problems[0].contains("missing") : problems == [])
    for id in vault.ids where try later.items(matching: Query(id: id)).count == 1 {
      try expect(later.secret(of: id, by: Component(later.items(.id(id))[0].kind)).byteCount, equals: 6)
    }
  }

  /// Verified to fail when a row that does not open ends the batch, when each opening tries it again, and when
  /// `changeKeys`, or a backup, is refused during a rotation.
  @Test("damage on the way pauses it; everything else works meanwhile, and each opening passes over it")
  func paused() throws {
    let vault = try Damaged(passcode: "p", count: 1_300)
    try vault.core.beginRotation(passcode: Passcode(testing: "p"))
    let name = try vault.damage(.meta, at: 3)
    let told = damageTold(vault.core, "p")
    #expect(told.map(\.item) == [vault.ids[3]] && told[0].words.contains(name))
    #expect(try vault.core.status().isRotationPaused)
    let core = try vault.place.openCore()
    try core.unlock(with: Passcode(testing: "p"))
    let sequence = try core.status().sequence
    for _ in 0..<3 { try core.resumeRotation() }
    try expect(core.status().sequence, equals: sequence, "an opening wrote although there was nothing to do")
    try changeKeysWhilePaused(core)
    try backUpWhilePaused(vault, core)
    _ = try core.removePasscode(Passcode(testing: "q"))
    try core.setPasscode(Passcode(testing: "r"), recovery: .drop)
    _ = try core.add(NewItem(.genericPassword, name: "later"), secret: SecretBytes(testing: "s"))
    // Asked for again, it names the item again.
    expect(damageTold(core, "r").map(\.item), equals: [vault.ids[3]])
    try endRotation(vault, core)
  }

  /// What a rotation of the epoch tells of damage, with which it ends.
  private func damageTold(_ core: VaultCore, _ passcode: String) -> [DamagedPart] {
    var told: [DamagedPart] = []
    expect(.damaged) { () throws(VaultError) in
      try core.rotateEpoch(passcode: Passcode(testing: passcode)) { _ in
      } damaged: {
        told.append($0)
      }
    }
    return told
  }

  private func changeKeysWhilePaused(_ core: VaultCore) throws {
    try core.changePasscode(from: Passcode(testing: "p"), to: Passcode(testing: "q"))
    _ = try core.makeRecoveryCode()
    _ = try core.enroll(BiometricPhrase(testing: "phrase"), named: "m", passcode: Passcode(testing: "q"))
    try core.removeMember(named: "m")
    try core.rotateDeviceKey()
  }

  private func backUpWhilePaused(_ vault: Damaged, _ core: VaultCore) throws {
    let file = vault.place.folder + "/b.vault"
    let report = try core.backUp(to: file, passphrase: Passcode(testing: "x"))
    #expect(report.leftOut.map(\.id) == [vault.ids[3]] && report.leftOut[0].reason == .damaged)
    let restored = try VaultCore.restore(
      from: file, passphrase: Passcode(testing: "x"), to: vault.place.folder + "/other/r.vault",
      protector: vault.place.protector, newer: try core.restorePoint(), environment: vault.place.environment
    )
    try restored.core.rotateEpoch(passcode: Passcode(testing: "q"))
    try expect(restored.core.verify().problems, equals: [])
  }

  /// Once the item is removed by its identifier, the next openings complete the rotation.
  private func endRotation(_ vault: Damaged, _ core: VaultCore) throws {
    try core.write { transaction in try transaction.delete(vault.ids[3]) }
    let last = try vault.place.openCore()
    try last.unlock(with: Passcode(testing: "r"))
    for _ in 0..<2_000 where last.isRotating { try last.resumeRotation() }
    #expect(!last.isRotating)
    try expect(last.verify().problems, equals: [])
    try expect(last.secret(of: vault.ids[1_299], by: Component(.otp)).byteCount, equals: 6)
  }

  /// Verified to fail when `resumeRotation` gives up, or throws, at a row that does not open.
  @Test("an opening that continues a rotation leaves a damaged row behind and moves the others")
  func resumed() throws {
    let vault = try Damaged(passcode: nil, count: 1_300)
    try vault.core.beginRotation()
    _ = try vault.damage(.keys, at: 3)
    let core = try vault.place.openCore()
    // A few calls; more where each has no time for a whole batch.
    var status = try core.status()
    for _ in 0..<2_000 where !status.isRotationPaused {
      try core.resumeRotation()
      status = try core.status()
    }
    #expect(status.isRotating && status.isRotationPaused)
    try expect(core.secret(of: vault.ids[1_299], by: Component(.otp)).byteCount, equals: 6)
    try core.rotateEpoch(dropDamaged: true)
    #expect(!core.isRotating)
    try expect(core.verify().problems, equals: [])
  }

  /// Verified to fail when `delete` passes on that the row does not open.
  @Test("an item that does not open is removed by its identifier", arguments: [Part.meta, .state, .keys])
  func removed(part: Part) throws {
    let vault = try Damaged(passcode: "p", count: 12)
    _ = try vault.damage(part, at: 3)
    let locked = try vault.place.openCore()
    expect(.locked) { () throws(VaultError) in try locked.delete(vault.ids[3]) }
    try locked.unlock(with: Passcode(testing: "p"))
    try locked.write { transaction in try transaction.delete(vault.ids[3]) }
    let later = try vault.place.openCore()
    try later.unlock(with: Passcode(testing: "p"))
    try expect(later.verify().problems, equals: [])
    try expect(later.items(matching: Query()).count, equals: 11)
    #expect(try later.auditEntries().contains { $0.item == vault.ids[3] && $0.operation == .itemDeleted })
    try later.rotateEpoch(passcode: Passcode(testing: "p"))
  }

  @Test("a file that was copied, and has an item that does not open, takes writes")
  func copied() throws {
    let vault = try Damaged(passcode: nil, count: 12)
    _ = try vault.damage(.meta, at: 3)
    _ = try vault.damage(.state, at: 6)
    let copy = vault.place.path + ".copy"
    for end in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: vault.place.path + end, toPath: copy + end)
    }
    let other = try VaultCore.open(
      at: copy, protector: vault.place.protector, environment: vault.place.environment)
    try other.write { transaction in try transaction.delete(vault.ids[3]) }
  }
}

/// A vault with credentials and passwords, of which some parts get a wrong byte where the sum does not look.
private struct Damaged {
  let place = TemporaryVault()
  let core: VaultCore
  let ids: [ItemID]

  init(passcode: String?, count: Int) throws {
    core = try place.makeCore(passcode: passcode)
    ids = try core.write { transaction in
      try (0..<count).map { number in
        var new = NewItem(number % 3 == 0 ? .otp : .genericPassword, name: "n\(number)")
        new.attributes[.service] = "s\(number % 7)"
        if number % 3 == 0 {
          new.attributes[.otpType] = 1
          new.attributes[.otpRole] = 1
        }
        return try transaction.add(new, secret: SecretBytes(testing: "secret"), by: Component(new.kind)).id
      }
    }
  }

  /// Damages a part of an item, or the log, and returns what a message must name.
  func damage(_ part: RotationDamageTests.Part, at index: Int) throws -> String {
    let id = ids[index]
    return try Intruder(place: place).tamper { store throws(StorageError) in
      var row = try store.item(id: Bytes16(id.bytesForTesting))!
      switch part {
      case .meta:
        row.meta[row.meta.count / 2] ^= 1
        try store.updateItem(row)
      case .generation:
        row.generation = 77
        try store.updateItem(row)
      case .keys:
        var material = try store.material(row: row.row)!
        material.keys[material.keys.count / 2] ^= 1
        try store.setMaterial(material, row: row.row)
      case .secret:
        var material = try store.material(row: row.row)!
        material.secret[material.secret.count / 2] ^= 1
        try store.setMaterial(material, row: row.row)
      case .state:
        var state = try store.state(row: row.row)!
        state.body[state.body.count / 2] ^= 1
        try store.setState(state, row: row.row)
      case .index:
        var values: [[UInt8]] = []
        try store.forEachBlind { value, number throws(StorageError) in
          if number == row.row { values.append(value) }
          return true
        }
        _ = try store.deleteBlind(value: values[0], row: row.row)
      case .audit:
        var entry = try store.auditEntries(from: 2, limit: 1)[0]
        entry.body[entry.body.count / 2] ^= 1
        try store.updateAudit(entry)
        return "audit entry 2"
      }
      return id.hexadecimal
    }
  }
}

extension ItemID {
  fileprivate var bytesForTesting: [UInt8] {
    stride(from: 0, to: 32, by: 2).map { start in
      let text = Array(hexadecimal)[start..<start + 2]
      return UInt8(String(text), radix: 16)!
    }
  }
}
