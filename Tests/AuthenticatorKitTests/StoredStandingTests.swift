import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultStorage
import VaultTestKit

/// What became of a transaction is in its attributes (docs/decisions/0037).
@Suite("The stored standing of transactions", .bounded)
struct StoredStandingTests {
  private static let bytes = Attribute<[UInt8]>(code: 92)

  /// The wall clock alone could have it decided again otherwise. Verified to fail when the end stores another deadline.
  @Test("an end keeps the deadline", .requirement("B6", "A19"), arguments: [nil, TransactionState.rejected])
  func keepsDeadline(declined: TransactionState?) throws {
    let scene = try TransactionScene()
    let ids = [try scene.pushed(), try scene.another()]
    let deadlines = try ids.map { try #require(try scene.deadline(of: $0)) }
    if let declined {
      _ = try scene.core.declineTransaction(
        ids[0], as: declined, over: scene.server, context: scene.context())
    } else {
      _ = try scene.accept(ids[0], scene.context(pin: "8306"))
    }
    scene.clock.advance(by: .seconds(71))
    try expect(
      scene.core.transactions().map(\.status), equals: [declined == nil ? .accepted : .rejected, .timedOut])
    try expect(scene.logged(.transactionTimedOut), equals: 1)
    try expect(ids.map { try scene.deadline(of: $0) }, equals: deadlines)
  }

  /// Verified to fail when attribute 92 is one that people may change.
  @Test("only the component changes it", .requirement("A19", "B6"))
  func onlyComponent() throws {
    let scene = try TransactionScene()
    let id = try scene.pushed()
    _ = try scene.core.declineTransaction(id, as: .rejected, over: scene.server, context: scene.context())
    var (replaced, text, removed) = (ItemChanges(), ItemChanges(), ItemChanges())
    replaced.attributes[Self.bytes] = [UInt8](repeating: 0, count: 25)
    text.attributes[Attribute<String>(code: 92)] = "x"
    removed.removed = [92]
    for changes in [replaced, text, removed] {
      expect(.policy) { () throws(VaultError) in try scene.core.update(id, changes) }
    }
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.add(NewItem(.transaction, attributes: replaced.attributes))
    }
    var comment = ItemChanges()
    comment.attributes[.comment] = "mine"
    try scene.core.update(id, comment)
    try expect(scene.status(id), equals: .rejected)
  }

  enum Form: CaseIterable { case unknownState, longer, short, absent }

  /// Verified to fail when a state that is not known counts as pending, and when a transaction without a standing stays for good.
  @Test(
    "one that is not understood is neither listed nor answered, and gone in the end", arguments: Form.allCases
  )
  func notUnderstood(form: Form) throws {
    let scene = try TransactionScene()
    let (id, other, forgotten) = (try scene.pushed(), try scene.another(), try scene.another())
    for id in [id, forgotten] { try scene.write(form, to: id) }
    try expect(scene.core.transactions().map(\.id), equals: [other])
    let attempts: [() throws -> Void] = [
      { _ = try scene.core.transactionDetails(of: id) },
      { _ = try scene.accept(id, scene.context(pin: "8306")) },
      {
        _ = try scene.core.declineTransaction(
          id, as: .rejected, over: scene.server, context: scene.context())
      },
    ]
    for attempt in attempts {
      let error = #expect(throws: VaultError.self) { try attempt() }
      expect(error?.code, equals: .unsupported)
    }
    try expect(scene.uses(), equals: [5, 0, 10, 5])
    // Its time is over: if the server offers it again, it is stored as a new one.
    try scene.core.pass(.seconds(2 * 3600), on: scene.clock)
    scene.clock.advance(by: .seconds(23 * 3600 + 71))
    #expect(try #require(try scene.receive()).id != id)
    try scene.core.pass(.seconds(3 * 24 * 3600), on: scene.clock)
    #expect(try scene.place.openCore().items(matching: Query(.transaction)).isEmpty)
  }

