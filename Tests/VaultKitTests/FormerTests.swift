import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// Former secrets: the last five, read through the gate, and gone where their rule ends.
///
/// Verified to fail when the gate is not asked for a former secret, when its reading is not logged, when six are kept, when they stay
/// after a change of the rule, and when one is not counted in the sum.
@Suite("Former secrets", .bounded)
struct FormerTests {
  private let place = TemporaryVault()

  private func password(_ number: Int) -> SecretBytes { SecretBytes(testing: "p\(number)") }

  private func add(_ name: String, changes: Int = 0, to core: VaultCore) throws -> ItemID {
    let id = try core.add(NewItem(.genericPassword, name: name), secret: password(0)).id
    for number in 0..<changes { try core.update(id, ItemChanges(), secret: password(number + 1)) }
    return id
  }

  private func formers(_ id: ItemID, in core: VaultCore) throws -> [String] {
    try core.history(of: id).map { try EntryTests.shown(core.entry(of: id, version: $0.version))[0] }
  }

  @Test("the last five are kept, the newest first, and each is the one that it was")
  func five() throws {
    let core = try place.makeCore()
    let id = try add("a", to: core)
    try expect(core.history(of: id), equals: [])
    for number in 1...7 {
      try core.update(id, ItemChanges(), secret: password(number))
      let expected = (max(0, number - 5)..<number).reversed().map { "p\($0)" }
      try expect(formers(id, in: core), equals: expected)
    }
    let again = try place.openCore()
    try expect(formers(id, in: again), equals: ["p6", "p5", "p4", "p3", "p2"])
    try expect(again.verify().problems, equals: [])
  }

  @Test("one is restored, and what it replaces is kept")
  func restoring() throws {
    let core = try place.makeCore()
    let id = try core.add(NewItem(.genericPassword, name: "a"), entry: EntryTests.content()).id
    try core.update(id) { (entry) throws(VaultError) in
      entry.setPassword(SecretBytes(testing: "slip"))
      try entry.removeField("customer")
    }
    let version = try present(core.history(of: id).first).version
    let changed = try core.restore(id, version: version).changed
    expect(changed, equals: ["password", "\"customer\""])
    try expect(EntryTests.shown(core.entry(of: id)), equals: EntryTests.shown(EntryTests.content()))
    try expect(formers(id, in: core), equals: ["slip", "one"])
    expect(.itemNotFound) { () throws(VaultError) in try core.restore(id, version: 99) }
    expect(.itemNotFound) { () throws(VaultError) in _ = try core.entry(of: id, version: 0) }
  }

  @Test("a plain password and an entry are told apart in what they were")
  func forms() throws {
    let core = try place.makeCore()
    let id = try add("a", to: core)
    try core.update(id) { (entry) throws(VaultError) in try entry.setNotes(SecretBytes(testing: "n")) }
    try core.update(id) { (entry) throws(VaultError) in try entry.setNotes(SecretBytes(testing: "m")) }
    try expect(
      core.history(of: id).map { try EntryTests.shown(core.entry(of: id, version: $0.version)) },
      equals: [["p0", "n"], ["p0", "-"]])
    _ = try core.restore(id, version: present(core.history(of: id).last).version)
    try expect(EntryTests.shown(core.entry(of: id)), equals: ["p0", "-"])
    try expect(core.verify().problems, equals: [])
  }

  /// How the same content is stored again.
  enum Same: String, CaseIterable, Sendable {
    case secret, secretOfEntry, edit, editOfEntry, restore
  }

  /// Verified to fail when what is stored again counts as a former secret, for each of these ways.
  @Test("the same content again takes the place of none", arguments: Same.allCases)
  func same(way: Same) throws {
    let core = try place.makeCore()
    let id = try add("a", changes: 2, to: core)
    if way == .secretOfEntry || way == .editOfEntry {
      try core.update(id) { (entry) throws(VaultError) in try entry.setNotes(SecretBytes(testing: "n")) }
    }
    let before = try formers(id, in: core)
    let restored = try present(core.history(of: id).first).version
    if way == .restore { try core.restore(id, version: restored) }
    for _ in 0..<6 {
      switch way {
      case .secret, .secretOfEntry: try core.update(id, ItemChanges(), secret: password(2))
      case .edit: try core.update(id) { (entry) throws(VaultError) in entry.setPassword(self.password(2)) }
      case .editOfEntry:
        try core.update(id) { (entry) throws(VaultError) in try entry.setNotes(SecretBytes(testing: "n")) }
      case .restore: try core.restore(id, version: restored)
      }
    }
    // The first time restoring is a change.
    try expect(formers(id, in: core), equals: (way == .restore ? ["p2"] : []) + before)
    try expect(core.verify().problems, equals: [])
  }

  /// Verified to fail when forgetting asks for nothing in a locked vault.
  @Test("a locked vault forgets none, and one that is never locked does")
  func locked() throws {
    let core = try place.makeCore(passcode: "passcode")
    for accessibility in [Accessibility.whenUnlocked, .afterFirstUnlock] {
      try core.unlock(with: Passcode(testing: "passcode"))
      let item = NewItem(
        .genericPassword, name: "\(accessibility)", access: AccessControl(accessibility))
      let id = try core.add(item, secret: password(0)).id
      try core.update(id, ItemChanges(), secret: password(1))
      core.lock()
      var changes = ItemChanges()
      changes.forgetsFormer = true
      changes.attributes[.label] = "a remark"
      let error = thrown { () throws(VaultError) in try core.update(id, changes) }
      let isOpen = accessibility == .afterFirstUnlock
      expect(error?.code, equals: isOpen ? nil : .locked)
      try expect(core.history(of: id).count, equals: isOpen ? 0 : 1)
    }
  }

