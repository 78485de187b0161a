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

/// K3, K4, K16: each change of keys, each backup and each restore while two generations are in force. The old code
/// answered each with "the vault's keys are being rotated", and a recovery with "unsupported".
@Suite("In the middle of a rotation of the epoch", .bounded, .requirement("K3", "K4"))
struct RotationTransitionTests {
  /// Verified to fail when `KeyChange.changePasscode` leaves the slots of the old generation behind the old passcode.
  @Test("the passcode is changed, and the items of both generations open with the new one alone")
  func changed() throws {
    let half = try Half(passcode: "old")
    try half.core.changePasscode(from: Passcode(testing: "old"), to: Passcode(testing: "new"))
    let later = try half.place.openCore()
    expect(.authenticationFailed) { () throws(VaultError) in try later.unlock(with: Passcode(testing: "old"))
    }
    try half.check(later, "new")
    try half.end("new")
  }

  @Test("a passcode is set, and guards the items of both generations")
  func set() throws {
    let half = try Half(passcode: nil)
    try half.core.setPasscode(Passcode(testing: "new"))
    let later = try half.place.openCore()
    expect(.locked) { () throws(VaultError) in _ = try later.secret(of: half.ids[0], by: Component(.otp)) }
    expect(.locked) { () throws(VaultError) in _ = try later.secret(of: half.ids[4]) }
    try half.check(later, "new")
    try half.end("new")
  }

  @Test("the passcode is removed, and the items of both generations open without one")
  func removed() throws {
    let half = try Half(passcode: "old")
    _ = try half.core.removePasscode(Passcode(testing: "old"))
    try half.check(half.place.openCore(), nil)
    try half.end(nil)
  }

  @Test("the device key is exchanged, and the old one opens neither generation", arguments: [nil, "pass"])
  func deviceKey(passcode: String?) throws {
    let half = try Half(passcode: passcode)
    let other = try half.place.openCore()
    let before = try half.core.status().deviceKey
    try half.core.rotateDeviceKey()
    #expect(try half.core.status().deviceKey != before)
    try half.check(half.place.openCore(), passcode)
    // A process that had the vault open goes on.
    try half.check(other, passcode)
    try half.end(passcode)
  }

  @Test("members come and go")
  func members() throws {
    let half = try Half(passcode: "pass")
    _ = try half.core.enroll(
      BiometricPhrase(testing: "a phrase"), named: "a", passcode: Passcode(testing: "pass"))
    let locked = try half.place.openCore()
    try locked.removeMember(named: "a")
    try half.check(locked, "pass")
    try expect(locked.enrolledMembers(), equals: [])
    try half.end("pass")
  }

  /// Verified to fail when `putRecovery` seals the current root key alone, and when `recover` refuses two generations.
  @Test(
    "a lost device key: the recovery code makes a new one, what was this device's is listed, the rotation ends",
    arguments: [nil, "pass"], [false, true])
  func recovery(passcode: String?, isNew: Bool) throws {
    let half = try Half(passcode: passcode, recovery: true)
    let code = isNew ? try half.core.makeRecoveryCode().text : half.code!.key.copy()
    let lost = try half.core.status().deviceKey
    try half.loseKey()
    let recovered = try VaultCore.recover(
      at: half.place.path, with: RecoveryCode(text: code), protector: half.place.protector,
      environment: half.place.environment)
    expect(recovered.lost.items.compactMap(\.name).sorted(), equals: half.thisDevice.sorted())
    #expect(try recovered.core.status().deviceKey != lost)
    #expect(recovered.core.isRotating)
    try half.check(recovered.core, passcode, without: half.thisDevice)
    // New items of this device have keys again, also behind the passcode.
    let access = AccessControl(.whenUnlocked, thisDeviceOnly: true)
    let fresh = try recovered.core.add(
      NewItem(.genericPassword, name: "fresh", access: access), secret: SecretBytes(testing: "f"))
    try expect(recovered.core.secret(of: fresh.id).bytesForTesting, equals: [0x66])
    try half.end(passcode, without: half.thisDevice)
    try expect(half.place.openCore().item(named: "fresh").id, equals: fresh.id)
  }