  /// Verified to fail when the purge reads attribute 92 of every kind.
  @Test("an attribute of that number keeps no item of another kind")
  func otherKind() throws {
    let scene = try TransactionScene()
    var attributes = Attributes()
    attributes[Self.bytes] = [0] + [UInt8](repeating: 255, count: 8) + scene.clock.bootID()!
    let soon = Instant(seconds: scene.clock.now().seconds + 10)
    _ = try scene.core.add(NewItem(ItemKind(rawValue: 0x8001), attributes: attributes, expires: soon))
    try scene.core.pass(.seconds(3 * 24 * 3600), on: scene.clock)
    #expect(try scene.place.openCore().items(matching: Query(ItemKind(rawValue: 0x8001))).isEmpty)
  }

  /// Verified to fail when an end moves the item to the new generation, for which its key has to open.
  @Test("a locked vault stores an end while a rotation is under way", .requirement("B6", "A19"))
  func rotating() throws {
    let scene = try TransactionScene()
    let (rejected, lapsed) = (try scene.pushed(), try scene.another())
    try scene.core.beginRotation(passcode: Passcode(testing: "passcode"))
    let locked = try scene.place.openCore()
    let (context, prompt) = scene.asking()
    let before = try locked.items(matching: Query(id: rejected)).first?.generation
    _ = try locked.declineTransaction(rejected, as: .rejected, over: scene.server, context: context)
    try expect(locked.items(matching: Query(id: rejected)).first?.generation, equals: before)
    scene.clock.advance(by: .seconds(71))
    try expect(locked.transactions().map(\.status), equals: [.rejected, .timedOut])
    try expect(locked.auditEntries().count { $0.operation == .transactionTimedOut }, equals: 1)
    #expect(prompt.requests.isEmpty && !locked.isUnlocked && scene.server.answers.count == 1)
    try expect(locked.verify().problems, equals: [])
    try locked.rotateEpoch(passcode: Passcode(testing: "passcode"))
    try expect(locked.transactions().map(\.status), equals: [.rejected, .timedOut])
    #expect(try locked.items(matching: Query(id: lapsed)).first?.generation != before)
    try expect(locked.verify().problems, equals: [])
  }

  /// Verified to fail when an end needs the key of the secret.
  @Test(
    "one whose key is damaged can be rejected, also while a rotation is under way", arguments: [false, true])
  func damagedKey(isRotating: Bool) throws {
    let scene = try TransactionScene()
    let (damaged, other) = (try scene.pushed(), try scene.another())
    let row = try #require(try scene.core.items(matching: Query(id: damaged)).first).row
    if isRotating { try scene.core.beginRotation(passcode: Passcode(testing: "passcode")) }
    try scene.place.damageKeys(inRow: row)
    let core = try scene.place.openCore()
    try core.unlock(with: Passcode(testing: "passcode"))
    _ = try core.declineTransaction(damaged, as: .rejected, over: scene.server, context: scene.context())
    scene.clock.advance(by: .seconds(71))
    try expect(core.transactions().map(\.id), equals: [damaged, other])
    try expect(core.auditEntries().count { $0.operation == .transactionTimedOut }, equals: 1)
  }
}

extension TemporaryVault {
  /// Damages the data key of an item, but not its tag, so that the sum over the rows is right.
  func damageKeys(inRow row: Int64) throws {
    var store = try Store.open(at: path, access: .readWrite)
    try store.write { store throws(StorageError) in
      guard var material = try store.material(row: row) else { return }
      material.keys[material.keys.count - 20] ^= 1
      try store.setMaterial(material, row: row)
    }
  }
}

extension TransactionScene {
  /// Another one that waits here.
  fileprivate func another() throws -> ItemID { try receive(PushPayload(alias: server.push()))!.id }

  fileprivate func write(_ form: StoredStandingTests.Form, to id: ItemID) throws {
    let code = Attribute<[UInt8]>(code: 92)
    let bytes = try core.items(matching: Query(id: id)).first?.attributes[code] ?? []
    var changes = ItemChanges()
    switch form {
    case .unknownState: changes.attributes[code] = [9] + bytes.dropFirst()
    case .longer: changes.attributes[code] = bytes + [0]
    case .short: changes.attributes[code] = Array(bytes.dropLast())
    case .absent: changes.removed = [92]
    }
    _ = try core.writing { transaction throws(VaultError) in
      try transaction.update(id, changes, secret: nil, by: .transaction)
    }
  }
}
