import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultCrypto
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// Ways to open, weaken or lose the items of components: what every attack of a review tried, and what once worked.
///
/// Each was seen to work on the first version of the gate that knows kinds.
@Suite("Attacks on kinds, policies and PINs", .bounded)
struct AttackKindTests {
  private let clock = FixedClock()
  private let place: TemporaryVault

  init() { place = TemporaryVault(environment: .testing(clock: clock)) }

  private func addPIN(
    to core: VaultCore, access: AccessControl = AccessControl(), expires: Instant? = nil
  ) throws -> ItemID {
    let new = NewItem(.pin, name: "pin", access: access, expires: expires)
    return try core.add(new, secret: SecretBytes(testing: "p"), by: Component(.pin)).id
  }

  @discardableResult
  private func addBehind(_ pin: ItemID, to core: VaultCore) throws -> Item {
    var new = NewItem(.otp, name: "behind")
    new.guardingPIN = GuardingPIN(.camouflaged, item: pin)
    return try core.add(new, secret: SecretBytes(testing: "s"), by: Component(.otp, pin: .camouflaged))
  }

  private func names(_ items: [(id: ItemID, name: String?)]) -> [String] {
    items.compactMap(\.name).sorted()
  }

  // MARK: A PIN that goes without what is behind it

  @Test("a recovery is possible where the PIN is of the lost device, and tells what is behind it")
  func recovery() throws {
    let core = try place.makeCore()
    try addBehind(addPIN(to: core, access: AccessControl(thisDeviceOnly: true)), to: core)
    let code = try core.makeRecoveryCode()
    let status = try core.status()
    try place.protector.deleteKey(status.deviceKey, of: status.vault)
    let recovered = try VaultCore.recover(
      at: place.path, with: code, protector: place.protector, environment: place.environment)
    expect(names(recovered.lost.items), equals: ["behind", "pin"])
    #expect(try recovered.core.items(matching: Query()).isEmpty)
    try expect(recovered.core.verify().problems, equals: [])
  }

  @Test("the removal of the passcode names what is behind a PIN that it destroys, and deletes it")
  func passcode() throws {
    let core = try place.makeCore(passcode: "passcode")
    try addBehind(addPIN(to: core, access: AccessControl(.devicePasscode)), to: core)
    expect(names(try core.itemsBehindPasscode().items), equals: ["behind", "pin"])
    let dying = try core.itemsBehindPasscode().items.map(\.id)
    expect(.policy) { () throws(VaultError) in
      _ = try core.removePasscode(Passcode(testing: "passcode"), announced: Array(dying.dropFirst()))
    }
    let destroyed = try core.removePasscode(Passcode(testing: "passcode"))
    expect(names(destroyed.items), equals: ["behind", "pin"])
    #expect(try core.items(matching: Query()).isEmpty && core.verify().problems == [])
  }

  /// As when one process deletes the PIN while another one asks for it.
  @Test("nothing is put behind a PIN that is not there, or behind another item")
  func noPIN() throws {
    let core = try place.makeCore()
    let pin = try addPIN(to: core)
    let other = try addBehind(pin, to: core).id
    try core.delete(Query(name: "behind"))
    try core.delete(pin)
    let note = try core.add(NewItem(.genericPassword, name: "note")).id
    for id in [pin, other, note] {
      expect(.itemNotFound) { () throws(VaultError) in
        var new = NewItem(.otp, name: "behind")
        new.guardingPIN = GuardingPIN(.camouflaged, item: id)
        _ = try core.add(new, secret: SecretBytes(testing: "s"), by: Component(.otp, pin: .camouflaged))
      }
    }
    try expect(core.items(matching: Query()).map(\.id), equals: [note])
  }

  @Test("a PIN that has expired is not deleted by the next opening")
  func expired() throws {
    let day: Int64 = 86_400_000
    let core = try place.makeCore()
    let pin = try addPIN(to: core, expires: clock.now().advanced(byMilliseconds: day))
    try addBehind(pin, to: core)
    let new = NewItem(
      ItemKind(rawValue: 0x8001), name: "note", expires: clock.now().advanced(byMilliseconds: 10 * day))
    _ = try core.add(new)
    for _ in 0..<12 {
      clock.advance(by: .milliseconds(day))
      _ = try place.openCore().add(NewItem(.genericPassword, name: "tick"))
      _ = try place.openCore().delete(Query(name: "tick"))
    }
    let left = try place.openCore().items(matching: Query()).compactMap(\.name).sorted()
    expect(left, equals: ["behind", "pin"])
  }

  @Test("a PIN is not deleted while an item of a later version may be behind it")
  func laterItem() throws {
    let core = try place.makeCore()
    let pin = try addPIN(to: core)
    let item = try addBehind(pin, to: core)
    try Intruder(place: place).rewrite(
      item, change: { policy, _ in policy.set(3, u32: 0x100) }, content: { form(0, $0) })
    let later = try place.openCore()
    expect(.unsupported) { () throws(VaultError) in _ = try later.items(matching: Query()) }
    expect(.policy) { () throws(VaultError) in try later.delete(pin) }
    try later.writing { transaction throws(VaultError) in
      try transaction.delete(item.id)
      try transaction.delete(pin)
    }
    #expect(try later.items(matching: Query()).isEmpty && later.verify().problems == [])
  }

