import AuthenticatorKit
import OneTimePassword
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("What an activation refuses", .bounded)
struct ActivationRefusalTests {
  /// Verified to fail when `lifeSeconds` has no bounds, and when an unknown mode counts as none.
  @Test("an answer to the start that is none stores nothing")
  func badStart() throws {
    let scene = try ActivationScene()
    let before = try scene.core.status().sequence
    let answers: [[String: TransportValue]] = [
      ["peer": .text("")], ["peer": .number(1)], ["peer": .text("a\u{7}b")],
      ["peer": .text(String(repeating: "x", count: 256))],
      ["secretBase64": .secret([UInt8](repeating: 1, count: 15))],
      ["secretBase64": .secret([UInt8](repeating: 1, count: 257))], ["secretBase64": .text("x")],
      ["lifeSeconds": .number(0)], ["lifeSeconds": .number(315_360_000)], ["lifeSeconds": .text("300")],
      ["lifeSeconds": .number(.max)], ["pinMode": .number(3)], ["pinMode": .number(16)],
      ["keepsUnlockKey": .number(1)], ["issuer": .text("a\u{202E}b")], ["account": .text("")],
    ]
    for answer in answers {
      scene.server.change { $0.start = answer }
      let error = thrown { () throws(VaultError) in try scene.start() }
      expect(error?.code, equals: .network, "\(answer)")
    }
    try expect(scene.core.status().sequence, equals: before)
  }

  /// Verified to fail when a bad answer ends the activation.
  @Test("an answer to the end that is none stores nothing, and the activation can still be finished")
  func badFinish() throws {
    let scene = try ActivationScene()
    try scene.start()
    let before = try scene.core.status().sequence
    let credential = ActivationServer.credential
    let bad: [TransportFields] = [
      TransportFields(), credential("steam", PINRig.rawKey, [:]), credential("hotp", [1, 2, 3], [:]),
      credential("hotp", [UInt8](repeating: 1, count: 513), [:]),
      credential("hotp", PINRig.rawKey, ["algorithm": .text("MD5")]),
      credential("hotp", PINRig.rawKey, ["algorithm": .text("sha1")]),
      credential("hotp", PINRig.rawKey, ["digits": .number(5)]),
      credential("hotp", PINRig.rawKey, ["counter": .number(.max)]),
      credential("totp", PINRig.rawKey, ["periodSeconds": .number(0)]),
      credential("ocra", PINRig.rawKey, [:]),
      credential("ocra", PINRig.rawKey, ["suite": .text("OCRA-1:HOTP-SHA1-6:QX08")]),
      credential("ocra", PINRig.rawKey, ["suite": .text("OCRA-1:HOTP-SHA1-6:QN08-T0H")]),
    ]
    for fields in bad {
      scene.server.change { $0.credential = fields }
      expect(thrown { () throws(VaultError) in try scene.finish() }?.code, equals: .network, "\(fields.all)")
    }
    scene.server.change { $0.credential = ActivationServer.credential() }
    let more: [[String: TransportValue]] = [
      ["credential": .text("x")], ["deviceCredential": .fields(TransportFields())],
      ["offlineCodes": .number(0)], ["offlineSeconds": .number(.max)],
      ["unixTime": .number(1_700_000_000 + 86_401)], ["unixTime": .number(.max)],
    ]
    for members in more {
      scene.server.change { $0.finish = members }
      expect(thrown { () throws(VaultError) in try scene.finish() }?.code, equals: .network, "\(members)")
    }
    try expect(scene.core.status().sequence, equals: before)
    scene.server.change { $0.finish = [:] }
    try scene.finish()
    try expect(scene.state(), equals: .active)
  }

