import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

@Suite("Attacks with the vault file and its device key", .bounded)
struct AttackDeviceKeyTests {
  @Test(
    "numbers of the head row at their end are damage, not a trap", arguments: [16, 32, 40, 88, 96, 104, 184])
  func headNumbers(offset: Int) throws {
    for byte: UInt8 in [0xFF, 0x7F] {
      let place = TemporaryVault()
      let core = try place.makeCore()
      let item = try core.add(
        NewItem(.otp, name: "n"), secret: SecretBytes(testing: "s"), by: Component(.otp))
      try Intruder(place: place).changeHead { head in
        head.replaceSubrange(offset..<offset + 8, with: [byte] + [UInt8](repeating: 0xFF, count: 7))
      }
      expect(.damaged) { () throws(VaultError) in
        _ = try core.status()
        try core.writing { transaction throws(VaultError) in try transaction.delete(item.id) }
      }
    }
  }

  @Test("a first sequence after the next one, and rows that are fewer than none, are damage, not a trap")
  func headBelowZero() throws {
    for offset in [32, 40, 88] {
      let place = TemporaryVault()
      let core = try place.makeCore()
      let item = try core.add(
        NewItem(.otp, name: "n"), secret: SecretBytes(testing: "s"), by: Component(.otp))
      try Intruder(place: place).changeHead { head in
        head.replaceSubrange(offset..<offset + 8, with: [UInt8](repeating: 0, count: 8))
      }
      expect(.damaged) { () throws(VaultError) in
        try core.writing { transaction throws(VaultError) in
          try transaction.delete(item.id)
        }
      }
    }
  }

  @Test("a config at its end is damage, not a trap")
  func lastConfig() throws {
    let place = TemporaryVault()
    _ = try place.makeCore()
    let intruder = Intruder(place: place)
    try intruder.changeHeader { $0.set(4, u64: .max) }
    try intruder.changeHead { $0.replaceSubrange(8..<16, with: [UInt8](repeating: 0xFF, count: 8)) }
    expect(.damaged) { () throws(VaultError) in
      try place.openCore().setPasscode(Passcode(testing: "p"))
    }
  }

  @Test("public halves that the passcode's holder did not make leave the vault locked")
  func foreignFactors() throws {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: "p")
    let item = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    try Intruder(place: place).changeHeader { header in
      var factors = header[13] ?? []
      factors.replaceSubrange(4..<36, with: [UInt8](repeating: 9, count: 32))
      header[13] = factors
    }
    let again = try place.openCore()
    expect(.damaged) { () throws(VaultError) in try again.unlock(with: Passcode(testing: "p")) }
    #expect(!again.isUnlocked)
    expect(.locked) { () throws(VaultError) in _ = try again.secret(of: item.id) }
    expect(.locked) { () throws(VaultError) in _ = try again.makeRecoveryCode() }
  }

  @Test("an item whose class was lowered gets no new secret: it would lie open to the device key")
  func loweredClass() throws {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: "p")
    let item = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "old"))
    let intruder = Intruder(place: place)
    let keys = try intruder.keys()
    let seal = try keys.seal(Labels.meta, Labels.metaNonce)
    var row = try present(try intruder.tamper { store throws(StorageError) in try store.item(row: item.row) })
    var content = try Record(decoding: try seal.open(row.meta, aad: keys.metaData(row)))
    var policy = try content.record(2)
    policy.set(1, u8: Accessibility.afterFirstUnlock.rawValue)
    content.set(2, record: policy)
    row.class = 2
    row.meta = try seal.seal(content.encoded, aad: keys.metaData(row), random: SystemRandom())
    try intruder.tamper { [row] store throws(StorageError) in _ = try store.updateItem(row) }
    expect(.damaged) { () throws(VaultError) in
      try core.update(item.id, ItemChanges(), secret: SecretBytes(testing: "new"))
    }
  }
}
