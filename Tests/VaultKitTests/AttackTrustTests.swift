import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// The holder of the device key of a vault without a passcode can write anything into header and slots. Nothing of that
/// is trusted once a passcode is set (`TransitionTests.planted`); a reader refuses members and roots at once.
@Suite("Attacks on the trust that a first passcode begins with", .bounded)
struct AttackTrustTests {
  private let place = TemporaryVault()
  private var intruder: Intruder { Intruder(place: place) }

  // The same attack succeeds against b5afbda, with the script of the review: a rewritten log is called whole.
  @Test(
    "a vault with a member planted before the first passcode is refused, listed or not",
    .requirement("K6"),
    arguments: [true, false])
  func plantedMember(isListed: Bool) throws {
    let core = try place.makeCore()
    let planted = [UInt8](repeating: 9, count: 32)
    let number: [UInt8] = [6, 0, 0, 1]
    try intruder.plant { header, _, keys in
      header[13] = number + planted
      guard isListed else { return }
      header[14] = try keys.sealedSet(member: "right-index-finger", number)
    }
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
    // A process that has the vault open reads the keys again.
    expect(.damaged) { () throws(VaultError) in try core.setPasscode(Passcode(testing: "p")) }
    #expect(!core.hasPasscode)
  }

  // The same attack succeeds against b5afbda, with the script of the review: a rewritten log is called whole.
  @Test("an audit root planted before the first passcode begins no chain afterwards", .requirement("K7"))
  func plantedRoot() throws {
    let core = try place.makeCore()
    try intruder.plant { _, slots, keys in
      for segment: UInt32 in [2, 3, .max] { try slots.append(keys.auditRootSlot(segment, in: slots)) }
    }
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
    // A process that has the vault open writes the slots that it knows.
    _ = try core.setPasscode(Passcode(testing: "p"))
    let roots = try intruder.rows().slots.filter { $0.kind == 5 }
    #expect(roots.map(\.subject).sorted() == [1, 2] && roots.allSatisfy { $0.opener == 8 })
    #expect(try core.verify().isAuditChainChecked)
  }

  // On b5afbda `passcode set` keeps whatever recovery half is there: tried, exit 0, and the code still recovers.
  @Test("a recovery code planted before the first passcode opens nothing once the person's own is asked for")
  func plantedCode() throws {
    let core = try place.makeCore()
    let own = try core.makeRecoveryCode()
    let planted = try core.makeRecoveryCode()
    let config = try core.status().config
    expect(.authenticationFailed) { () throws(VaultError) in
      try core.setPasscode(Passcode(testing: "p"), recovery: .keep(RecoveryCode(text: own.text)))
    }
    expect(.policy) { () throws(VaultError) in try core.setPasscode(Passcode(testing: "p")) }
    #expect(try !core.hasPasscode && core.status().config == config)
    let forgotten = try core.setPasscode(Passcode(testing: "p"), recovery: .drop)
    #expect(forgotten.recoveryCode)
    #expect(try !core.status().hasRecoveryCode && intruder.rows().header[12] == nil)
    for _ in 0..<2 {
      expect(.authenticationFailed) { () throws(VaultError) in try core.checkRecoveryCode(planted) }
      expect(.policy) { () throws(VaultError) in _ = try place.recover(with: planted) }
      try core.rotateEpoch(passcode: Passcode(testing: "p"))
    }
    try expect(core.verify().problems, equals: [])
  }

  @Test("a code that is kept opens the vault, also where its slot was damaged before")
  func keptCode() throws {
    let core = try place.makeCore()
    let code = try core.makeRecoveryCode()
    try intruder.plant { _, slots, _ in
      let index = try present(slots.firstIndex { $0.opener == 2 })
      slots[index].body[40] ^= 1
    }
    let forgotten = try place.openCore().setPasscode(
      Passcode(testing: "p"), recovery: .keep(RecoveryCode(text: code.text)))
    #expect(forgotten.isEmpty)
    let again = try place.openCore()
    try again.unlock(with: Passcode(testing: "p"))
    #expect(try again.status().hasRecoveryCode)
    try again.checkRecoveryCode(code)
    let recovered = try place.recover(with: code).core
    try recovered.unlock(with: Passcode(testing: "p"))
    try expect(recovered.verify().problems, equals: [])
  }

  @Test(
    "without a recovery code nothing is asked; a code that is shown then is refused, and nothing is changed")
  func noCode() throws {
    let core = try place.makeCore()
    let other = try TemporaryVault().makeCore().makeRecoveryCode()
    expect(.policy) { () throws(VaultError) in
      try core.setPasscode(Passcode(testing: "p"), recovery: .keep(RecoveryCode(text: other.text)))
    }
    #expect(!core.hasPasscode)
    #expect(try core.setPasscode(Passcode(testing: "p"), recovery: .drop).isEmpty)
    #expect(core.hasPasscode)
  }
}

extension TemporaryVault {
  /// The vault as after the loss of the device key.
  func recover(with code: borrowing RecoveryCode) throws(VaultError) -> RecoveredCore {
    try VaultCore.recover(at: path, with: code, protector: protector, environment: environment)
  }
}

extension Intruder {
  /// Header and slots as they are in the file.
  func rows() throws -> (header: Record, slots: [SlotRow]) {
    let (row, slots) = try tamper { store throws(StorageError) in (try store.header(), try store.slots()) }
    return (try Record(decoding: row.body), slots)
  }

  /// Changes header and slots and authenticates them again.
  func plant(_ change: (inout Record, inout [SlotRow], borrowing RootKeys) throws -> Void) throws {
    let keys = try keys()
    var (header, slots) = try rows()
    try change(&header, &slots, keys)
    let row = HeaderRow(body: header.encoded, mac: keys.headerMAC(header, slots.sorted { $0.id < $1.id }))
    let planted = slots
    try tamper { store throws(StorageError) in
      try store.replaceSlots(planted)
      try store.setHeader(row)
    }
  }
}

extension RootKeys {
  static let plantedID = [UInt8](repeating: 7, count: 16)

  /// Header field 14 with one member.
  func sealedSet(member label: String, _ number: [UInt8]) throws -> [UInt8] {
    var member = Record()
    member[1] = Self.plantedID
    member.set(2, u8: 2)
    member[3] = Array(label.utf8)
    member.set(4, i64: 1_700_000_000_000)
    member[5] = number
    var set = Record()
    set.set(1, u32: 0)
    set[2] = SHA256.hash(Record.list([Array(label.utf8)]).encoded)
    set[3] = Record.list([member.encoded]).encoded
    return try seal(Labels.meta, Labels.metaNonce).seal(
      set.encoded, aad: part("enrolled").encoded, random: SystemRandom())
  }

  /// A slot of kind 5 under the base key, as a vault without a passcode has them.
  func auditRootSlot(_ segment: UInt32, in slots: [SlotRow]) throws -> SlotRow {
    var slot = SlotRow(
      id: (slots.map(\.id).max() ?? 0) + 1, kind: 5, subject: segment, generation: generation, opener: 4,
      openerID: [], body: [])
    slot.body = try CommittingSeal.seal(
      SecretBytes(copying: [UInt8](repeating: 5, count: 32)),
      under: HKDF.derive(from: root, label: Labels.slot),
      label: Labels.sealSlot, aad: Self.slotData(slot, vault), random: SystemRandom())
    return slot
  }
}