  @Test("a PIN whose row only a later version opens is not deleted either")
  func laterPIN() throws {
    let core = try place.makeCore()
    let pin = try addPIN(to: core)
    let item = try addBehind(pin, to: core)
    let present = try core.item(named: "pin")
    try Intruder(place: place).rewrite(
      present, change: { policy, _ in policy.set(3, u32: 0x100) }, content: { form(0, $0) })
    let later = try place.openCore()
    expect(.policy) { () throws(VaultError) in try later.delete(pin) }
    try later.delete(item.id)
    try later.delete(pin)
  }

  enum OtherPIN: String, CaseIterable, Sendable { case withLaterRule, withLaterFlag, missing }

  @Test(
    "an item behind a PIN of a later version is not damaged, and one whose PIN is missing is",
    arguments: OtherPIN.allCases)
  func behindOtherPIN(other: OtherPIN) throws {
    let core = try place.makeCore()
    let pin = try addPIN(to: core)
    let item = try addBehind(pin, to: core)
    let changed = try other == .missing ? item : core.item(named: "pin")
    try Intruder(place: place).rewrite(
      changed,
      change: { policy, row in
        switch other {
        case .withLaterRule: policy.set(3, u32: 0x100)
        case .withLaterFlag: row.flags |= 32
        case .missing:
          var named = Record()
          named.set(1, u8: 2)
          named[2] = [UInt8](repeating: 1, count: 16)
          policy.set(8, record: named)
        }
      },
      content: { form(0, $0) })
    let later = try place.openCore()
    let damaged = other == .missing ? [item.id] : []
    try expect(later.damage().behindDamagedPIN.map(\.id), equals: damaged)
    let words = "the PIN that guards it does not open or is missing"
    try expect(later.verify().problems, equals: damaged.map { "item \($0): \(words)" })
    try expect(later.verify().newer.count, equals: other == .withLaterRule ? 1 : 0)
  }

  // MARK: Items that this version does not open

  /// Why an item is one of a later version.
  enum Closed: String, CaseIterable, Sendable {
    case kind, pinOfToken, pinOfPassword, lifeOfCredential, trash, entryRecord

    var kind: ItemKind {
      switch self {
      case .kind: ItemKind(rawValue: 26)
      case .pinOfToken: .cardToken
      case .lifeOfCredential: .otp
      case .trash, .entryRecord: .certificate
      default: .genericPassword
      }
    }

    func apply(to policy: inout Record, _ row: inout ItemRow) {
      var pin = Record()
      pin.set(1, u8: 1)
      pin[2] = [UInt8](repeating: 1, count: 16)
      switch self {
      case .kind, .pinOfToken, .pinOfPassword: policy.set(8, record: pin)
      case .lifeOfCredential: policy[7] = AttackKindTests.life.encoded
      case .trash: row.flags |= 32
      case .entryRecord: row.flags |= 16
      }
    }
  }

  private static let life: Record = {
    var life = Record()
    life.set(1, i64: 1)
    life.set(2, u64: 1)
    life[3] = [UInt8](repeating: 1, count: 16)
    life.set(4, u64: 1)
    life.set(5, u32: 1)
    life[6] = [UInt8](repeating: 1, count: 32)
    return life
  }()

  private func form(_ byte: UInt8, _ dataKey: borrowing SecretBytes) -> SecretBytes {
    SecretBytes.joining(SecretBytes(copying: [byte]), dataKey)
  }

  /// An item of a later version, which wraps its keys in a way that this version does not know.
  private func makeClosed(_ closed: Closed, form number: UInt8 = 0) throws -> (VaultCore, Item) {
    let made = try place.makeCore()
    let item = try made.add(
      NewItem(closed.kind, name: "n"), secret: SecretBytes(testing: "s"), by: Component(closed.kind))
    try Intruder(place: place).rewrite(item, change: closed.apply) { form(number, $0) }
    return (try place.openCore(), item)
  }

  /// Its keys have the form that its own version gives them: 0 where this version would expect 1, or one that is new.
  @Test("what a later version made is no damage, and is never dropped", arguments: Closed.allCases, [0, 7])
  func dropped(closed: Closed, form: UInt8) throws {
    let (core, item) = try makeClosed(closed, form: form)
    try expect(core.verify().problems, equals: [])
    try expect(core.verify().secrets, equals: 0)
    try core.rotateEpoch(dropDamaged: true)
    try expect(core.item(named: "n").id, equals: item.id)
    try expect(core.verify().problems, equals: [])
  }

