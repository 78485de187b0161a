import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// Trust is not carried over from one state of the vault to the next: no passcode to passcode, generation to generation,
/// backup to vault, old file to new one.
@Suite("Trust at transitions", .bounded)
struct TransitionTests {
  private let place = TemporaryVault()
  private var intruder: Intruder { Intruder(place: place) }

  private func passcode(_ text: String = "passcode") throws(VaultError) -> Passcode {
    try Passcode(testing: text)
  }

  private func add(
    _ name: String, _ access: AccessControl, to core: VaultCore
  ) throws(VaultError) -> ItemID {
    try core.add(
      NewItem(.genericPassword, name: name, access: access), secret: SecretBytes(testing: "secret of \(name)")
    ).id
  }

  // MARK: Without a passcode (K6, K7)

  private enum Plant: CaseIterable {
    case member, half, phraseDerivation, factorMAC, revoked, privateHalf, auditRoot
  }

  private func plant(_ plant: Plant) throws {
    try intruder.changeKeys { header, slots, keys in
      switch plant {
      case .member:
        header[13] = [6, 0, 0, 1] + [UInt8](repeating: 9, count: 32)
        header[14] = try keys.sealSet(
          forgedSet(generation: 0, id: [UInt8](repeating: 1, count: 16), factor: 0x0600_0001, label: "eve"))
      case .half: header[13] = [6, 0, 0, 1] + [UInt8](repeating: 9, count: 32)
      case .phraseDerivation:
        var record = Record()
        record.set(1, u8: 1)
        record.set(2, u32: 0x13)
        for field: UInt16 in 3...5 { record.set(field, u32: 64) }
        record[6] = [UInt8](repeating: 0, count: 16)
        header[15] = record.encoded
      case .factorMAC: header[16] = [UInt8](repeating: 0, count: 32)
      case .revoked: header[19] = [6, 0, 0, 1]
      case .privateHalf:
        let key = SecretBytes(copying: [UInt8](repeating: 3, count: 32))
        slots.append(try keys.slot(900, 4, subject: 0x0100_0000, opener: 5, key, under: keys.slotKey))
      case .auditRoot:
        let root = SecretBytes(copying: [UInt8](repeating: 4, count: 32))
        slots.append(try keys.slot(900, 5, subject: 3, root, under: keys.slotKey))
      }
    }
  }

  /// Verified to fail on b5afbda, which opens each of these vaults, and whose
  /// `passcode set` authenticates what was planted.
  @Test(
    "what a passcode makes or vouches for is damage in a vault without one, and is not there when one is set",
    .requirement("K6", "K7"),
    arguments: Plant.allCases)
  private func planted(what: Plant) throws {
    let core = try place.makeCore()
    try plant(what)
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
    // Also in a process that already had it open: it reads the header again at its first step.
    try intruder.changeKeys(nextConfig: true) { _, _, _ in }
    expect(.damaged) { () throws(VaultError) in try core.setPasscode(passcode()) }
  }

  @Test("a recovery code, and that somebody was enrolled once, outlive the passcode")
  func outlives() throws {
    let core = try place.makeCore(passcode: "passcode", recovery: true)
    _ = try core.enroll(BiometricPhrase(testing: "phrase"), named: "m", passcode: passcode())
    _ = try core.removePasscode(passcode())
    #expect(try place.openCore().status().hasRecoveryCode)
    #expect(try intruder.header()[14] != nil)
    try core.setPasscode(passcode(), recovery: .drop)
    try place.openCore().unlock(with: passcode())
  }

  // MARK: Members behind the factor MAC (K6, K12)

  /// The attack: the list of members is edited around an honest change. Verified to fail on b5afbda, where field 14
  /// is not under the factor MAC.
  @Test(
    "another list of members, made with the device key, does not get past an unlock",
    .requirement("K6", "K12"))
  func editedSet() throws {
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.enroll(BiometricPhrase(testing: "phrase"), named: "me", passcode: passcode())
    try intruder.changeKeys { header, slots, keys in
      var set = try keys.openSet(header[14]!)
      let members = try Record(decoding: set[3]!).list()
      var member = try Record(decoding: members[0])
      member.set(3, string: "eve")
      set[3] = Record.list([member.encoded]).encoded
      header[14] = try keys.sealSet(set)
    }
    let other = try place.openCore()
    try expect(other.enrolledMembers().map(\.name), equals: ["eve"])
    expect(.damaged) { () throws(VaultError) in try other.unlock(with: passcode()) }
    expect(.damaged) { () throws(VaultError) in
      _ = try other.enroll(BiometricPhrase(testing: "another"), named: "x", passcode: passcode())
    }
  }

