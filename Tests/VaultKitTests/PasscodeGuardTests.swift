import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What a passcode guards besides secrets (docs/security/invariants.md).
@Suite("What a passcode guards besides secrets", .bounded, .requirement("R24"))
struct PasscodeGuardTests {
  /// What is done to an item without its secret.
  private enum Change: CaseIterable {
    case deletion, deletionByQuery, name, service, account, own, expiry, noService, label, comment,
      description

    /// Label, comment and description are remarks for people.
    var isRemark: Bool { [.label, .comment, .description].contains(self) }

    func make(_ id: ItemID, in core: VaultCore, _ text: String) throws(VaultError) {
      var changes = ItemChanges()
      switch self {
      case .deletion: return try core.delete(id)
      case .deletionByQuery: return _ = try core.delete(Query(id: id))
      case .name: changes.attributes[.name] = text
      case .service: changes.attributes[.service] = text
      case .account: changes.attributes[.account] = text
      case .own: changes.attributes[Attribute<String>(code: 0x8001)] = text
      case .expiry: changes.expires = .some(core.environment.clock.now().advanced(byMilliseconds: 9_000))
      case .noService: changes.removed = [Attribute<String>.service.code]
      case .label: changes.attributes[.label] = text
      case .comment: changes.attributes[.comment] = text
      case .description: changes.attributes[.itemDescription] = text
      }
      try core.update(id, changes)
    }
  }

  /// Changes at random of items of every class, in a locked vault, in one that is not locked, and in one without a passcode: each
  /// is made or refused as the rule says, and one that is refused leaves the item as it was.
  ///
  /// Verified to fail when a deletion does not ask the gate, when the expiry counts as a remark, and when items of after first
  /// unlock are not excepted.
  @Test("in a locked vault only items of after first unlock, and remarks, are changed", arguments: 0..<3)
  func model(state: Int) throws {
    let random = SeededRandom(seed: SeededGenerator.seedOfRun)
    let (hasPasscode, isLocked) = (state > 0, state > 1)
    let core = try TemporaryVault().makeCore(passcode: hasPasscode ? "passcode" : nil)
    for number in 0..<80 {
      if hasPasscode { try core.unlock(with: Passcode(testing: "passcode")) }
      let accessibility = Accessibility.allCases[random.below(hasPasscode ? 3 : 2)]
      let access = AccessControl(accessibility, thisDeviceOnly: random.below(2) == 0)
      let hasSecret = random.below(4) > 0
      let item = try core.add(
        NewItem(.genericPassword, name: "item \(number)", access: access),
        secret: hasSecret ? SecretBytes(testing: "secret") : nil)
      if isLocked { core.lock() }
      let change = Change.allCases[random.below(Change.allCases.count)]
      let error = thrown { () throws(VaultError) in try change.make(item.id, in: core, "text \(number)") }
      let isAllowed = !isLocked || change.isRemark || accessibility == .afterFirstUnlock
      #expect(error?.code == (isAllowed ? nil : .locked), "\(change) of \(accessibility)")
      guard !isAllowed else { continue }
      let present = try core.items(.id(item.id))[0]
      #expect(present.attributes == item.attributes && present.expires == item.expires)
    }
    try expect(core.verify().problems, equals: [])
  }

  @Test("a locked vault removes no member with whom an item that it does not delete is lost")
  func members() throws {
    for accessibility in Accessibility.allCases {
      let core = try TemporaryVault().makeCore(passcode: "passcode")
      _ = try core.enroll(
        BiometricPhrase(testing: "phrase"), named: "voice", passcode: Passcode(testing: "passcode"))
      let item = try core.add(
        NewItem(
          .genericPassword, name: "item",
          access: AccessControl(.biometryCurrentSet, accessibility: accessibility)),
        secret: SecretBytes(testing: "secret"))
      core.lock()
      let isAllowed = accessibility == .afterFirstUnlock
      let error = thrown { () throws(VaultError) in try core.removeMember(named: "voice") }
      expect(error?.code, equals: isAllowed ? nil : .locked)
      try expect(core.isBeyondReach(core.item(named: "item")), equals: isAllowed)
      try core.unlock(with: Passcode(testing: "passcode"))
      if !isAllowed { try core.removeMember(named: "voice") }
      #expect(try core.isBeyondReach(core.items(.id(item.id))[0]) && core.enrolledMembers().isEmpty)
    }
  }

  /// Verified to fail when a deletion does not ask the gate.
  @Test("an item that does not open is deleted by the unlocked vault alone")
  func damaged() throws {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: "passcode")
    let item = try core.add(
      NewItem(.genericPassword, name: "item", access: AccessControl(.afterFirstUnlock)),
      secret: SecretBytes(testing: "secret"))
    try RawSQLite.run("UPDATE item SET meta = zeroblob(64)", on: place.path)
    let opened = try VaultCore.open(
      at: place.path, protector: place.protector, checkingRows: false, environment: place.environment)
    expect(.locked) { () throws(VaultError) in try opened.delete(item.id) }
    try opened.unlock(with: Passcode(testing: "passcode"))
    try opened.delete(item.id)
    try expect(opened.status().itemCount, equals: 0)
  }

  /// Verified to fail when the look before the derivation and the one in the transaction are both left out.
  @Test("a backup needs the unlocked vault, and costs no derivation without it")
  func backup() throws {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.add(
      NewItem(.genericPassword, name: "item", access: AccessControl(.afterFirstUnlock)),
      secret: SecretBytes(testing: "secret"))
    core.lock()
    let path = place.folder + "/data/b.vault"
    expect(.locked) { () throws(VaultError) in
      _ = try core.backUp(to: path, passphrase: Passcode(testing: "long phrase"))
    }
    try core.unlock(with: Passcode(testing: "passcode"))
    try expect(core.backUp(to: path, passphrase: Passcode(testing: "long phrase")).items, equals: 1)
  }
}
