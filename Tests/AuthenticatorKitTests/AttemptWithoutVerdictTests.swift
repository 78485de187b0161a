import AuthenticatorKit
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// An attempt of a PIN that gets no verdict is none (docs/security/invariants.md).
@Suite("An attempt of a PIN without a verdict", .bounded, .requirement("R23"))
struct AttemptWithoutVerdictTests {
  /// Verified to fail when the memory is obtained after the attempt is counted.
  @Test("eleven times without memory for a derivation take no attempt away", arguments: PINUse.allCases)
  func memory(of use: PINUse) throws {
    let scene = try PINUse.Scene(passcode: use.needsPasscode ? "passcode" : nil)
    scene.rig.memory.reset()
    try use.run(scene, scene.rig.context("8306", new: "2749"))
    // A change has made the other PIN.
    let (right, new) = use == .change ? ("2749", "8306") : ("8306", "2749")
    let derivations = use == .change ? 2 : 1
    expect(scene.rig.memory.asked, equals: derivations)
    for missing in 1...derivations {
      for _ in 0..<11 {
        scene.rig.memory.reset { $0 != missing }
        let error = thrown { () throws(VaultError) in
          try use.run(scene, with: scene.rig.typing(right, new: new))
        }
        expect(error?.code, equals: .io)
        expect(error?.message.hasPrefix("not enough memory"), equals: true)
      }
      try expect(scene.left(), equals: [10, 10], "derivation \(missing)")
    }
    scene.rig.memory.reset()
    try use.run(scene, scene.rig.context(right, new: new))
    try expect(scene.left(), equals: [10, 10])
  }

  /// Verified to fail when the memory is obtained after the attempt is counted.
  @Test("the memory is there before the attempt is counted, and the attempt before the derivation")
  func order() throws {
    let scene = try PINUse.Scene()
    let (place, pin) = (scene.rig.place, scene.pin)
    let seen = Mutex<[String]>([])
    let look = { @Sendable (what: String) in
      let count = (try? place.openCore().state(of: pin).attemptsUnderWay) ?? 99
      seen.withLock { $0.append("\(what) \(count)") }
    }
    scene.rig.memory.reset { _ in
      look("memory")
      return true
    }
    scene.rig.derivations.reset { _ in look("derivation") }
    try PINUse.code.run(scene, scene.rig.context("8306"))
    expect(seen.withLock { $0 }, equals: ["memory 0", "derivation 1"])
  }

  /// What another process changes between the memory and the count. Verified to fail when the derivation of the record is not
  /// compared: the PIN is judged by an old salt.
  @Test("a PIN that is changed after its memory was obtained is judged as it is then")
  func changedMeanwhile() throws {
    let scene = try PINUse.Scene()
    let (other, pin) = (try scene.rig.place.openCore(), scene.pin)
    let change = try scene.rig.context("8306", new: "2749")
    scene.rig.memory.reset { number in
      if number == 1 { #expect(throws: Never.self) { try other.changePIN(pin, context: change) } }
      return true
    }
    let use = try scene.rig.context("2749")
    #expect(throws: Never.self) { try PINUse.code.run(scene, use) }
    try expect(scene.left(), equals: [10, 10])
  }

  /// Verified to fail when an error that is no verdict leaves the attempt counted.
  @Test("a PIN whose seal is damaged loses no attempt")
  func damagedSeal() throws {
    let scene = try PINUse.Scene()
    let core = scene.rig.core
    try core.writing { transaction throws(VaultError) in
      let item = try transaction.reading.item(scene.pin)
      let record = try PINRecord(transaction.reading.useSecret(of: item, by: .pin).intoSecret())
      let damaged = try PINRecord.checked(record.derivation, sealed: [9])
      _ = try transaction.update(
        scene.pin, ItemChanges(), secret: damaged.data.bytes.copy(), by: .pin)
    }
    for _ in 0..<11 {
      expect(.damaged) { () throws(VaultError) in
        _ = try core.verifyPIN(scene.pin, context: scene.rig.typing("8306"))
      }
    }
    try expect(scene.left(), equals: [10, 10])
    try expect(core.state(of: scene.pin).attemptsUnderWay, equals: 0)
  }

  /// Verified to fail when a PIN that was shown counts only once the credential was looked at again.
  @Test(
    "a right PIN is none that is under way when its credential is deleted while it is judged",
    arguments: PINUse.ofCredentials)
  func deletedMeanwhile(use: PINUse) throws {
    let scene = try PINUse.Scene()
    let (other, id) = (try scene.rig.place.openCore(), use.credential(of: scene))
    scene.rig.derivations.reset { _ in #expect(throws: Never.self) { try other.delete(id) } }
    let error = thrown { () throws(VaultError) in
      try use.run(scene, with: scene.rig.typing("8306", new: "2749"))
    }
    scene.rig.derivations.reset()
    #expect(error?.code == .itemNotFound || error?.code == .busy)
    try expect(scene.rig.core.state(of: scene.pin).attemptsUnderWay, equals: 0)
    try expect(scene.left(), equals: [10, 10])
  }

  /// Verified to fail when the gate names what the component lacks before it refuses what has expired.
  @Test(
    "nobody is asked for the PIN of a credential that has expired, and no attempt is counted",
    arguments: PINUse.ofCredentials.filter { $0 != .counterBack })
  func expired(use: PINUse) throws {
    let scene = try PINUse.Scene()
    let rig = scene.rig
    let changes = ItemChanges(expires: .some(rig.clock.now().advanced(byMilliseconds: 1000)))
    try rig.core.update(use.credential(of: scene), changes)
    rig.clock.advance(by: .seconds(10))
    rig.derivations.reset()
    let prompt = ScriptedPrompt([.text("8306")])
    let error = thrown { () throws(VaultError) in
      try use.run(scene, with: AuthenticationContext(reason: "", prompt: prompt))
    }
    #expect(error?.code == .expired && prompt.requests.isEmpty && rig.derivations.count == 0)
    try expect(scene.left(), equals: [10, 10])
  }

  /// The server has taken the code then, and no other one comes. Verified to fail when the new PIN is derived after the answer.
  @Test("without memory for a new PIN, no code goes to the server")
  func unlockByServer() throws {
    let scene = try ActivationScene()
    let (id, _) = try scene.activated(limit: 5)
    try scene.block(id)
    scene.server.change { $0.unlock["pinMode"] = .number(2) }
    try scene.core.startUnlock(of: id, over: scene.server)
    scene.rig.memory.reset { _ in false }
    for _ in 0..<11 {
      expect(.io) { () throws(VaultError) in try scene.finishUnlock(id, scene.rig.typing(nil, new: "2749")) }
    }
    #expect(!scene.server.operations.contains(.unlockFinish))
    try expect(scene.core.state(of: id).wrongUnlockCodes, equals: 0)
    try expect(scene.state(), equals: .unlockStarted)
  }
}

extension PINUse {
  func run(_ scene: Scene, with context: AuthenticationContext) throws(VaultError) {
    do { try run(scene, context) } catch let error as VaultError { throw error } catch {
      throw VaultError(.malformed, "\(error)")
    }
  }
}

extension PINRig {
  func typing(_ pin: String?, new: String) -> AuthenticationContext {
    guard let context = try? context(pin, new: new) else { preconditionFailure("PINRig.typing: no PIN") }
    return context
  }
}