  /// What ends the former secrets of an item.
  enum End: String, CaseIterable, Sendable {
    case rule, audit, forget, forgetWithSecret, epoch, purge, delete, nameless
  }

  @Test("they end with the rule, the keys, the item, and when somebody says so", arguments: End.allCases)
  func ends(end: End) throws {
    let core = try place.makeCore()
    let (id, other) = (try add("a", changes: 3, to: core), try add("b", changes: 2, to: core))
    var changes = ItemChanges()
    switch end {
    case .rule: changes.expiry = .refuse
    case .audit: changes.audit = .all
    case .forget, .forgetWithSecret: changes.forgetsFormer = true
    case .nameless: changes.removed = [1]
    default: break
    }
    switch end {
    case .epoch: try core.rotateEpoch()
    case .purge: try core.purge()
    case .delete: try core.delete(id)
    case .forgetWithSecret, .nameless: try core.update(id, changes, secret: password(9))
    default: try core.update(id, changes)
    }
    if end != .delete { try expect(core.history(of: id), equals: []) }
    let isForAll = end == .epoch || end == .purge
    try expect(formers(other, in: core), equals: isForAll ? [] : ["p1", "p0"])
    try expect(core.verify().problems, equals: [])
    try expect(place.openCore().verify().problems, equals: [])
  }

  @Test("a value without a name, and what a component keeps, has none")
  func others() throws {
    let core = try place.makeCore()
    let id = try core.add(NewItem(.genericPassword), secret: password(0)).id
    try core.update(id, ItemChanges(), secret: password(1))
    try expect(core.history(of: id), equals: [])
    for kind in [ItemKind.otp, .pin, .key, .certificate, .clientRegistration] {
      let id = try core.add(NewItem(kind, name: kind.rules.word), secret: password(0), by: Component(kind)).id
      try core.update(id, ItemChanges(), secret: password(1), by: Component(kind))
      try expect(core.history(of: id), equals: [])
    }
    try #expect(!Intruder(place: place).tamper { store throws(StorageError) in try store.hasFormer() })
  }

  @Test("the first of them makes the vault one that older programs refuse, and no other does")
  func feature() throws {
    let core = try place.makeCore()
    let id = try add("a", to: core)
    func features() throws -> [UInt8]? {
      try Record(
        decoding: Intruder(place: place).tamper { store throws(StorageError) in try store.header() }.body)[6]
    }
    try expect(features()?.count, equals: 12)
    let second = try place.openCore()
    try core.update(id, ItemChanges(), secret: password(1))
    try expect(features()?.suffix(4), equals: [0, 0, 0, 4])
    try second.update(id, ItemChanges(), secret: password(2))
    try expect(formers(id, in: core), equals: ["p1", "p0"])
    try core.update(id, ItemChanges(), secret: password(3))
    try expect(features()?.count, equals: 16)
    try expect(core.verify().problems, equals: [])
  }

  @Test("they go with a backup and come back")
  func backup() throws {
    let core = try place.makeCore()
    let id = try add("a", changes: 2, to: core)
    let backup = place.folder + "/data/b.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "phrase"))
    let other = TemporaryVault()
    let restored = try other.restoreCore(from: backup, passphrase: "phrase")
    defer { withExtendedLifetime(other) {} }
    try expect(formers(id, in: restored), equals: ["p1", "p0"])
    try expect(restored.verify().problems, equals: [])
  }

  @Test("a former secret of an item with a rule needs the person, and a change of the passcode leaves it")
  func guarded() async throws {
    let made = try await GuardedVault()
    let vault = made.vault
    func context(_ passcode: String = "passcode") -> AuthenticationContext {
      AuthenticationContext(reason: "", prompt: ScriptedPrompt([.text(passcode), .text(passcode)]))
    }
    try await vault.update(
      made.guarded, ItemChanges(), secret: SecretBytes(testing: "new"), context: context())
    let version = try await present(vault.history(of: made.guarded).first?.version)
    let refused = await thrown { () async throws(VaultError) in
      _ = try await vault.entry(of: made.guarded, version: version)
    }
    #expect(refused?.code == .interactionNotAllowed)
    try await vault.changePasscode(from: Passcode(testing: "passcode"), to: Passcode(testing: "other one"))
    let former = try await vault.entry(of: made.guarded, version: version, context: context("other one"))
    expect(EntryTests.shown(former), equals: ["secret", "-"])
    _ = try await vault.restore(made.guarded, version: version, context: context("other one"))
    let present = try await vault.secret(of: made.guarded, context: context("other one"))
    expect(present.textForTesting, equals: "secret")
    try await expect(vault.auditEntries().filter { $0.operation == .itemRead }.count, equals: 3)
    try await expect(vault.verify().problems, equals: [])
  }
}
