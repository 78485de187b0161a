import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Deletion and replacement", .bounded, .requirement("L16"))
struct DeletionTests {
  private let place = TemporaryVault()

  private func password(_ text: String) -> SecretBytes { SecretBytes(testing: text) }

  /// Verified to fail when an empty query is taken for all items.
  @Test("an empty query deletes nothing; only Query.all deletes every item")
  func all() async throws {
    let vault = try place.make()
    for name in ["a", "b", "c"] { _ = try await vault.add(NewItem(.genericPassword, name: name)) }
    var limited = Query()
    limited.limit = 1
    var skipping = Query()
    skipping.constrained = .skip
    for query in [Query(), limited, skipping, Query(where: Attributes())] {
      let error = await thrown { () async throws(VaultError) in try await vault.delete(query) }
      #expect(error?.code == .malformed && error?.hint?.contains("Query.all") == true)
    }
    try await expect(vault.items(matching: .all).count, equals: 3)
    try await expect(vault.delete(Query(name: "a")), equals: 1)
    var first = Query.all
    first.limit = 1
    try await expect(vault.delete(first), equals: 1)
    try await expect(vault.items(matching: Query()).map(\.name), equals: ["c"])
    try await expect(vault.delete(.all), equals: 1)
    try await expect(vault.verify().problems, equals: [])
  }

  /// Verified to fail when attributes that the new item lacks stay.
  @Test("a replaced item keeps its identifier and has the attributes and the secret of the new one")
  func replaced() async throws {
    let vault = try place.make()
    var new = NewItem(.genericPassword, name: "mail")
    new.attributes[.comment] = "old"
    new.expires = Instant(milliseconds: 4_000_000_000_000)
    let first = try await vault.addOrReplace(new, secret: password("1"))
    new.attributes = NewItem(.genericPassword, name: "mail").attributes
    new.attributes[.label] = "label"
    new.expires = nil
    new.audit = .all
    let second = try await vault.addOrReplace(new, secret: password("2"))
    #expect(second.id == first.id && second.created == first.created)
    #expect(second.attributes[.comment] == nil && second.attributes[.label] == "label")
    #expect(second.expires == nil && second.audit == .all)
    try await expect(vault.secret(of: first.id).bytesForTesting, equals: Array("2".utf8))
    try await expect(vault.items(matching: .all).count, equals: 1)
    try await expect(vault.verify().problems, equals: [])
  }

  @Test("an item without a name is found by its primary attributes; one with a name, by the name alone")
  func primaryAttributes() async throws {
    let vault = try place.make()
    var new = NewItem(.genericPassword)
    new.attributes[.service] = "imap"
    new.attributes[.account] = "ann"
    let bare = try await vault.addOrReplace(new, secret: password("1"))
    try await expect(vault.addOrReplace(new, secret: password("2")).id, equals: bare.id)
    new.attributes[.name] = "mail"
    let named = try await vault.addOrReplace(new, secret: password("3"))
    new.attributes[.name] = "other mail"
    let other = try await vault.addOrReplace(new, secret: password("4"))
    expect(Set([bare.id, named.id, other.id]).count, equals: 3)
    (new.attributes[.name], new.attributes[.account]) = ("mail", "bob")
    try await expect(vault.addOrReplace(new, secret: password("5")).id, equals: named.id)
    for (item, secret) in [(bare, "2"), (named, "5"), (other, "4")] {
      try await expect(vault.secret(of: item.id).bytesForTesting, equals: Array(secret.utf8))
    }
  }

  /// Verified to fail when an item of the same primary attributes is replaced whatever its name is.
  @Test("an item of another name is never replaced, also where it is the same key or certificate")
  func otherName() async throws {
    let vault = try place.make()
    for kind in [ItemKind.key, .certificate] {
      let first = try await vault.addOrReplace(NewItem(kind, name: "\(kind) a"), secret: password("1"))
      for new in [NewItem(kind, name: "\(kind) b"), NewItem(kind)] {
        await expect(.duplicateItem, awaiting: { try await vault.addOrReplace(new, secret: password("2")) })
      }
      let item = try await vault.item(named: "\(kind) a")
      try await expect(vault.secret(of: item.id).bytesForTesting, equals: Array("1".utf8))
      expect(item.id, equals: first.id)
    }
  }

  /// Verified to fail when the kind of an item with the same name is not compared.
  @Test("what would replace an item of another kind or another access rule is refused")
  func refused() async throws {
    let vault = try place.make(passcode: "1234")
    _ = try await vault.addOrReplace(NewItem(.genericPassword, name: "a"), secret: password("1"))
    _ = try await vault.addOrReplace(NewItem(.genericPassword, name: "b"), secret: password("2"))
    await expect(
      .duplicateItem,
      awaiting: { try await vault.addOrReplace(NewItem(.key, name: "b"), secret: password("3")) })
    let stricter = NewItem(.genericPassword, name: "b", access: try AccessControl(.devicePasscode))
    await expect(.policy, awaiting: { try await vault.addOrReplace(stricter, secret: password("3")) })
    try await expect(vault.items(matching: .all).count, equals: 2)
  }

  @Test("a locked vault and an item with constraints are replaced with a context, and only with one")
  func context() async throws {
    let vault = try place.make(passcode: "1234")
    let item = NewItem(.genericPassword, name: "n", access: try AccessControl(.devicePasscode))
    let plain = NewItem(.genericPassword, name: "plain")
    let added = try await vault.addOrReplace(item, secret: password("1"))
    vault.lock()
    await expect(.locked, awaiting: { try await vault.addOrReplace(plain, secret: password("2")) })
    let prompt = ScriptedPrompt([.text("1234"), .text("1234")])
    let context = AuthenticationContext(reason: "because", prompt: prompt)
    _ = try await vault.addOrReplace(plain, secret: password("2"), context: context)
    await expect(.verificationNeeded, awaiting: { try await vault.addOrReplace(item, secret: password("2")) })
    let replaced = try await vault.addOrReplace(item, secret: password("2"), context: context)
    #expect(replaced.id == added.id && prompt.unused == 0)
  }
}
