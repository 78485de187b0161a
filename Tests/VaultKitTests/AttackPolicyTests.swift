import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// The policy of an item lies in `meta`, which the device key opens and seals; its hash is bound in `keys` and
/// `secret`, which the class key guards.
///
/// Fails when the class is left out of what `meta` or `keys` binds, when the policy's hash is left out of `keys` and
/// `secret`, and when `WriteTransaction.rewrite` does not open the old data key first.
@Suite("Attacks on an item's policy", .bounded)
struct AttackPolicyTests {
  @Test("meta, keys and secret bind what the format says, no field less")
  func boundFields() throws {
    let place = TemporaryVault()
    let core = try place.makeCore()
    for (number, access) in [(UInt32(1), AccessControl()), (2, AccessControl(.afterFirstUnlock))] {
      let item = try core.add(
        NewItem(.otp, name: "n\(number)", access: access), secret: SecretBytes(testing: "s\(number)"),
        by: Component(.otp))
      let intruder = Intruder(place: place)
      let keys = try intruder.keys()
      let (row, material, slots) = try intruder.tamper { store throws(StorageError) in
        (try store.item(row: item.row), try store.material(row: item.row), try store.slots())
      }
      let content = try Record(
        decoding: try keys.seal(Labels.meta, Labels.metaNonce)
          .open(present(row).meta, aad: keys.metaData(present(row))))
      let policy = try content.record(2).encoded
      let dataKey = try CommittingSeal.open(
        present(material).keys, under: keys.classKey(number, slots), label: Labels.sealKeys,
        aad: keys.keysData(present(row), policy: policy))
      let secret = try CommittingSeal.open(
        present(material).secret,
        under: dataKey.expose { SecretBytes(copying: $0.extracting(1..<33)) }, label: Labels.sealSecret,
        aad: keys.secretData(present(row), policy: policy))
      expect(secret.bytesForTesting, equals: Array("s\(number)".utf8))
    }
  }

  /// A rule that the device key's holder seals again, weaker or stronger.
  enum Forgery: String, CaseIterable, Sendable {
    case notLogged, exportable, constrained, lowerClass, allDevices, unknownField

    func apply(to policy: inout Record, _ row: inout ItemRow) {
      switch self {
      case .notLogged: policy.set(5, u8: 0)
      case .exportable: policy.set(6, u8: 1)
      case .constrained: policy.set(3, u32: 0x4000)
      case .lowerClass:
        policy.set(1, u8: 2)
        row.class = row.class & 0x80 | 2
      case .allDevices:
        policy.set(2, u8: 0)
        row.class &= 0x7F
      case .unknownField: policy[90] = [1]
      }
    }
  }

  @Test(
    "a policy that the holder of the device key has sealed does not open its item",
    arguments: Forgery.allCases, [nil, "pass"])
  func forged(forgery: Forgery, passcode: String?) throws {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: passcode)
    let new = NewItem(
      .genericPassword, name: "n", access: AccessControl(.whenUnlocked, thisDeviceOnly: true), audit: .all)
    let item = try core.add(new, secret: SecretBytes(testing: "old"))
    _ = try core.secret(of: item.id)
    try expect(core.verify().problems, equals: [])
    try forge(place, item, forgery)
    let again = try place.openCore()
    if let passcode { try again.unlock(with: Passcode(testing: passcode)) }
    #expect(thrown { () throws(VaultError) in _ = try again.secret(of: item.id) } != nil)
    // What the forger waits for: a new secret put where the forged policy says.
    let update = thrown { () throws(VaultError) in
      try again.update(item.id, ItemChanges(), secret: SecretBytes(testing: "new"))
    }
    #expect(update != nil)
    // A constraint that is asked for is not opened by `verify`.
    if forgery != .constrained { #expect(try !again.verify().problems.isEmpty) }
  }

  private func forge(_ place: TemporaryVault, _ item: Item, _ forgery: Forgery) throws {
    let intruder = Intruder(place: place)
    let keys = try intruder.keys()
    let seal = try keys.seal(Labels.meta, Labels.metaNonce)
    var row = try present(try intruder.tamper { store throws(StorageError) in try store.item(row: item.row) })
    var content = try Record(decoding: try seal.open(row.meta, aad: keys.metaData(row)))
    var policy = try content.record(2)
    let before = SumKeys(keys).value(of: row)
    forgery.apply(to: &policy, &row)
    content.set(2, record: policy)
    row.meta = try seal.seal(content.encoded, aad: keys.metaData(row), random: SystemRandom())
    try intruder.tamper { [row] store throws(StorageError) in _ = try store.updateItem(row) }
    // The sum in the head row is sealed for the device key as well.
    let after = SumKeys(keys).value(of: row)
    try intruder.changeSum(from: [before], to: [after])
  }
}
