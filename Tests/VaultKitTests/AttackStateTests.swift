import AuthenticatorKit
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// What three independent attacks found: older states put back under a running process, roots of the log taken away, a
/// rotation begun by somebody else, and damage that could not be removed from a small vault.
@Suite("States that are put back, taken away or begun by somebody else", .bounded)
struct AttackStateTests {
  private let place = TemporaryVault()
  private var intruder: Intruder { Intruder(place: place) }

  /// Verified to fail when the head row's sequence is not compared with what the process has seen.
  @Test(
    "an older state of the whole file, put back under a process, makes its counters need a resynchronization")
  func wholeStateBack() throws {
    let core = try place.makeCore()
    let id = try addProver(to: core)
    _ = try core.add(NewItem(.genericPassword, name: "early"))
    try place.keepRows()
    _ = try core.write { transaction in
      try transaction.changeState(of: id) { state in state.counter += 3 }
    }
    try place.putRowsBack()
    _ = try core.add(NewItem(.genericPassword, name: "late"))
    #expect(try core.read { try $0.state(of: id).needsResync })
    #expect(try core.auditEntries().contains { $0.operation == .copyDetected })
    try expect(place.openCore().verify().problems, equals: [])
  }

  /// Verified to fail when an older head row is taken over without comparing the sum of the rows.
  @Test(
    "an older header and head row beside the rows of now are damage to a running process, and nothing is written"
  )
  func headBack() throws {
    let core = try place.makeCore()
    let id = try addProver(to: core)
    try place.keepRows()
    for label in ["x", "y", "z"] { try relabel(id, label, in: core) }
    try place.putRowsBack(of: ["header", "slot", "head", "audit", "segment"])
    expect(.damaged) { () throws(VaultError) in try relabel(id, "w", in: core) }
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
  }

  /// Verified to fail when the roots that are there are looked at alone.
  @Test(
    "a log without its root is damage, because it could be a log that an intruder has written",
    arguments: [false, true])
  func noRoot(hasPasscode: Bool) throws {
    _ = try place.makeCore(passcode: hasPasscode ? "passcode" : nil)
    try intruder.changeKeys { _, slots, _ in slots.removeAll { $0.kind == 5 } }
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
  }