  /// Verified to fail when `rotate` does not unlock again.
  @Test("a rotation continues when another process begins one at the same moment")
  func rotationMeanwhile() throws {
    let place = TemporaryVault()
    let item = try place.makeCore(passcode: "pass").add(
      NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    let files = LoadingFiles(files: place.protector) {
      try place.openCore().beginRotation(passcode: Half.typed("pass"))
    }
    let core = try VaultCore.open(at: place.path, protector: files, environment: place.environment)
    files.arm()
    try core.rotateEpoch(passcode: Half.typed("pass"))
    #expect(try !core.isRotating && core.status().generation == 2)
    #expect(try core.secret(of: item.id).byteCount == 1 && core.verify().problems == [])
  }

  /// K16. Said "damaged" before: `KeyRing.reading` opened the new class key with the lost this-device root key.
  @Test(
    "a process that is open while another recovers the vault continues with the new device key",
    .requirement("K16"),
    arguments: [false, true])
  func recoveryMeanwhile(isRotating: Bool) throws {
    let half = try Half(passcode: nil, recovery: true, isRotating: isRotating)
    let other = try half.place.openCore()
    try half.loseKey()
    _ = try VaultCore.recover(
      at: half.place.path, with: RecoveryCode(text: half.code!.key), protector: half.place.protector,
      environment: half.place.environment)
    try half.check(other, nil, without: half.thisDevice)
    let access = AccessControl(.afterFirstUnlock, thisDeviceOnly: true)
    let item = try other.add(
      NewItem(.genericPassword, name: "fresh", access: access), secret: SecretBytes(testing: "f"))
    try expect(half.place.openCore().secret(of: item.id).bytesForTesting, equals: [0x66])
  }

  /// Verified to fail when the states of the old generation are sealed, or summed, with the keys of the current one.
  @Test(
    "a backup has both generations, and the vault restored from it continues the rotation",
    arguments: [nil, "pass"])
  func backup(passcode: String?) throws {
    let half = try Half(passcode: passcode, recovery: true)
    let file = half.place.folder + "/backup.vault"
    let report = try half.core.backUp(to: file, passphrase: Passcode(testing: "phrase"))
    expect(report.leftOut.map(\.name!).sorted(), equals: half.thisDevice.sorted())
    let path = half.place.folder + "/restored/r.vault"
    let restored = try VaultCore.restore(
      from: file, passphrase: Passcode(testing: "phrase"), to: path, protector: half.place.protector,
      newer: try half.core.restorePoint(), environment: half.place.environment)
    #expect(restored.core.isRotating)
    try half.check(restored.core, passcode, without: half.thisDevice)
    try restored.core.rotateEpoch(passcode: try passcode.map(Half.typed))
    #expect(!restored.core.isRotating)
    try half.check(restored.core, passcode, without: half.thisDevice)
  }

  /// K16: the state of an item that is not moved yet has the keys of the old generation, whose seals are no longer
  /// counted.
  ///
  /// Verified to fail when every seal is counted.
  @Test("only seals under the current generation are counted", .requirement("K16"))
  func seals() throws {
    let half = try Half(passcode: nil)
    let intruder = Intruder(place: half.place)
    func count() throws -> UInt64 {
      var seals: UInt64 = 0
      try intruder.changeHead { head in seals = head[184..<192].reduce(0) { $0 << 8 | UInt64($1) } }
      return seals
    }
    let before = try count()
    _ = try half.core.write { transaction in
      try transaction.changeState(of: half.ids[0]) { state in state.counter = 7 }
    }
    try expect(count(), equals: before + 1)
    let new = try half.core.add(
      NewItem(.otp, name: "new"), secret: SecretBytes(testing: "s"), by: Component(.otp))
    let added = try count()
    _ = try half.core.write { transaction in
      try transaction.changeState(of: new.id) { state in state.counter = 7 }
    }
    try expect(count(), equals: added + 2)
  }
}

/// A vault whose rotation has begun, with a few items of the new generation beside those of the old one.
private struct Half {
  let place = TemporaryVault()
  let core: VaultCore
  private(set) var ids: [ItemID] = []
  private var names: [String] = []
  private(set) var thisDevice: [String] = []
  private(set) var code: StoredSecret?

  init(passcode: String?, recovery: Bool = false, isRotating: Bool = true) throws {
    core = try place.makeCore(passcode: passcode)
    if recovery { code = StoredSecret(key: try core.makeRecoveryCode().text) }
    for number in 0..<4 { try add("old\(number)", thisDevice: number == 3) }
    guard isRotating else { return }
    try core.beginRotation(passcode: try passcode.map(Self.typed))
    #expect(core.isRotating)
    for number in 0..<3 { try add("new\(number)", thisDevice: number == 2) }
  }

  static func typed(_ text: String) throws(VaultError) -> Passcode { try Passcode(testing: text) }

  private mutating func add(_ name: String, thisDevice isHere: Bool) throws {
    let classes: [Accessibility] = [.whenUnlocked, .afterFirstUnlock]
    let access = AccessControl(classes[names.count % 2], thisDeviceOnly: isHere)
    let kind: ItemKind = names.count == 0 ? .otp : .genericPassword
    let item = try core.add(
      NewItem(kind, name: name, access: access), secret: SecretBytes(testing: "secret of \(name)"),
      by: Component(kind))
    ids.append(item.id)
    names.append(name)
    if isHere { thisDevice.append(name) }
  }

  func loseKey() throws {
    let status = try core.status()
    try place.protector.deleteKey(status.deviceKey, of: status.vault)
    expect(.deviceKeyAbsent) { () throws(VaultError) in _ = try place.openCore() }
  }

  /// Every item opens, with its name, and nothing of the vault is damaged.
  func check(_ core: VaultCore, _ passcode: String?, without gone: [String] = []) throws {
    if let passcode { try core.unlock(with: Passcode(testing: passcode)) }
    for (id, name) in zip(ids, names) {
      guard !gone.contains(name) else {
        expect(.itemNotFound) { () throws(VaultError) in _ = try core.item(named: name) }
        continue
      }
      try expect(core.item(named: name).id, equals: id)
      try expect(
        core.secret(of: id, by: Component(core.items(.id(id))[0].kind)).bytesForTesting,
        equals: Array("secret of \(name)".utf8))
    }
    try expect(core.verify().problems, equals: [])
  }

  /// The rotation ends in another process, and everything still opens.
  func end(_ passcode: String?, without gone: [String] = []) throws {
    let later = try place.openCore()
    try later.rotateEpoch(passcode: try passcode.map(Self.typed))
    #expect(!later.isRotating)
    try check(later, passcode, without: gone)
    try check(place.openCore(), passcode, without: gone)
  }
}

private final class StoredSecret: Sendable {
  let key: SecretBytes
  init(key: consuming SecretBytes) { self.key = key }
}
