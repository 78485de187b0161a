import AuthenticatorKit
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// An unlock with a new secret replaces the key that credentials behind the PIN are sealed under. One that is stored at the same
/// moment must not end behind the old key, which nothing opens.
@Suite("A PIN whose key is replaced meanwhile", .bounded)
struct ReplacedPINTests {
  /// Verified to fail when the others are looked for only before the prompt.
  @Test("a credential that is stored behind a PIN while it gets a new secret is not lost")
  func enrolledMeanwhile() throws {
    let (scene, id, pin) = try Self.startedUnlock()
    let other = try scene.rig.place.openCore()
    let shop = Mutex<ItemID?>(nil)
    scene.rig.derivations.reset { _ in
      guard shop.withLock({ $0 == nil }) else { return }
      shop.withLock { $0 = id }
      do {
        let uri = try scene.rig.uri(Array("12345678901234567890".utf8))
        let added = try other.addOTP(uri, named: "shop", pin: pin, context: scene.rig.context("8306")).item.id
        shop.withLock { $0 = added }
      } catch { Issue.record("storing failed: \(error)") }
    }
    expect(.policy) { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.context(new: "5207")) }
    scene.rig.derivations.reset()
    let second = try #require(shop.withLock { $0 })
    #expect(second != id)
    _ = try scene.code(of: second, "8306")
  }

  /// Verified to fail when the commit does not look at the PIN item again: the credential never opens then.
  @Test("a credential is not stored behind a key that was replaced while its password was derived")
  func replacedMeanwhile() throws {
    let (scene, id, pin) = try Self.startedUnlock()
    let other = try scene.rig.place.openCore()
    let context = try scene.rig.context("8306")
    context.provide(try ApplicationPassword(testing: "application"))
    let count = Atomic(0)
    let (server, rig) = (scene.server, scene.rig)
    rig.derivations.reset { _ in
      // The first is the PIN's, the second that of the application password.
      guard count.add(1, ordering: .relaxed).newValue == 2 else { return }
      #expect(throws: Never.self) {
        try other.finishUnlock(
          of: id, code: SharedSecret(SecretBytes(testing: "third")), over: server,
          context: rig.context(new: "5207"))
      }
    }
    let uri = try rig.uri(Array("12345678901234567890".utf8))
    expect(.busy) { () throws(VaultError) in
      _ = try scene.core.addOTP(
        uri, named: "shop", access: AccessControl(.applicationPassword), pin: pin, context: context)
    }
    rig.derivations.reset()
    #expect(try scene.core.items(matching: Query(.otp)).count == 1)
  }

  /// The attack succeeded: no PIN gave the codes of the second credential. Verified to fail when `prepare` looks at the data of
  /// the PIN item alone.
  @Test("no secret is masked under a PIN that was changed while it was typed", arguments: [false, true])
  func changedMeanwhile(isConfirmed: Bool) throws {
    let rig = try PINRig()
    let pin = try rig.camouflaged()
    let first = try rig.masked(behind: pin, named: "first")
    let other = try rig.place.openCore()
    rig.derivations.reset { number in
      guard number == 1 else { return }
      #expect(throws: Never.self) {
        try other.changePIN(pin, context: rig.context("8306", new: "274951"))
        if isConfirmed {
          _ = try other.nextHOTPCode(of: first, context: rig.context("274951"))
          try other.confirmPIN(pin)
        }
      }
    }
    let uri = try rig.uri(PINRig.rawKey)
    // The person has just changed the PIN in another window, and types the new one here.
    expect(.busy) { () throws(VaultError) in
      _ = try rig.core.addOTP(uri, named: "second", pin: pin, context: rig.context("274951"))
    }
    rig.derivations.reset()
    try expect(rig.core.items(matching: Query(.otp)).map(\.id), equals: [first])
  }

  /// A blocked credential whose unlock has begun, at a server that answers with a new secret.
  private static func startedUnlock() throws -> (ActivationScene, credential: ItemID, pin: ItemID) {
    let scene = try ActivationScene()
    let (id, pin) = try scene.activated()
    try scene.core.write { try $0.changeState(of: id) { $0.set(CredentialState.blocked) } }
    scene.server.change {
      $0.unlock["pinMode"] = .number(2)
      $0.unlocked = [
        "credential": .fields(ActivationServer.credential(key: [UInt8](repeating: 0xC1, count: 24)))
      ]
    }
    try scene.core.startUnlock(of: id, over: scene.server)
    return (scene, id, pin)
  }
}