  /// Verified to fail when the secrets of an answer are not compared: then the file has the key that the PIN guards.
  @Test(
    "a key that is stored without the PIN too is refused, and the activation can still be finished",
    arguments: [true, false])
  func sharedKey(isDevice: Bool) throws {
    let scene = try ActivationScene(mode: 1)
    scene.server.change {
      if isDevice { $0.device = ActivationServer.credential() } else { $0.secret = PINRig.rawKey }
    }
    try scene.start()
    let pin = try scene.rig.camouflaged()
    expect(.network) { () throws(VaultError) in try scene.finish(pin: pin, scene.rig.context("8306")) }
    try expect(scene.state(), equals: .started)
    scene.server.change {
      ($0.device, $0.credential) = (
        nil, ActivationServer.credential(key: PINRig.rawKey.reversed())
      )
    }
    try scene.finish(pin: pin, scene.rig.context("8306"))
  }

  /// Verified to fail when the name is looked at only at the start: then the code is used, and nothing is stored.
  @Test("a name that became too long meanwhile is refused before the server is asked")
  func longName() throws {
    let scene = try ActivationScene()
    scene.server.change { $0.device = ActivationServer.credential(key: [UInt8](repeating: 1, count: 20)) }
    try scene.start()
    let long = String(repeating: "n", count: 250)
    var changes = ItemChanges()
    changes.attributes[.name] = long
    _ = try scene.core.update(scene.core.item(named: "bank").id, changes)
    expect(.malformed) { () throws(VaultError) in try scene.finish(long) }
    expect(scene.server.operations, equals: [.activationStart])
  }

  @Test("an empty code, one with NUL and one of a megabyte are refused before the server is asked")
  func codes() throws {
    let scene = try ActivationScene()
    let codes = ["", "12\u{0}34", String(repeating: "1", count: 1 << 20)]
    for code in codes { expect(.malformed) { () throws(VaultError) in try scene.start(code: code) } }
    try scene.start()
    for code in codes { expect(.malformed) { () throws(VaultError) in try scene.finish(code: code) } }
    expect(scene.server.operations, equals: [.activationStart])
  }

  @Test("a name that is taken is refused before the code is used, also that of the device credential")
  func names() throws {
    let scene = try ActivationScene()
    for (taken, name) in [("a", "a"), ("b-device", "b")] {
      _ = try scene.core.add(
        NewItem(.genericPassword, name: taken), secret: SecretBytes(testing: "x"))
      expect(.duplicateItem) { () throws(VaultError) in try scene.start(name) }
    }
    expect(.malformed) { () throws(VaultError) in try scene.start(String(repeating: "n", count: 245)) }
    expect(.malformed) { () throws(VaultError) in try scene.start("a\u{202E}b") }
    var new = NewActivation("c")
    new.access = try AccessControl(.applicationPassword)
    expect(.policy) { () throws(VaultError) in
      _ = try scene.core.startActivation(
        new, code: SharedSecret(SecretBytes(testing: "first")), over: scene.server)
    }
    #expect(scene.server.operations.isEmpty)
    // A name that is taken between the two steps.
    try scene.start()
    _ = try scene.core.add(
      NewItem(.genericPassword, name: "bank-device"), secret: SecretBytes(testing: "x"))
    expect(.duplicateItem) { () throws(VaultError) in try scene.finish() }
    expect(scene.server.operations, equals: [.activationStart])
  }

  /// Verified to fail when the deadline is only set, and not tried, before the server is asked, and when a deadline that cannot be
  /// judged counts as over.
  @Test("where the boot cannot be told, no activation starts, and one that waits is not deleted")
  func bootUnreadable() throws {
    let clock = NoBootClock()
    let place = TemporaryVault(environment: .testing(clock: clock))
    let core = try place.makeCore()
    let server = ActivationServer()
    let start = { () throws(VaultError) in
      _ = try core.startActivation(
        NewActivation("bank"), code: SharedSecret(SecretBytes(testing: "first")), over: server)
    }
    clock.isReadable.withLock { $0 = false }
    expect(.io, start)
    #expect(server.operations.isEmpty)
    clock.isReadable.withLock { $0 = true }
    try start()
    clock.isReadable.withLock { $0 = false }
    expect(.io) { () throws(VaultError) in _ = try core.credentialStatus(named: "bank") }
    clock.isReadable.withLock { $0 = true }
    try expect(core.credentialStatus(named: "bank").state, equals: .started)
  }

