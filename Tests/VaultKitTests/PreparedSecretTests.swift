import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Verified to fail when the row, the `config` or the session is not compared, and when the gate is not asked a second time.
@Suite("Secrets that are opened before their transaction", .bounded, .requirement("Q7"))
struct PreparedSecretTests {
  private let place = TemporaryVault()

  @Test("what was opened before is what is used, where nothing has changed")
  func same() throws {
    let (core, id) = try filled()
    try expect(use(core, id) {}, equals: "first")
    // A change of another item does not matter.
    try expect(
      use(core, id) { _ = try place.openCore().add(NewItem(.genericPassword, name: "x")) }, equals: "first")
  }

  @Test("another process's new secret, new rule or new keys in between are followed")
  func changed() throws {
    let (core, id) = try filled()
    try expect(
      use(core, id) {
        try place.openCore().update(id, ItemChanges(), secret: SecretBytes(testing: "second"))
      }, equals: "second")
    try expect(use(core, id) { try place.openCore().rotateDeviceKey() }, equals: "second")
    try expect(use(core, id) { try place.openCore().rotateEpoch() }, equals: "second")
    expect(.itemNotFound) { () throws(VaultError) in
      _ = try use(core, id) { _ = try place.openCore().delete(Query(id: id)) }
    }
  }

  @Test("a lock in between shuts what was opened before")
  func locked() throws {
    let (core, id) = try filled(passcode: "1234")
    try expect(use(core, id) {}, equals: "first")
    expect(.locked) { () throws(VaultError) in _ = try use(core, id) { core.lock() } }
    try core.unlock(with: Passcode(testing: "1234"))
    try expect(
      use(core, id) {
        core.lock()
        try core.unlock(with: Passcode(testing: "1234"))
      }, equals: "first")
  }

  @Test("an item that expires in between is not used")
  func expired() throws {
    let clock = FixedClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    let core = try place.makeCore()
    let item = try core.add(
      NewItem(
        ItemKind(rawValue: 0x8001), name: "n",
        expires: Instant(milliseconds: clock.now().milliseconds + 10_000)),
      secret: SecretBytes(testing: "first"))
    expect(.expired) { () throws(VaultError) in
      _ = try use(core, item.id) { clock.advance(by: .seconds(11)) }
    }
  }

  @Test("the secret of an item with constraints is opened inside the transaction alone")
  func constrained() throws {
    let core = try place.makeCore(passcode: "1234")
    let item = try core.add(
      NewItem(.genericPassword, name: "n", access: AccessControl(.devicePasscode as Constraints)),
      secret: SecretBytes(testing: "first"))
    var isPrepared = true
    try core.reading { transaction throws(VaultError) in
      let prepared = try transaction.prepareSecret(of: transaction.item(item.id), by: nil)
      isPrepared = prepared != nil
    }
    #expect(!isPrepared)
    expect(.verificationNeeded) { () throws(VaultError) in _ = try use(core, item.id) {} }
  }

  private func filled(passcode: String? = nil) throws -> (VaultCore, ItemID) {
    let core = try place.makeCore(passcode: passcode)
    let item = try core.add(NewItem(.genericPassword, name: "n"), secret: SecretBytes(testing: "first"))
    return (core, item.id)
  }

  /// Prepares a secret, lets something happen, and uses it.
  private func use(
    _ core: VaultCore, _ id: ItemID, _ between: () throws -> Void
  ) throws(VaultError) -> String? {
    var prepared: PreparedSecret?
    try core.reading { transaction throws(VaultError) in
      prepared = try transaction.prepareSecret(of: transaction.item(id), by: nil)
    }
    do { try between() } catch { Issue.record("\(error)") }
    return try core.writing { transaction throws(VaultError) in
      let item = try transaction.item(id, of: prepared)
      let secret = try transaction.useSecret(of: item, by: nil, prepared: prepared.take())
      return String(decoding: secret.bytesForTesting, as: UTF8.self)
    }
  }
}
