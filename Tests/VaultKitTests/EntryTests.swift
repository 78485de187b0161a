import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Entries in a vault: what a change does not name stays, and one name finds all of it.
///
/// Verified to fail when a new password replaces the whole record, when the flag of an entry is not set, and when the host of the
/// first address is not kept.
@Suite("Entries", .bounded)
struct EntryTests {
  private let place = TemporaryVault()

  /// An entry with a password, notes, two fields and an address.
  static func content() throws(VaultError) -> EntryContent {
    var entry = EntryContent(password: SecretBytes(testing: "one"))
    try entry.setNotes(SecretBytes(testing: "first\nsecond"))
    try entry.setField("customer", to: SecretBytes(testing: "4711"), isHidden: false)
    try entry.setField("PIN of card", to: SecretBytes(testing: "1234"))
    try entry.addAddress(SecretBytes(testing: "https://shop.example/login"))
    return entry
  }

  static func shown(_ entry: EntryContent) -> [String] {
    [
      (entry.password ?? SecretBytes(testing: "-")).textForTesting,
      (entry.notes ?? SecretBytes(testing: "-")).textForTesting,
    ]
      + entry.fields.map { "\($0.name)=\($0.value.textForTesting)" }
      + (0..<entry.addressCount).map { entry.address($0).textForTesting }
  }

  private let all = [
    "one", "first\nsecond", "customer=4711", "PIN of card=1234", "https://shop.example/login",
  ]

  @Test("what is stored is read, and its password is its secret")
  func reading() throws {
    let core = try place.makeCore()
    let item = try core.add(NewItem(.genericPassword, name: "shop"), entry: Self.content())
    #expect(item.isEntry && item.attributes[.server] == "shop.example")
    let again = try place.openCore()
    try expect(Self.shown(again.entry(of: item.id)), equals: all)
    try expect(again.secret(of: item.id).textForTesting, equals: "one")
    var query = Query(.genericPassword)
    query.attributes[.server] = "shop.example"
    try expect(again.items(matching: query).map(\.id), equals: [item.id])
    try core.update(item.id) { (entry) throws(VaultError) in
      entry.removeAddresses()
      try entry.addAddress(SecretBytes(testing: "https://other.example"))
    }
    try expect(core.item(named: "shop").attributes[.server], equals: "other.example")
    try expect(again.items(matching: query).map(\.id), equals: [])
    try expect(again.verify().problems, equals: [])
  }

  @Test("a new password leaves everything else as it is")
  func newPassword() throws {
    let core = try place.makeCore()
    let id = try core.add(NewItem(.genericPassword, name: "shop"), entry: Self.content()).id
    try core.update(id, ItemChanges(), secret: SecretBytes(testing: "two"))
    try expect(Self.shown(core.entry(of: id)), equals: ["two"] + all.dropFirst())
    var changes = ItemChanges()
    changes.audit = .all
    changes.expiry = .refuse
    try core.update(id, changes)
    try expect(Self.shown(core.entry(of: id)), equals: ["two"] + all.dropFirst())
    let new = NewItem(.genericPassword, name: "shop", audit: .all)
    var rule = new
    rule.expiry = .refuse
    _ = try core.write { try $0.addOrReplace(rule, secret: SecretBytes(testing: "three")) }
    try expect(Self.shown(core.entry(of: id)), equals: ["three"] + all.dropFirst())
    try expect(core.verify().problems, equals: [])
  }