  /// Verified to fail when the removal seals field 14 again while the vault is locked, and the next unlock calls it
  /// damaged.
  @Test(
    "a removal while locked leaves the sealed list as it is; the next unlock writes list, factors and MAC again",
    .requirement("K12")
  )
  func removalWhileLocked() throws {
    let core = try place.makeCore(passcode: "passcode")
    for name in ["one", "two"] {
      _ = try core.enroll(BiometricPhrase(testing: name), named: name, passcode: passcode())
    }
    let before = try intruder.header()
    let locked = try place.openCore()
    try locked.removeMember(named: "one")
    let removed = try intruder.header()
    for field: UInt16 in [12, 13, 14, 15, 16] {
      expect(removed[field], equals: before[field], "field \(field)")
    }
    expect(removed[19]?.count, equals: 8, "the member and the set")
    try expect(locked.enrolledMembers().map(\.name), equals: ["two"])
    try expect(place.openCore().enrolledMembers().map(\.name), equals: ["two"])
    expect(.itemNotFound) { () throws(VaultError) in try locked.removeMember(named: "one") }
    try place.openCore().unlock(with: passcode())
    let after = try intruder.header()
    #expect(after[19] == nil && after[14] != before[14] && after[16] != before[16])
    expect(
      after[13]?.count, equals: before[13]!.count - 36, "the member's half is gone, the set has a new one")
    let last = try place.openCore()
    try last.unlock(with: passcode())
    try expect(last.enrolledMembers().map(\.name), equals: ["two"])
    try expect(last.verify().problems, equals: [])
  }

  /// Verified to fail when the removal seals field 14 again while the vault is locked. What `nextEpoch` seals does not
  /// matter here: the passcode has ended the removal before.
  @Test("a removal while locked, then a new epoch, then an unlock")
  func removalThenEpoch() throws {
    let core = try place.makeCore(passcode: "passcode", recovery: true)
    for name in ["one", "two"] {
      _ = try core.enroll(BiometricPhrase(testing: name), named: name, passcode: passcode())
    }
    try place.openCore().removeMember(named: "two")
    try place.openCore().rotateEpoch(passcode: passcode())
    let last = try place.openCore()
    try last.unlock(with: passcode())
    try expect(last.enrolledMembers().map(\.name), equals: ["one"])
    try expect(last.verify().problems, equals: [])
    _ = try last.enroll(BiometricPhrase(testing: "three"), named: "three", passcode: passcode())
    try expect(last.enrolledMembers().map(\.name), equals: ["one", "three"])
  }

