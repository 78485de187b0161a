import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// Somebody with the vault file and its device key, and without the passcode, waits for what is stored later.
@Suite("Attacks on constraints with the device key", .bounded)
struct AttackConstraintTests {
  private let place = TemporaryVault(environment: .testing())

  private func phrase(_ text: String) throws -> AuthenticationContext {
    let context = AuthenticationContext(reason: "", interaction: .notAllowed)
    context.provide(try BiometricPhrase(testing: text))
    return context
  }

  private func enroll(_ text: String, _ core: VaultCore) throws {
    _ = try core.enroll(
      BiometricPhrase(testing: text), named: text, passcode: Passcode(testing: "passcode"))
  }

  private static func forgedHalf() throws -> [UInt8] {
    try X25519KeyPair.generate(random: SystemRandom()).publicKey
  }

  // Fails when `alternatives` wraps to the halves of a header whose factor MAC nobody has checked.
  @Test(
    "while the vault is locked nothing is wrapped to a factor: its half may be forged",
    arguments: [false, true])
  func lockedUpdate(_ givesSecret: Bool) throws {
    let core = try place.makeCore(passcode: "passcode")
    try enroll("phrase", core)
    let access = try AccessControl(
      [.biometryAny, .devicePasscode, .or], accessibility: .afterFirstUnlock)
    let id = try core.add(
      NewItem(.genericPassword, name: "n", access: access), secret: SecretBytes(testing: "old")
    ).id
    var changes = ItemChanges()
    if !givesSecret { changes.audit = .all }
    func update(_ core: VaultCore, _ context: AuthenticationContext) throws -> VaultError.Code? {
      do throws(VaultError) {
        try core.update(
          id, changes, secret: givesSecret ? SecretBytes(testing: "new") : nil, context: context)
        return nil
      } catch { return error.code }
    }
    // The owner's own vault: the passcode is asked for, besides the phrase.
    try expect(update(place.openCore(), phrase("phrase")), equals: .locked)
    let both = try phrase("phrase")
    both.provide(try Passcode(testing: "passcode"))
    #expect(try update(place.openCore(), both) == nil)
    let half = try Self.forgedHalf()
    try Intruder(place: place).changeHeader { header in
      var halves = header[13]!
      // The first is that of the passcode.
      halves.replaceSubrange(4..<36, with: half)
      header[13] = halves
    }
    changes.audit = .changes
    try expect(update(place.openCore(), phrase("phrase")), equals: .locked)
    try expect(update(place.openCore(), both), equals: .damaged)
  }

  // Fails when the factor MAC leaves field 15 out.
  @Test(
    "a phrase is not enrolled under a salt and costs that the device key's holder has put into the header")
  func forgedDerivation() throws {
    for isFirst in [true, false] {
      let place = TemporaryVault(environment: .testing())
      let core = try place.makeCore(passcode: "passcode")
      if !isFirst { try enroll("first", core) }
      try Intruder(place: place).changeHeader { header in
        var record = Record()
        record.set(1, u8: 1)
        record.set(2, u32: 0x13)
        record.set(3, u32: 64)
        record.set(4, u32: 1)
        record.set(5, u32: 1)
        record[6] = [UInt8](repeating: 9, count: 16)
        header[15] = record.encoded
      }
      let again = try place.openCore()
      expect(.damaged) { () throws(VaultError) in
        _ = try again.enroll(
          BiometricPhrase(testing: "phrase"), named: "n", passcode: Passcode(testing: "passcode"))
      }
    }
  }

