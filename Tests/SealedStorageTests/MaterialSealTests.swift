import SealedStorage
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultFormat
import VaultStorage
import VaultTestKit

/// Verified to fail when a secret is sealed and opened without its policy.
@Suite("The seals of an item's material", .bounded)
struct MaterialSealTests {
  private let random = SeededRandom(seed: 7).source
  private let vault = VaultID(Array(1...16))!
  private let policy = [UInt8](repeating: 3, count: 32)
  private let classKey = SharedSecret(SecretBytes(copying: [UInt8](repeating: 5, count: 32)))
  private let secret: [UInt8] = Array("a secret of some bytes".utf8)

  private func row(id: UInt8 = 9, material: UInt64 = 4) -> ItemRow {
    ItemRow(
      row: 1, id: Bytes16([UInt8](repeating: id, count: 16)), kind: 1,
      primaryKey: Bytes16([UInt8](repeating: 2, count: 16)), name: nil, flags: 0, class: 1, generation: 1,
      version: 1, material: material, expires: nil, meta: [])
  }

  private func seal(_ row: ItemRow, in vault: VaultID? = nil, policy: [UInt8]? = nil) -> MaterialSeal {
    MaterialSeal(of: row, in: vault ?? self.vault, policyHash: policy ?? self.policy)
  }

  private func sealed(_ row: ItemRow) throws -> [UInt8] {
    try seal(row).sealSecret(SecretBytes(copying: secret), under: classKey.bytes, random: random)
  }

  @Test("a secret opens under the key, the item and the policy that it was sealed for")
  func roundTrip() throws {
    let opened = try seal(row()).openSecret(sealed(row()), under: classKey.bytes)
    expect(opened.bytesForTesting, equals: secret)
  }

  @Test("it opens for no other item, number of its material, vault, policy or key")
  func bound() throws {
    let bytes = try sealed(row())
    let wrong = [
      seal(row(id: 8)), seal(row(material: 5)), seal(row(), in: VaultID(Array(2...17))!),
      seal(row(), policy: [UInt8](repeating: 4, count: 32)),
    ]
    for seal in wrong {
      expect(.damaged) { () throws(VaultError) in _ = try seal.openSecret(bytes, under: classKey.bytes) }
    }
    let other = SecretBytes(copying: [UInt8](repeating: 6, count: 32))
    expect(.damaged) { () throws(VaultError) in _ = try seal(row()).openSecret(bytes, under: other) }
  }

  @Test("no byte of a seal can be changed")
  func tampered() throws {
    let bytes = try sealed(row())
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 1
      #expect(
        thrown { () throws(VaultError) in _ = try seal(row()).openSecret(changed, under: classKey.bytes) }
          != nil,
        "byte \(place)")
    }
  }

  @Test("the seal of the keys does not open as the seal of the secret")
  func labels() throws {
    let keys = try seal(row()).sealKeys(SecretBytes(copying: secret), under: classKey, random: random)
    try expect(seal(row()).openKeys(keys, under: classKey).bytesForTesting, equals: secret)
    expect(.damaged) { () throws(VaultError) in _ = try seal(row()).openSecret(keys, under: classKey.bytes) }
  }

  @Test("a seal that is too short is damaged")
  func short() {
    expect(.damaged) { () throws(VaultError) in try MaterialSeal.check([]) }
  }
}
