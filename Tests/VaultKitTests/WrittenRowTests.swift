import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// Verified to fail when `replace` does not take an old secret out of S, does not count a new state, leaves a value of the index
/// uncounted, and keeps the number of items where one goes.
@Suite("Rows that are written", .bounded)
struct WrittenRowTests {
  private let place = TemporaryVault()
  private static let lease = ItemKind(rawValue: 0x8007)

  private func secret(_ text: String) -> SecretBytes { SecretBytes(testing: text) }

  private func named(_ name: String, account: String = "anna") -> NewItem {
    var new = NewItem(.internetPassword, name: name)
    new.attributes[.account] = account
    new.attributes[.server] = "example.org"
    return new
  }

  /// Makes a change, and compares S, the counts and the index with the rows of the file.
  private func change(
    _ what: String, in core: VaultCore, _ body: (inout WriteTransaction) throws -> Void
  ) throws {
    var transaction = try core.beginWriting()
    try body(&transaction)
    try transaction.commit()
    #expect(try core.verify().problems == [], "\(what)")
  }

  @Test("whatever is done to an item, S, counts and index are those of the rows")
  func passwords() throws {
    let core = try place.makeCore()
    try change("add", in: core) { _ = try $0.add(named("a"), secret: secret("1")) }
    try change("add without secret", in: core) { _ = try $0.add(named("b")) }
    let (a, b) = (try core.item(named: "a").id, try core.item(named: "b").id)
    var changes = ItemChanges(expires: .some(place.environment.clock.now().advanced(byMilliseconds: 9_000)))
    try change("expiry", in: core) { try $0.update(a, changes) }
    changes = ItemChanges()
    (changes.attributes[.account], changes.removed) = ("berta", [Attribute<String>.server.code])
    try change("index", in: core) { try $0.update(a, changes) }
    try change("new secret", in: core) { try $0.update(a, ItemChanges(), secret: secret("2")) }
    try change("first secret", in: core) { try $0.update(b, ItemChanges(), secret: secret("3")) }
    changes = ItemChanges()
    changes.expiry = .refuse
    try change("rule", in: core) { try $0.update(b, changes) }
    try change("replace", in: core) { try $0.addOrReplace(named("b", account: "carla"), secret: secret("4")) }
    try change("refused", in: core) { transaction in
      expect(.duplicateItem) { () throws(VaultError) in
        _ = try transaction.add(named("a"), secret: secret("5"))
      }
      _ = try transaction.add(named("c"), secret: secret("6"))
    }
    try expect(core.secret(of: b).bytesForTesting, equals: Array("4".utf8))
    for id in [a, b] { try change("delete", in: core) { try $0.delete(id) } }
    try expect(core.items(matching: Query()).map(\.name), equals: ["c"])
  }

  @Test("and so are they for what components do, and for states")
  func components() throws {
    let core = try place.makeCore()
    var lease = NewItem(Self.lease, name: "lease")
    lease.state.counter = 3
    let bare = try core.add(NewItem(Self.lease, name: "bare")).id
    try change("add a state", in: core) { _ = try $0.add(lease) }
    let id = try core.item(named: "lease").id
    try change("a state", in: core) { try $0.updateState(of: id) { $0.counter += 1 } }
    let token = try core.add(
      NewItem(.cardToken, name: "t"), secret: secret("7"), by: Component(.cardToken))
    try change("an end", in: core) { try $0.end(token, logging: .tokenEnded, detail: nil) }
    #expect(try !core.item(named: "t").hasSecret)
    var request = NewItem(.transaction)
    (request.attributes[.account], request.attributes[.label]) = ("x", "1")
    let standing = try core.add(request, secret: secret("8"), by: Component(.transaction)).id
    let deadline = Deadline(milliseconds: 5, boot: Bytes16(high: 1, low: 2))
    try change("a standing", in: core) {
      try $0.setStanding(TransactionStanding(.pending, until: deadline), of: standing)
    }
    for id in [id, bare, token.id, standing] { try change("destroy", in: core) { try $0.destroy(id) } }
  }
}