  /// Verified to fail when the PIN is judged after the server.
  @Test("a PIN that does not fit, is wrong or is blocked is refused before the server is asked")
  func pins() throws {
    let scene = try ActivationScene(mode: 1)
    try scene.start()
    expect(.policy) { () throws(VaultError) in try scene.finish() }
    let pin = try scene.rig.checked(limit: 5)
    var other = NewPINItem(.checked)
    (other.name, other.access) = ("other", AccessControl(.afterFirstUnlock))
    let access = try scene.core.makePIN(other, context: scene.rig.context(new: "8306")).id
    expect(.policy) { () throws(VaultError) in try scene.finish(pin: access, scene.rig.context("8306")) }
    for left in (0..<5).reversed() {
      let error = thrown { () throws(VaultError) in try scene.finish(pin: pin, scene.rig.typing("8307")) }
      #expect(error?.code == .authenticationFailed && error?.attemptsLeft == left)
    }
    scene.rig.derivations.reset()
    expect(.blocked) { () throws(VaultError) in try scene.finish(pin: pin, scene.rig.context("8306")) }
    expect(scene.rig.derivations.count, equals: 0)
    expect(scene.server.operations, equals: [.activationStart])
    try expect(scene.state(), equals: .started)
    let none = try ActivationScene(mode: 0)
    try none.start()
    let unwanted = try none.rig.checked()
    expect(.policy) { () throws(VaultError) in try none.finish(pin: unwanted, none.rig.context("8306")) }
    let biokey = try ActivationScene(mode: 8)
    try biokey.start()
    let masked = try biokey.rig.camouflaged()
    expect(.policy) { () throws(VaultError) in try biokey.finish(pin: masked, biokey.rig.context("8306")) }
    #expect(none.server.operations.count == 1 && biokey.server.operations.count == 1)
  }

  /// Verified to fail when the mask is bound to another identifier, and when a key that is text is masked.
  @Test("behind a camouflaged PIN the key is masked once, and a key that is text is refused")
  func camouflaged() throws {
    let scene = try ActivationScene(mode: 1)
    try scene.start()
    let pin = try scene.rig.camouflaged()
    scene.server.change {
      $0.credential = ActivationServer.credential(key: Array("12345678901234567890".utf8))
    }
    expect(.policy) { () throws(VaultError) in try scene.finish(pin: pin, scene.rig.context("8306")) }
    try expect(scene.state(), equals: .started)
    scene.server.change { $0.credential = ActivationServer.credential() }
    let id = try scene.finish(pin: pin, scene.rig.context("8306")).credential
    try expect(scene.code(of: id), equals: scene.rig.code(at: 0))
    #expect(try scene.code(of: id, "8307") != scene.rig.code(at: 1))
  }

  @Test("another transport asks for the passcode, and without a passcode it is refused")
  func otherTransport() throws {
    let scene = try ActivationScene()
    try scene.start()
    let other = ActivationServer("/opt/other")
    expect(.policy) { () throws(VaultError) in try scene.finish(over: other) }
    #expect(other.operations.isEmpty)
    let guarded = try ActivationScene(passcode: "passcode")
    try guarded.start()
    expect(.interactionNotAllowed) { () throws(VaultError) in
      try guarded.finish(over: other, AuthenticationContext(reason: ""))
    }
    try guarded.finish(over: other, guarded.rig.context(passcode: "passcode"))
    try expect(guarded.core.credentialStatus(named: "bank").transport, equals: "/opt/other")
  }
}

/// A clock whose boot may be unreadable.
private final class NoBootClock: VaultClock {
  let isReadable = Mutex(true)
  private let clock = FixedClock()
  func now() -> Instant { clock.now() }
  func bootMilliseconds() -> UInt64 { clock.bootMilliseconds() }
  func bootID() -> [UInt8]? { isReadable.withLock { $0 } ? clock.bootID() : nil }
}