  // Verified to fail when a member's source and the number of its factor are not compared.
  @Test("the login password, which the device key opens, is not passed off as a member of the set")
  func smuggledLogin() throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.enrollLogin(passcode: Passcode(testing: "passcode"))
    try enroll("first", core)
    try changeMembers { members in
      // As a finger, whose half lies under the device key too.
      for index in members.indices where try members[index].u8(2) == 3 { members[index].set(2, u8: 2) }
    }
    // Else the next set is wrapped to it, and opens for the device key's holder.
    expect(.damaged) { () throws(VaultError) in
      let again = try place.openCore()
      _ = try again.enroll(
        BiometricPhrase(testing: "second"), named: "second", passcode: Passcode(testing: "passcode"))
    }
  }

  /// Changes the records of the members, as whoever holds the device key can.
  private func changeMembers(_ change: (inout [Record]) throws -> Void) throws {
    let intruder = Intruder(place: place)
    let keys = try intruder.keys()
    let seal = try keys.seal(Labels.meta, Labels.metaNonce)
    let data = keys.part("enrolled").encoded
    try intruder.changeHeader { header in
      do {
        var set = try Record(decoding: seal.open(header[14]!, aad: data))
        var members = try Record(decoding: set[3]!).list().map { try Record(decoding: $0) }
        try change(&members)
        set[3] = Record.list(members.map(\.encoded)).encoded
        header[14] = try seal.seal(set.encoded, aad: data, random: SystemRandom())
      } catch { Issue.record("\(error)") }
    }
  }

  // Fails when the numbers of the members' factors are not compared with each other.
  @Test("two members with one factor, as two login passwords are, are damage", arguments: ["login", "voice"])
  func twins(_ name: String) throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.enrollLogin(passcode: Passcode(testing: "passcode"))
    try enroll("voice", core)
    try changeMembers { members in
      var twin = try #require(members.first { (try? $0.string(3)) == name })
      twin[1] = [UInt8](repeating: 7, count: 16)
      twin.set(3, string: "twin")
      members.append(twin)
    }
    // Else one of them is what a removal leaves in the list.
    expect(.damaged) { () throws(VaultError) in try place.openCore().removeMember(named: name) }
  }

  // Fails when field 19 is taken for every factor.
  @Test("a header that revokes the passcode itself is damaged, and its half is not thrown away")
  func forgedRevocation() throws {
    let core = try place.makeCore(passcode: "passcode")
    let item = try core.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.devicePasscode)),
      secret: SecretBytes(testing: "s"))
    let intruder = Intruder(place: place)
    try intruder.changeHeader { $0[19] = [1, 0, 0, 0] }
    expect(.damaged) { () throws(VaultError) in
      try place.openCore().unlock(with: Passcode(testing: "passcode"))
    }
    try intruder.changeHeader { $0[19] = nil }
    let context = AuthenticationContext(reason: "")
    context.provide(try Passcode(testing: "passcode"))
    try expect(place.openCore().secret(of: item.id, context: context).byteCount, equals: 1)
  }

  // Fails when `KeyRing.reading` takes class keys over without a look at those that the passcode had opened.
  @Test("a process that is unlocked does not take over a header without a passcode and with other class keys")
  func foreignClassKey() throws {
    let core = try place.makeCore(passcode: "passcode")
    let intruder = Intruder(place: place)
    let keys = try intruder.keys()
    let (row, stored) = try intruder.tamper { store throws(StorageError) in
      (try store.header(), try store.slots())
    }
    var header = try Record(decoding: row.body)
    for field: UInt16 in [11, 13, 14, 15, 16] { header[field] = nil }
    let config = try header.u64(4) + 1
    header.set(4, u64: config)
    // Roots and the classes without a passcode stay; class 1 is the intruder's.
    var slots = stored.filter { $0.kind < 3 || ($0.kind == 3 && $0.opener == 4) }
    var slot = SlotRow(
      id: 1000, kind: 3, subject: 1, generation: keys.generation, opener: 4, openerID: [], body: [])
    slot.body = try CommittingSeal.seal(
      SecretBytes(copying: [UInt8](repeating: 7, count: 32)),
      under: HKDF.derive(from: keys.root, label: Labels.slot), label: Labels.sealSlot,
      aad: RootKeys.slotData(slot, keys.vault), random: SystemRandom())
    slots.append(slot)
    let mac = keys.headerMAC(header, slots)
    try intruder.tamper { [slots] store throws(StorageError) in
      try store.replaceSlots(slots)
      try store.setHeader(HeaderRow(body: header.encoded, mac: mac))
    }
    try intruder.changeHead { head in head.replaceSubrange(8..<16, with: header[4]!) }
    expect(.damaged) { () throws(VaultError) in
      _ = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    }
  }
}
