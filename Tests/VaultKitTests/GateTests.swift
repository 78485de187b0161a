import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Which kind permits what to whom: the table of the format, section 6.
///
/// Verified to fail when `Gate.decide` does not look at the kind, when `Gate.rule` does not, when a key counts as
/// exportable, when an unknown kind counts as a password, and when a right to one kind serves for another.
@Suite("What the kind of an item permits", .bounded)
struct GateTests {
  /// An item of the table.
  struct Subject: CustomTestStringConvertible, Sendable {
    let kind: ItemKind
    var isExportable = true
    /// Who may have its secret: everybody, its component, or nobody in this version.
    let owner: Owner

    enum Owner { case everybody, component, laterVersion }

    var testDescription: String { "kind \(kind.rawValue)\(isExportable ? "" : ", not exportable")" }

    static let all: [Subject] =
      [1, 2, 4, 0x8000, 0xBFFF].map { Subject(kind: ItemKind(rawValue: $0), owner: .everybody) }
      + (16...25).map { Subject(kind: ItemKind(rawValue: $0), owner: .component) }
      + [5, 15, 26, 63, 777, 0x7FFF, 0xC000].map {
        Subject(kind: ItemKind(rawValue: $0), owner: .laterVersion)
      }
      + [
        Subject(kind: .key, owner: .everybody), Subject(kind: .key, isExportable: false, owner: .component),
      ]

    var new: NewItem {
      var new = NewItem(kind)
      if kind.hasName { new.attributes[.name] = "n" }
      new.attributes[.account] = "a"
      new.isExportable = isExportable
      return new
    }

    /// What everyone but the component gets.
    var refusal: VaultError.Code? {
      switch owner {
      case .everybody: nil
      case .component: .policy
      case .laterVersion: .unsupported
      }
    }
  }

  @Test("the secret is for everybody, or for the component of the kind alone", arguments: Subject.all)
  func table(subject: Subject) async throws {
    let core = try TemporaryVault().makeCore()
    let id = try core.add(subject.new, secret: SecretBytes(testing: "s"), by: Component(subject.kind)).id
    let stranger = Component(subject.kind == .otp ? .pin : .otp)
    let operations: [(String, (Component?) throws(VaultError) -> Void)] = [
      ("read", { (by) throws(VaultError) in _ = try core.secret(of: id, by: by) }),
      ("use", { (by) throws(VaultError) in try Self.use(id, of: core, by: by) }),
      ("export", { (by) throws(VaultError) in try Self.export(id, of: core, by: by) }),
      (
        "replace",
        { (by) throws(VaultError) in
          _ = try core.update(id, ItemChanges(), secret: SecretBytes(testing: "t"), by: by)
        }
      ),
    ]
    for (name, operation) in operations {
      for by in [nil, stranger] {
        let code = thrown { () throws(VaultError) in try operation(by) }?.code
        expect(code, equals: subject.refusal, "\(name)")
      }
      #expect(thrown { () throws(VaultError) in try operation(Component(subject.kind)) } == nil, "\(name)")
    }
    try expect(core.verify().problems, equals: [])
  }

  @Test("an item is added by everybody, or by the component of the kind alone", arguments: Subject.all)
  func adding(subject: Subject) throws {
    let core = try TemporaryVault().makeCore()
    for secret in [true, false] {
      for by in [nil, Component(subject.kind == .otp ? .pin : .otp)] {
        let code = thrown { () throws(VaultError) in
          let item = try core.add(
            subject.new, secret: secret ? SecretBytes(testing: "s") : nil, by: by)
          try core.delete(item.id)
        }?.code
        expect(code, equals: subject.refusal)
      }
    }
    #expect(try core.items(matching: Query()).isEmpty)
  }

  /// The public calls, each of which could be a way around the gate.
  @Test(
    "no public call reads, adds or replaces the secret of a component",
    arguments: Subject.all.filter { $0.owner != .everybody })
  func publicCalls(subject: Subject) async throws {
    let core = try TemporaryVault().makeCore()
    let id = try core.add(subject.new, secret: SecretBytes(testing: "s"), by: Component(subject.kind)).id
    let vault = Vault(core: core)
    let context = AuthenticationContext(reason: "a test", interaction: .notAllowed)
    let refusal = try #require(subject.refusal)
    await expect(refusal, awaiting: { _ = try await vault.secret(of: id) })
    await expect(refusal, awaiting: { _ = try await vault.withSecret(of: id) { $0.byteCount } })
    await expect(refusal, awaiting: { try await vault.prepareSecrets(of: [id], context: context) })
    await expect(
      refusal,
      awaiting: { _ = try await vault.read { transaction in try transaction.secret(of: id).byteCount } })
    await expect(
      refusal,
      awaiting: { _ = try await vault.write { transaction in try transaction.secret(of: id).byteCount } })
    await expect(
      refusal, awaiting: { _ = try await vault.update(id, ItemChanges(), secret: SecretBytes(testing: "t")) })
    let new = subject.new
    await expect(refusal, awaiting: { _ = try await vault.add(new, secret: SecretBytes(testing: "t")) })
    await expect(
      refusal, awaiting: { _ = try await vault.addOrReplace(new, secret: SecretBytes(testing: "t")) })
    await expect(
      refusal,
      awaiting: { _ = try await vault.write { transaction in try transaction.add(new, secret: nil).id } })
    try expect(core.secret(of: id, by: Component(subject.kind)).bytesForTesting, equals: Array("s".utf8))
  }

  /// Verified to fail when the kind is looked at after the class key.
  @Test("the refusal comes before every question, and names what helps")
  func order() throws {
    let place = TemporaryVault()
    var ids: [ItemID] = []
    do {
      let core = try place.makeCore(passcode: "passcode")
      for access in [AccessControl(), try AccessControl(.devicePasscode)] {
        let new = NewItem(.pin, name: "pin \(ids.count)", access: access)
        ids.append(try core.add(new, secret: SecretBytes(testing: "s"), by: Component(.pin)).id)
      }
    }
    let locked = try place.openCore()
    let prompt = ScriptedPrompt([.text("passcode")])
    let context = AuthenticationContext(reason: "a test", prompt: prompt)
    for id in ids {
      let error = thrown { () throws(VaultError) in _ = try locked.secret(of: id, context: context) }
      #expect(error?.code == .policy && error?.advice == .usePIN)
      #expect(prompt.requests.isEmpty && !locked.isUnlocked)
    }
    let hints: [(ItemKind, Hint)] = [(.otp, .useCredential), (.biokey, .manageBiokeys)]
    for (kind, action) in hints {
      try locked.unlock(with: Passcode(testing: "passcode"))
      let id = try locked.add(NewItem(kind, name: "\(kind)"), by: Component(kind)).id
      let error = thrown { () throws(VaultError) in _ = try locked.secret(of: id) }
      expect(error?.advice, equals: action)
    }
  }

  private static func use(_ id: ItemID, of core: VaultCore, by component: Component?) throws(VaultError) {
    try core.reading { transaction throws(VaultError) in
      _ = try transaction.useSecret(of: transaction.item(id), by: component)
    }
  }

  private static func export(_ id: ItemID, of core: VaultCore, by component: Component?) throws(VaultError) {
    try core.writing { transaction throws(VaultError) in
      _ = try transaction.exportSecret(of: transaction.item(id), by: component)
    }
  }
}
