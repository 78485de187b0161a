import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// Another process makes new keys while a PIN or a biokey is used (docs/security/invariants.md).
@Suite("New keys while a PIN is used", .bounded, .requirement("R23"))
struct NewKeysMeanwhileTests {
  /// Verified to fail with ebe6282a for each use that makes a code.
  @Test("the use goes on with the PIN that is still there, and derives once", arguments: PINUse.allCases)
  func once(use: PINUse) throws {
    guard !use.needsPasscode else { return try again(use: use) }
    let scene = try PINUse.Scene()
    let other = try scene.rig.place.openCore()
    scene.rig.derivations.reset { number in
      if number == 1 { #expect(throws: Never.self) { try other.rotateEpoch() } }
    }
    try use.run(scene, scene.rig.context("8306", new: "2749"))
    expect(scene.rig.derivations.count, equals: use == .change ? 2 : 1)
    try expect(scene.left(), equals: [10, 10])
    try expect(scene.rig.core.status().generation, equals: 2)
  }

  /// New keys lock what the passcode had opened. Verified to fail when a step after the PIN does not unlock the vault again.
  @Test("with a passcode that was given, the vault is unlocked again", arguments: PINUse.allCases)
  func again(use: PINUse) throws {
    let scene = try PINUse.Scene(passcode: "passcode")
    let other = try scene.rig.place.openCore()
    try other.unlock(with: Passcode(testing: "passcode"))
    scene.rig.derivations.reset { number in
      // The first is that of the PIN, the second that of the new keys.
      guard number == 1 else { return }
      #expect(throws: Never.self) { try other.rotateEpoch(passcode: Passcode(testing: "passcode")) }
    }
    try use.run(scene, scene.rig.context("8306", new: "2749", passcode: "passcode"))
    try expect(scene.left(), equals: [10, 10])
    try expect(scene.rig.core.status().generation, equals: 2)
    try expect(scene.rig.core.status().passcodeFailures, equals: 0)
  }

  /// Verified to fail when the retry asks for the PIN again.
  @Test("a PIN that was typed is not asked for a second time")
  func typed() throws {
    let scene = try PINUse.Scene()
    let other = try scene.rig.place.openCore()
    let prompt = ScriptedPrompt([.text("8306")])
    scene.rig.derivations.reset { number in
      if number == 1 { #expect(throws: Never.self) { try other.rotateEpoch() } }
    }
    try PINUse.code.run(scene, AuthenticationContext(reason: "", prompt: prompt))
    expect(prompt.requests.count, equals: 1)
  }

  /// Verified to fail with ebe6282a, and when a use with a biokey is not run again.
  @Test("a biokey whose phrase was given is opened again", arguments: [false, true])
  func biokey(isLogin: Bool) throws {
    let scene = try PINUse.Scene(passcode: "passcode")
    _ = try scene.rig.core.registerBiokey(NewBiokey(), for: scene.pin, context: scene.rig.context("8306"))
    let other = try scene.rig.place.openCore()
    try other.unlock(with: Passcode(testing: "passcode"))
    let context = try scene.rig.context(passcode: "passcode")
    context.provide(try BiometricPhrase(testing: "right"))
    scene.rig.derivations.reset { number in
      guard number == 1 else { return }
      #expect(throws: Never.self) { try other.rotateEpoch(passcode: Passcode(testing: "passcode")) }
    }
    if isLogin {
      _ = try scene.rig.core.logIn(scene.pin, by: .biometry, context: context)
    } else {
      _ = try scene.rig.core.nextHOTPCode(of: scene.counted, by: .biometric, context: context)
    }
    try expect(scene.rig.core.status().generation, equals: 2)
    try expect(scene.rig.core.biokeys(of: scene.pin).first?.attemptsLeft, equals: 5)
  }
}
