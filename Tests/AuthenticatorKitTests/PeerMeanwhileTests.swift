import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What another process changes between the request to a server and the commit of its answer.
@Suite("While a server is asked", .bounded)
struct PeerMeanwhileTests {
  /// Verified to fail when each synchronization subtracts the codes that it told, whatever another one did meanwhile; and, with
  /// the third synchronization, when the time of the last one may be the same again.
  @Test(
    "codes that were made after one of two synchronizations stay counted", .requirement("A9"),
    arguments: [1, 2])
  func synchronizedTwice(others: Int) throws {
    var limits = OfflineLimits()
    limits.codes = 9
    let scene = try PeerScene(.hotp, guarded: false, limits)
    for _ in 0..<5 { try scene.code(nil) }
    let other = try scene.rig.place.openCore()
    let plain = PeerScene.answering(["state": .text("active")])
    let (id, rig) = (scene.id, scene.rig)
    let slow = ScriptedTransport("/opt/peer") { _ throws(VaultError) in
      for _ in 0..<others { _ = try other.synchronize(id, over: plain, context: rig.context()) }
      for _ in 0..<4 { _ = try other.nextHOTPCode(of: id, context: rig.context()) }
      return TransportFields(["state": .text("active")])
    }
    _ = try scene.core.synchronize(id, over: slow, context: rig.context())
    try expect(scene.state.codesSinceSynchronization, equals: 4)
    _ = try scene.core.synchronize(id, over: plain, context: rig.context())
    try expect(scene.state.codesSinceSynchronization, equals: 0)
  }

  /// Verified to fail when the counter is looked at before the file is marked: it asked for the PIN, and failed.
  @Test("the first synchronization in a copied file brings its counter in step", .requirement("A9"))
  func copied() throws {
    let scene = try PeerScene(.hotp)
    let copy = try scene.rig.place.openCopy()
    let peer = PeerScene.answering(["state": .text("active"), "counter": .number(9)])
    _ = try copy.synchronize(scene.id, over: peer, context: scene.rig.context("8306"))
    try expect(copy.state(of: scene.id).counter, equals: 9)
    #expect(peer.requests.first?.fields["code"] == nil)
  }

  /// Verified to fail when the item of before the request is taken over, and when only what the server said is kept.
  @Test("an unlock with a new secret keeps what was said about the credential, also meanwhile")
  func unlocked() throws {
    let scene = try ActivationScene()
    let (id, _) = try scene.activated()
    try scene.core.write { try $0.changeState(of: id) { $0.set(CredentialState.blocked) } }
    let other = try scene.rig.place.openCore()
    var before = ItemChanges()
    before.attributes[.label] = "mine"
    before.attributes[Attribute<String>(code: 0x8001)] = "of a program"
    before.expires = .some(scene.rig.clock.now().advanced(byMilliseconds: 1_000_000))
    _ = try other.update(id, before)
    scene.server.change {
      $0.unlock["pinMode"] = .number(2)
      $0.unlocked = [
        "credential": .fields(ActivationServer.credential(key: [UInt8](repeating: 0xC1, count: 24)))
      ]
    }
    try scene.core.startUnlock(of: id, over: scene.server)
    scene.server.change {
      $0.before = { request throws(VaultError) in
        guard request.operation == .unlockFinish else { return }
        var changes = ItemChanges()
        changes.attributes[.name] = "renamed"
        changes.attributes[Attribute<Int64>(code: 78)] = 1
        _ = try other.update(id, changes, by: .otp)
      }
    }
    try scene.finishUnlock(id, scene.rig.context(new: "5207"))
    let item = try scene.core.item(named: "renamed")
    #expect(item.id == id && item.attributes[.label] == "mine")
    expect(item.attributes[Attribute<Int64>(code: 78)], equals: 1)
    expect(item.attributes[Attribute<String>(code: 0x8001)], equals: "of a program")
    expect(item.expires, equals: before.expires?.flatMap { $0 })
    expect(item.attributes[Attribute<String>(code: 81)], equals: nil)
    try expect(scene.core.verify().problems, equals: [])
  }

  /// Verified to fail when the item of before the request is taken over, and when only what the server said is kept.
  @Test("an activation keeps what was said about it, also meanwhile", arguments: [false, true])
  func activated(isTaken: Bool) throws {
    let scene = try ActivationScene()
    try scene.start()
    let pending = try scene.core.item(named: "bank")
    let other = try scene.rig.place.openCore()
    var before = ItemChanges()
    before.attributes[.label] = "mine"
    before.audit = .all
    _ = try other.update(pending.id, before)
    scene.server.change {
      $0.device = ActivationServer.credential(key: [UInt8](repeating: 1, count: 20))
      $0.before = { request throws(VaultError) in
        guard request.operation == .activationFinish else { return }
        var changes = ItemChanges()
        changes.attributes[.name] = "renamed"
        _ = try other.update(pending.id, changes)
        // The device credential could not be stored under the new name.
        if isTaken { _ = try other.add(NewItem(.genericPassword, name: "renamed-device")) }
      }
    }
    let done = try scene.finish()
    let item = try scene.core.item(named: isTaken ? "bank" : "renamed")
    #expect(item.id == done.credential && item.attributes[.label] == "mine" && item.audit == .all)
    let device = try scene.core.item(named: isTaken ? "bank-device" : "renamed-device")
    #expect(device.id == done.deviceCredential && device.attributes[.label] == nil)
    try expect(scene.core.verify().problems, equals: [])
  }
}