  @Test("its secret is not sealed again for another audit policy", arguments: Closed.allCases)
  func sealedAgain(closed: Closed) throws {
    let (core, item) = try makeClosed(closed)
    let before = try material(of: item)
    var changes = ItemChanges()
    changes.audit = .all
    expect(.unsupported) { () throws(VaultError) in try core.update(item.id, changes) }
    try expect(material(of: item), equals: before)
  }

  private func material(of item: Item) throws -> [UInt8] {
    let found = try Intruder(place: place).tamper { store throws(StorageError) in
      try store.material(row: item.row)
    }
    return try present(found).keys
  }

  @Test("field 0 of a policy is a field that this version does not know", arguments: [false, true])
  func fieldZero(isOfLife: Bool) throws {
    let made = try place.makeCore()
    let kind = isOfLife ? ItemKind.cardToken : .otp
    let item = try made.add(
      NewItem(kind, name: "n"), secret: SecretBytes(testing: "s"), by: Component(kind))
    try Intruder(place: place).rewrite(
      item,
      change: { policy, _ in
        var life = Self.life
        life[6] = nil
        life[0] = [1]
        if isOfLife { policy.set(7, record: life) } else { policy[0] = [1] }
      },
      content: { form(0, $0) })
    let core = try place.openCore()
    expect(.unsupported) { () throws(VaultError) in _ = try core.secret(of: item.id, by: Component(kind)) }
    try expect(core.verify().problems, equals: [])
  }

  // MARK: Rules that contradict each other

  @Test(
    "constraints without their bits, or bits without their constraints, are damage", arguments: [false, true])
  func constraints(hasBits: Bool) throws {
    let made = try place.makeCore()
    let item = try made.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "s"))
    try Intruder(place: place).rewrite(
      item,
      change: { policy, _ in
        var constraint = Record()
        constraint.set(1, u32: 0x10)
        constraint.set(2, u32: 0x0100_0000)
        if hasBits {
          policy.set(3, u32: 0x10)
        } else {
          policy.set(4, record: Record.list([constraint.encoded]))
        }
      },
      content: { form(0, $0) })
    let core = try place.openCore()
    expect(.damaged) { () throws(VaultError) in _ = try core.secret(of: item.id) }
    try expect(core.verify().problems.count, equals: 1)
  }

  @Test("nothing is sealed for a session of another length than 32 bytes", arguments: [0, 31, 33])
  func session(byteCount: Int) throws {
    let core = try place.makeCore()
    var new = NewItem(.cardToken, name: "n")
    new.tokenLife = TokenLife(
      issued: Instant(milliseconds: 1), issuedBootTime: 1, boot: [UInt8](repeating: 0, count: 16),
      length: 1, mostUses: 1, session: [UInt8](repeating: 5, count: 32))
    let session = SharedSecret(SecretBytes(copying: [UInt8](repeating: 1, count: byteCount)))
    expect(.malformed) { () throws(VaultError) in
      _ = try core.add(
        new, secret: SecretBytes(testing: "s"), by: Component(.cardToken, session: session))
    }
  }

  // MARK: Attributes

  @Test("attributes of a key that is not exportable, and of an unknown kind, are their component's")
  func attributes() throws {
    let core = try place.makeCore()
    for kind in [ItemKind.key, ItemKind(rawValue: 26)] {
      var new = NewItem(kind, name: "n \(kind.rawValue)")
      new.isExportable = false
      let id = try core.add(new, secret: SecretBytes(testing: "s"), by: Component(kind)).id
      for code in [8, 21, 24, 32, 66, 71, 100] as [UInt16] {
        let changes = ItemChanges(removed: [code])
        expect(.policy) { () throws(VaultError) in try core.update(id, changes) }
        #expect(thrown { () throws(VaultError) in try core.update(id, changes, by: Component(kind)) } == nil)
      }
      var changes = ItemChanges()
      changes.attributes[.name] = "other \(kind.rawValue)"
      changes.attributes[.comment] = "a comment"
      try core.update(id, changes)
    }
    var new = NewItem(.key, name: "e")
    new.attributes[.applicationLabel] = [1]
    let exportable = try core.add(new, secret: SecretBytes(testing: "s")).id
    try core.update(exportable, ItemChanges(removed: [32]))
  }

  // MARK: States

  @Test("a restore keeps the larger counters of a kind that this version does not know")
  func unknownState() throws {
    let made = try place.makeCore()
    let kind = ItemKind(rawValue: 26)
    let item = try made.add(
      NewItem(kind, name: "n"), secret: SecretBytes(testing: "s"), by: Component(kind))
    try Intruder(place: place).addState(of: item)
    let core = try place.openCore()
    let backup = place.folder + "/data/b.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "p"))
    try core.write { transaction in
      try transaction.changeState(of: item.id) { state in
        state.counter = 77
        state.wrongUnlockCodes = 3
      }
    }
    let restored = try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: "p"), to: place.folder + "/data/r.vault",
      protector: place.protector, newer: core.restorePoint(), environment: place.environment)
    let state = try restored.core.state(of: item.id)
    #expect(state.counter == 77 && state.wrongUnlockCodes == 3)
  }
}