  @Test("a password becomes an entry, and an entry may have no password")
  func becoming() throws {
    let core = try place.makeCore()
    let id = try core.add(NewItem(.internetPassword, name: "a"), secret: SecretBytes(testing: "p")).id
    try core.update(id) { (entry) throws(VaultError) in entry.setPassword(SecretBytes(testing: "q")) }
    try #expect(!core.item(named: "a").isEntry)
    try core.update(id) { (entry) throws(VaultError) in
      try entry.setNotes(SecretBytes(testing: "n"))
      entry.setPassword(nil)
    }
    try #expect(core.item(named: "a").isEntry)
    try expect(Self.shown(core.entry(of: id)), equals: ["-", "n"])
    let error = thrown { () throws(VaultError) in _ = try core.secret(of: id) }
    #expect(error?.code == .itemNotFound && error?.message.contains("no password") == true)
    let without = try core.add(NewItem(.genericPassword, name: "b"), entry: EntryContent())
    try core.update(without.id, ItemChanges(), secret: SecretBytes(testing: "s"))
    try expect(core.secret(of: without.id).textForTesting, equals: "s")
    try expect(core.verify().problems, equals: [])
  }

  @Test("a change that fails leaves the entry as it was")
  func failing() throws {
    let core = try place.makeCore()
    let id = try core.add(NewItem(.genericPassword, name: "shop"), entry: Self.content()).id
    let error = thrown { () throws(VaultError) in
      try core.update(id) { (entry) throws(VaultError) in
        entry.setPassword(nil)
        try entry.setField("a=b", to: SecretBytes(testing: "x"))
      }
    }
    #expect(error?.code == .malformed)
    try expect(Self.shown(core.entry(of: id)), equals: all)
    try expect(core.history(of: id), equals: [])
  }

  @Test("other kinds have no notes", arguments: [ItemKind.key, .certificate, .otp, .pin, .cardToken])
  func kinds(kind: ItemKind) throws {
    let core = try place.makeCore()
    let error = thrown { () throws(VaultError) in
      _ = try core.add(NewItem(kind, name: "n"), entry: EntryTests.content())
    }
    #expect(error?.code == .policy)
    let id = try core.add(NewItem(kind, name: "n"), secret: SecretBytes(testing: "s"), by: Component(kind)).id
    expect(.policy) { () throws(VaultError) in
      try core.update(id) { (entry) throws(VaultError) in try entry.setNotes(SecretBytes(testing: "n")) }
    }
    expect(.policy) { () throws(VaultError) in _ = try core.entry(of: id) }
  }

  @Test("entries go with a backup and with new keys")
  func copies() throws {
    let core = try place.makeCore()
    let id = try core.add(NewItem(.genericPassword, name: "shop"), entry: Self.content()).id
    try core.rotateEpoch()
    try expect(Self.shown(core.entry(of: id)), equals: all)
    let backup = place.folder + "/data/b.vault"
    _ = try core.backUp(to: backup, passphrase: Passcode(testing: "phrase"))
    let other = TemporaryVault()
    let restored = try other.restoreCore(from: backup, passphrase: "phrase")
    defer { withExtendedLifetime(other) {} }
    try expect(Self.shown(restored.entry(of: id)), equals: all)
    try expect(restored.verify().problems, equals: [])
  }

  @Test("an entry with an access rule is read and changed by the person alone")
  func guarded() async throws {
    let made = try await GuardedVault()
    let context = { AuthenticationContext(reason: "", prompt: ScriptedPrompt([.text("passcode")])) }
    try await made.vault.update(made.guarded, context: context()) { (entry) throws(VaultError) in
      try entry.setNotes(SecretBytes(testing: "n"))
    }
    let vault = made.vault
    let refused = await thrown { () async throws(VaultError) in _ = try await vault.entry(of: made.guarded) }
    #expect(refused?.code == .interactionNotAllowed)
    try await expect(Self.shown(vault.entry(of: made.guarded, context: context())), equals: ["secret", "n"])
    try await expect(vault.verify().problems, equals: [])
  }
}

extension SecretBytes {
  /// The bytes as text, for tests only.
  var textForTesting: String { String(decoding: bytesForTesting, as: UTF8.self) }
}

extension TemporaryVault {
  /// The vault of a backup, at the path of this one.
  func restoreCore(from backup: String, passphrase: String) throws -> VaultCore {
    try VaultCore.restore(
      from: backup, passphrase: Passcode(testing: passphrase), to: path, protector: protector,
      environment: environment
    ).core
  }
}