  /// Verified to fail when a rotation that is under way is all that `vault rotate epoch` ends.
  @Test("a rotation that was asked for makes new keys also where one was under way")
  func begunByAnother() throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.add(NewItem(.genericPassword, name: "a"), secret: SecretBytes(testing: "s"))
    try core.beginRotation(passcode: Passcode(testing: "passcode"))
    try core.rotateEpoch(passcode: Passcode(testing: "passcode"), isAnew: true)
    #expect(try core.status().generation == 3 && !core.isRotating)
    try expect(place.openCore().verify().problems, equals: [])
  }

  /// Verified to fail when S stays as it was.
  @Test("a small vault with a changed seal opens for what takes the damage away, and is sound afterwards")
  func changedTag() throws {
    let core = try place.makeCore()
    let kept = try core.add(NewItem(.genericPassword, name: "kept"), secret: SecretBytes(testing: "kept"))
    let bad = try core.add(NewItem(.genericPassword, name: "bad"), secret: SecretBytes(testing: "bad"))
    try intruder.tamper { store throws(StorageError) in
      guard let row = try store.item(id: Bytes16(bad.id.bytes)),
        var material = try store.material(row: row.row)
      else { return }
      material.secret[material.secret.count - 1] ^= 1
      try store.setMaterial(material, row: row.row)
    }
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
    let open = try VaultCore.open(
      at: place.path, protector: place.protector, checkingRows: false, environment: place.environment)
    #expect(try !open.verify().problems.isEmpty)
    var removed: [DamagedPart] = []
    try open.rotateEpoch(dropDamaged: true) { _ in
    } damaged: {
      removed.append($0)
    }
    expect(removed.map(\.item), equals: [bad.id])
    let later = try place.openCore()
    try expect(later.verify().problems, equals: [])
    try expect(later.secret(of: kept.id).bytesForTesting, equals: Array("kept".utf8))
  }

  /// Verified to fail when only the items that open are kept, and the rows of none stay.
  @Test("rows of no item go with the damage, and a missing index row comes back")
  func foreignRows() throws {
    let core = try place.makeCore()
    let mail = try core.add(named("mail"), secret: SecretBytes(testing: "s"))
    try intruder.tamper { store throws(StorageError) in
      guard let row = try store.item(id: Bytes16(mail.id.bytes)) else { return }
      _ = try store.insertBlind(value: [UInt8](repeating: 7, count: 16), row: row.row)
      _ = try store.insertBlind(value: [UInt8](repeating: 8, count: 16), row: 900)
      try store.setMaterial(
        MaterialRow(
          keys: [UInt8](repeating: 1, count: 99), secret: [UInt8](repeating: 2, count: 99)), row: 901)
    }
    let open = try VaultCore.open(
      at: place.path, protector: place.protector, checkingRows: false, environment: place.environment)
    try open.rotateEpoch(dropDamaged: true)
    try expect(place.openCore().verify().problems, equals: [])
    try expect(place.openCore().items(matching: Query()).count, equals: 1)
  }

  /// Verified to fail when the next row number stays as it was.
  @Test("a next row number that is taken is damage, and goes with the damage")
  func takenRow() throws {
    let core = try place.makeCore()
    for name in ["a", "b"] { _ = try core.add(NewItem(.genericPassword, name: name)) }
    try intruder.changeHead { $0.replaceSubrange(24..<32, with: [0, 0, 0, 0, 0, 0, 0, 1]) }
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
    let open = try VaultCore.open(
      at: place.path, protector: place.protector, checkingRows: false, environment: place.environment)
    #expect(try !open.verify().problems.isEmpty)
    try open.rotateEpoch(dropDamaged: true)
    let later = try place.openCore()
    _ = try later.add(NewItem(.genericPassword, name: "c"))
    try expect(later.items(matching: Query()).map(\.name), equals: ["a", "b", "c"])
    try expect(later.verify().problems, equals: [])
  }

  private func relabel(_ id: ItemID, _ label: String, in core: VaultCore) throws(VaultError) {
    var changes = ItemChanges()
    changes.attributes[.label] = label
    _ = try core.update(id, changes)
  }

  private func named(_ name: String) -> NewItem {
    var item = NewItem(.genericPassword, name: name)
    item.attributes[.service] = "https://\(name).example"
    return item
  }

  private func addProver(to core: VaultCore) throws -> ItemID {
    var item = NewItem(.otp, name: "prover")
    item.attributes[.otpType] = 1
    item.attributes[.otpRole] = 1
    return try core.add(
      item, secret: SecretBytes(testing: "12345678901234567890"), by: Component(.otp)
    ).id
  }

}

extension AttackStateTests {
  /// The attack succeeded against an older version.
  @Test(
    "a copy that changes its device key leaves the key of the file that it was made of",
    arguments: [false, true])
  func rotatedCopy(hasWritten: Bool) throws {
    let place = TemporaryVault()
    _ = try place.makeCore().add(NewItem(.genericPassword, name: "a"))
    let copy = place.folder + "/copy/test.vault"
    try FileManager.default.createDirectory(
      atPath: place.folder + "/copy", withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(atPath: place.path, toPath: copy)
    func open() throws(VaultError) -> VaultCore {
      try VaultCore.open(at: copy, protector: place.protector, environment: place.environment)
    }
    if hasWritten { _ = try open().add(NewItem(.genericPassword, name: "b")) }
    let kept = try open().rotateDeviceKey()
    #expect(kept != .deleted)
    try expect(place.openCore().verify().problems, equals: [])
    try expect(open().verify().problems, equals: [])
    // The next one is the copy's own.
    try expect(open().rotateDeviceKey(), equals: .deleted)
    try expect(place.openCore().items(matching: Query()).count, equals: 1)
  }
}