  /// Verified to fail when field 12 outlives a revoked half, and the next epoch makes a slot for it.
  @Test("a revoked recovery half counts for nothing, and the next unlock removes it")
  func revokedRecovery() throws {
    let core = try place.makeCore(passcode: "passcode", recovery: true)
    try intruder.changeKeys(nextConfig: true) { header, slots, _ in
      header[19] = [7, 0, 0, 0]
      slots.removeAll { $0.opener == 2 }
    }
    let other = try place.openCore()
    #expect(try !other.status().hasRecoveryCode)
    #expect(try !VaultCore.outline(at: place.path).hasRecoveryCode)
    try other.unlock(with: passcode())
    let header = try intruder.header()
    #expect(header[12] == nil && header[19] == nil)
    let last = try place.openCore()
    try last.unlock(with: passcode())
    try last.rotateEpoch(passcode: passcode())
    #expect(
      try intruder.tamper { store throws(StorageError) in try store.slots() }.allSatisfy { $0.opener != 2 })
    // A new code is in force at once, even while the old half is still revoked.
    try intruder.changeKeys(nextConfig: true) { header, _, _ in header[19] = nil }
    _ = try last.makeRecoveryCode()
    #expect(try last.status().hasRecoveryCode)
    _ = core
  }

  // MARK: Generations and passcodes that come and go (K8)

  /// The attack: the header of the next generation, without a passcode, put under a running process. Verified to fail on
  /// b5afbda, which stores the item under a class key of the intruder.
  @Test(
    "an unlocked process stores nothing under a header of the next generation without a passcode",
    .requirement("K8"))
  func nextGenerationWithoutPasscode() throws {
    let core = try place.makeCore(passcode: "passcode")
    let kept = try add("kept", AccessControl(.whenUnlocked), to: core)
    try forgeNextGeneration()
    expect(.locked) { () throws(VaultError) in
      _ = try add("stolen", AccessControl(.whenUnlocked), to: core)
    }
    expect(.locked) { () throws(VaultError) in
      _ = try add("stolen", AccessControl(.whenPasscodeSet), to: core)
    }
    expect(.locked) { () throws(VaultError) in _ = try core.secret(of: kept) }
    expect(.locked) { () throws(VaultError) in try core.unlock(with: passcode()) }
    expect(.locked) { () throws(VaultError) in try core.setPasscode(passcode("another")) }
    expect(.locked) { () throws(VaultError) in _ = try core.makeRecoveryCode() }
    expect(.locked) { () throws(VaultError) in try core.rotateEpoch() }
    #expect(!core.isUnlocked)
    try expect(core.items(matching: Query()).count, equals: 1)
  }

  private func forgeNextGeneration() throws {
    let deviceKey = try intruder.deviceKey()
    let head = try intruder.tamper { store throws(StorageError) in try store.head() }
    let old = try intruder.keys()
    var content = try old.seal(Labels.head, Labels.headNonce).open(head, aad: old.part("head").encoded)
    let (row, stored) = try intruder.tamper { store throws(StorageError) in
      (try store.header(), try store.slots())
    }
    let root = SecretBytes(copying: [UInt8](repeating: 5, count: 32))
    let new = RootKeys(vault: old.vault, generation: old.generation + 1, root: root.copy())
    var header = try Record(decoding: row.body)
    for field: UInt16 in [11, 13, 14, 15, 16, 19] { header[field] = nil }
    header.set(4, u64: try header.u64(4) + 1)
    header.set(7, u32: new.generation)
    header.set(8, u32: old.generation)
    // What needs the passcode goes, as in a vault that never had one.
    let kept = stored.filter { $0.kind < 3 || $0.kind == 3 && $0.opener == 4 }
    let slots = try kept + forgedSlots(new, root, after: old, under: deviceKey, id: header[10]!)
    let mac = new.headerMAC(header, slots)
    content.replaceSubrange(8..<16, with: header[4]!)
    let sealed = try new.seal(Labels.head, Labels.headNonce).seal(
      content, aad: new.part("head").encoded, random: SystemRandom())
    try intruder.tamper { [slots] store throws(StorageError) in
      try store.replaceSlots(slots)
      try store.setHeader(HeaderRow(body: header.encoded, mac: mac))
      try store.setHead(sealed)
    }
  }

  /// The slots of a generation that the intruder has made.
  private func forgedSlots(
    _ new: borrowing RootKeys, _ root: borrowing SecretBytes, after old: borrowing RootKeys,
    under deviceKey: borrowing SecretBytes, id: [UInt8]
  ) throws -> [SlotRow] {
    var slots: [SlotRow] = []
    slots.append(try new.slot(900, 1, opener: 1, openerID: id, root, under: deviceKey))
    slots.append(
      try new.slot(
        901, 2, opener: 1, openerID: id, SecretBytes(copying: [UInt8](repeating: 6, count: 32)),
        under: deviceKey))
    let deviceSlotKey = HKDF.derive(
      from: SecretBytes(copying: [UInt8](repeating: 5, count: 32) + [UInt8](repeating: 6, count: 32)),
      label: Labels.slotDevice)
    for (number, subject) in [UInt32(1), 2, 0x81, 0x82].enumerated() {
      let key = SecretBytes(copying: [UInt8](repeating: 7, count: 32))
      slots.append(
        subject < 0x80
          ? try new.slot(910 + Int64(number), 3, subject: subject, key, under: new.slotKey)
          : try new.slot(910 + Int64(number), 3, subject: subject, key, under: deviceSlotKey))
    }
    // A class key of the generation before, which must not be missing either.
    slots.append(
      try old.slot(
        919, 3, subject: 1, SecretBytes(copying: [UInt8](repeating: 7, count: 32)), under: old.slotKey))
    slots.append(
      try new.slot(
        920, 5, subject: 1, SecretBytes(copying: [UInt8](repeating: 8, count: 32)), under: new.slotKey))
    return slots
  }

  /// Verified to fail on b5afbda, where the process goes on under the header without a passcode.
  @Test(
    "a process that saw a passcode answers locked when another one took it away, until it opens the vault again",
    .requirement("K8")
  )
  func removedByAnother() throws {
    let core = try place.makeCore(passcode: "passcode")
    let always = try add("always", AccessControl(.afterFirstUnlock), to: core)
    let item = try add("item", AccessControl(.whenUnlocked), to: core)
    let other = try place.openCore()
    _ = try other.removePasscode(passcode())
    for accessibility in [Accessibility.whenUnlocked, .whenPasscodeSet] {
      expect(.locked) { () throws(VaultError) in _ = try add("new", AccessControl(accessibility), to: core) }
    }
    expect(.locked) { () throws(VaultError) in _ = try core.secret(of: item) }
    #expect(!core.isUnlocked)
    try expect(core.secret(of: always).byteCount, equals: 16)
    _ = try add("new", AccessControl(.afterFirstUnlock), to: core)
    // The process that removed it goes on, and so does one that opens the vault again.
    #expect(other.isUnlocked)
    try expect(other.secret(of: item).byteCount, equals: 14)
    _ = try add("of the other", AccessControl(.whenUnlocked), to: other)
    let again = try place.openCore()
    try expect(again.secret(of: item).byteCount, equals: 14)
    // When the other process sets a passcode again, the first one unlocks as usual.
    try other.setPasscode(passcode("second"))
    expect(.locked) { () throws(VaultError) in _ = try core.secret(of: item) }
    try core.unlock(with: passcode("second"))
    try expect(core.secret(of: item).byteCount, equals: 14)
  }

  /// Verified to fail when `Session.reload` keeps the class keys that the passcode had opened.
  @Test("a new epoch made by another process locks this one; items that need no passcode still open")
  func rotatedByAnother() throws {
    let core = try place.makeCore(passcode: "passcode")
    let always = try add("always", AccessControl(.afterFirstUnlock), to: core)
    let item = try add("item", AccessControl(.whenUnlocked), to: core)
    let other = try place.openCore()
    try other.beginRotation(passcode: passcode())
    // The item still has the keys that were open here.
    expect(.locked) { () throws(VaultError) in _ = try core.secret(of: item) }
    try other.rotateEpoch(passcode: passcode())
    try expect(other.secret(of: item).byteCount, equals: 14, "who rotates has given the passcode")
    try expect(core.secret(of: always).byteCount, equals: 16)
    expect(.locked) { () throws(VaultError) in _ = try core.secret(of: item) }
    expect(.locked) { () throws(VaultError) in _ = try add("new", AccessControl(.whenUnlocked), to: core) }
    try core.unlock(with: passcode())
    try expect(core.secret(of: item).byteCount, equals: 14)
  }

  @Test("without a passcode a process follows another's new epoch by itself")
  func rotatedWithoutPasscode() throws {
    let core = try place.makeCore()
    let item = try add("item", AccessControl(.whenUnlocked), to: core)
    try place.openCore().rotateEpoch()
    try expect(core.secret(of: item).byteCount, equals: 14)
    _ = try add("new", AccessControl(.whenUnlocked), to: core)
  }

  // MARK: Files put back (K9)

  private func fill(_ core: VaultCore, _ count: Int) throws {
    try core.write { transaction in
      for number in 0..<count {
        _ = try transaction.add(
          NewItem(.genericPassword, name: "bulk\(number)"), secret: SecretBytes(testing: "s"))
      }
    }
  }

  /// Verified to fail on b5afbda, where the old passcode opens the vault and nothing is said.
  @Test(
    "keys and head row of before, put back beside the rows of now, are found in a vault of any size",
    .requirement("K9"))
  func oldKeysBack() throws {
    do { try fill(try place.makeCore(passcode: "passcode"), 400) }
    let old = place.folder + "/old"
    try FileManager.default.copyItem(atPath: place.path, toPath: old)
    do {
      let core = try place.openCore()
      try core.changePasscode(from: passcode(), to: passcode("second"))
      _ = try add("after", AccessControl(.whenUnlocked), to: core)
    }
    try RawSQLite.run(
      "ATTACH '\(old)' AS old; "
        + ["header", "slot", "head", "audit", "segment"].map {
          "DELETE FROM main.\($0); INSERT INTO main.\($0) SELECT * FROM old.\($0); "
        }.joined(), on: place.path)
    expect(.damaged) { () throws(VaultError) in _ = try place.openCore() }
  }

  /// Verified to fail when `checkFile` looks at the inode alone, or at the witness alone, and when it never counts.
  @Test(
    "a copy and an older state of a large vault are summed up whole, and it is told; nothing is told of others",
    .requirement("K9")
  )
  func copies() throws {
    do { try fill(try place.makeCore(), 400) }
    #expect(try place.openCore().checkedAsCopy == nil)
    let copy = place.folder + "/data/copy.vault"
    try FileManager.default.copyItem(atPath: place.path, toPath: copy)
    func open(_ path: String) throws -> VaultCore {
      try VaultCore.open(at: path, protector: place.protector, environment: place.environment)
    }
    let rows = try #require(try open(copy).checkedAsCopy)
    #expect(rows > 1_000)
    // The same file, an older state: written over in place.
    do { _ = try add("more", AccessControl(.whenUnlocked), to: place.openCore()) }
    let present = try Data(contentsOf: URL(fileURLWithPath: copy))
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: place.path))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: present)
    try handle.close()
    let older = try open(place.path)
    expect(older.checkedAsCopy, equals: rows)
    // After its next commit it is the newest state.
    _ = try add("again", AccessControl(.whenUnlocked), to: older)
    #expect(try open(place.path).checkedAsCopy == nil)
  }

  // MARK: Backups (K5)

  /// Verified to fail on b5afbda, which restores the mix and opens it with the old passcode.
  @Test("header and slots of one backup with the rows of another are refused", .requirement("K5"))
  func mixedBackups() throws {
    let core = try place.makeCore(passcode: "passcode")
    let (first, second) = (place.folder + "/first", place.folder + "/second")
    _ = try core.backUp(to: first, passphrase: passcode("passphrase"))
    try core.changePasscode(from: passcode(), to: passcode("second"))
    _ = try add("later", AccessControl(.whenUnlocked), to: core)
    _ = try core.backUp(to: second, passphrase: passcode("passphrase"))
    try RawSQLite.run(
      "ATTACH '\(first)' AS old; "
        + ["header", "slot"].map {
          "DELETE FROM main.\($0); INSERT INTO main.\($0) SELECT * FROM old.\($0); "
        }.joined(), on: second)
    expect(.damaged) { () throws(VaultError) in
      _ = try VaultCore.restore(
        from: second, passphrase: passcode("passphrase"), to: place.folder + "/new/v.vault",
        protector: place.protector, environment: place.environment)
    }
    #expect(!FileManager.default.fileExists(atPath: place.folder + "/new/v.vault"))
  }

  // MARK: Numbers at their ends (K15)

  /// Offsets in the head row. Verified to fail on b5afbda, which commits a head row that no reader
  /// accepts.
  @Test(
    "a commit that would bring a number to its end is refused, and the vault is unchanged",
    .requirement("K15"),
    arguments: [8, 24, 40, 88])
  func ends(offset: Int) throws {
    do { _ = try place.makeCore() }
    let end = [UInt8(0x3F)] + [UInt8](repeating: 0xFF, count: 7)
    try intruder.changeHead { $0.replaceSubrange(offset..<offset + 8, with: end) }
    if offset == 8 { try intruder.changeHeader { $0[4] = end } }
    let core = try place.openCore()
    expect(.unsupported) { () throws(VaultError) in
      if offset == 8 {
        try core.setPasscode(passcode())
      } else {
        _ = try add("new", AccessControl(.whenUnlocked), to: core)
      }
    }
    #expect(try core.items(matching: Query()).isEmpty)
    #expect(try place.openCore().status().hasPasscode == false)
  }

}
