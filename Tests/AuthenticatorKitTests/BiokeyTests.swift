import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

@Suite("Biokeys", .bounded)
struct BiokeyTests {
  /// Verified to fail when a registration keeps the earlier biokey.
  @Test("the PIN registers one; another registration replaces it and says so", .requirement("A11"))
  func register() throws {
    let scene = try BiokeyScene()
    var new = NewBiokey(.any)
    new.device = "laptop"
    let first = try scene.register(new)
    #expect(!first.hasReplaced && first.biokey.name == "pin-biokey" && first.biokey.pinName == "pin")
    #expect(first.biokey.device == "laptop" && first.biokey.members == .any && first.biokey.attemptsLeft == 5)
    let second = try scene.register()
    #expect(second.hasReplaced && second.biokey.id != first.biokey.id && second.biokey.members == .currentSet)
    try expect(scene.core.biokeys().map(\.id), equals: [second.biokey.id])
    try expect(scene.core.pinStatuses(of: scene.pin).first?.factors, equals: [.current, .biometric])
  }

  /// Verified to fail when the biokey is added before the verdict, in a commit of its own.
  @Test(
    "without the PIN, with a wrong one and with one of a wrong form there is no biokey", .requirement("A11"))
  func withoutPIN() throws {
    let scene = try BiokeyScene()
    for (context, code) in [
      (try BiokeyScene.given(phrase: "right"), .interactionNotAllowed),
      (try BiokeyScene.given(pin: "8307"), .authenticationFailed),
    ] as [(AuthenticationContext, VaultError.Code)] {
      expect(code) { () throws(VaultError) in
        _ = try scene.core.registerBiokey(NewBiokey(), for: scene.pin, context: context)
      }
    }
    #expect(try scene.core.biokeys().isEmpty)
    try expect(scene.pinAttemptsLeft(), equals: 9)
  }

  /// Verified to fail when a reset needs no PIN.
  @Test("a reset needs the PIN; the biokey is then gone, and the PIN goes on to work", .requirement("A12"))
  func reset() throws {
    let scene = try BiokeyScene()
    try scene.register()
    expect(.interactionNotAllowed) { () throws(VaultError) in
      _ = try scene.core.resetBiokeys(of: scene.pin, context: try! BiokeyScene.given(phrase: "right"))
    }
    expect(.authenticationFailed) { () throws(VaultError) in
      _ = try scene.core.resetBiokeys(of: scene.pin, context: try! BiokeyScene.given(pin: "0000"))
    }
    try expect(scene.core.biokeys().count, equals: 1)
    try expect(scene.core.resetBiokeys(of: scene.pin, context: BiokeyScene.given(pin: "8306")), equals: 1)
    #expect(try scene.core.biokeys().isEmpty)
    try expect(scene.core.pinStatuses(of: scene.pin).first?.factors, equals: .current)
    expect(scene.refusal(by: .biometric, try BiokeyScene.given(phrase: "right")), equals: .policy)
    try expect(scene.code(BiokeyScene.given(pin: "8306")), equals: BiokeyScene.codes[0])
  }

  /// Verified to fail when the biokey of a checked PIN opens another data key than the PIN.
  @Test("a code by biokey is the code by PIN at the same counter", .requirement("B3"))
  func sameCode() throws {
    let scene = try BiokeyScene()
    try scene.register()
    for counter in 0..<6 {
      let context =
        try counter % 2 == 0 ? BiokeyScene.given(phrase: "right") : BiokeyScene.given(pin: "8306")
      try expect(scene.code(context), equals: BiokeyScene.codes[counter])
    }
    let entries = try scene.core.auditEntries()
    expect(entries.count { $0.operation == .codeGenerated }, equals: 6)
    expect(entries.count { $0.detail == "phrase of a member" && $0.result == .success }, equals: 3)
    try scene.core.removeMember(named: "voice")
    try expect(scene.code(BiokeyScene.given(pin: "8306")), equals: BiokeyScene.codes[6])
    try expect(scene.core.verify().problems, equals: [])
  }

  @Test("a camouflaged PIN has no biokey, and the error says why", .requirement("B3"))
  func camouflaged() throws {
    let place = TemporaryVault()
    let core = try place.makeCore(passcode: "passcode")
    _ = try core.enroll(
      BiometricPhrase(testing: "right"), named: "voice", passcode: Passcode(testing: "passcode"))
    let pin = try core.makePIN(NewPINItem(.camouflaged)).id
    let error = thrown { () throws(VaultError) in
      _ = try core.registerBiokey(NewBiokey(), for: pin, context: try! BiokeyScene.given(pin: "8306"))
    }
    #expect(error?.code == .policy && error?.message.contains("give it away") == true)
    expect(.policy) { () throws(VaultError) in
      _ = try core.resetBiokeys(of: pin, context: try! BiokeyScene.given(pin: "8306"))
    }
  }

  /// Verified to fail when the commit of a change leaves the biokeys.
  @Test("a change of the PIN deletes the biokey, unless the person keeps it", .requirement("A10"))
  func change() throws {
    let scene = try BiokeyScene()
    try scene.register()
    try scene.core.changePIN(
      scene.pin, keepingBiokeys: true, context: BiokeyScene.given(pin: "8306", new: "7159"))
    try expect(scene.code(BiokeyScene.given(phrase: "right")), equals: BiokeyScene.codes[0])
    try scene.core.changePIN(scene.pin, context: BiokeyScene.given(pin: "7159", new: "8306"))
    #expect(try scene.core.biokeys().isEmpty)
    expect(scene.refusal(by: .biometric, try BiokeyScene.given(phrase: "right")), equals: .policy)
    try expect(scene.code(BiokeyScene.given(pin: "8306")), equals: BiokeyScene.codes[1])
  }

  @Test("after a change of the set the biokey is refused, and the PIN goes on to work", .requirement("A13"))
  func otherSet() throws {
    let scene = try BiokeyScene()
    try scene.register()
    _ = try scene.core.enroll(
      BiometricPhrase(testing: "other"), named: "other", passcode: Passcode(testing: "passcode"))
    for phrase in ["right", "other"] {
      expect(scene.refusal(by: .biometric, try BiokeyScene.given(phrase: phrase)), equals: .invalidated)
    }
    #expect(try scene.core.biokeys().first?.isInvalidated == true)
    // The passcode opens no biokey.
    let context = try BiokeyScene.given()
    context.provide(try Passcode(testing: "passcode"))
    expect(scene.refusal(by: .biometric, context), equals: .invalidated)
    try expect(scene.code(BiokeyScene.given(pin: "8306")), equals: BiokeyScene.codes[0])
    try scene.register(NewBiokey(.any))
    _ = try scene.core.enroll(
      BiometricPhrase(testing: "third"), named: "third", passcode: Passcode(testing: "passcode"))
    try expect(scene.code(BiokeyScene.given(phrase: "third")), equals: BiokeyScene.codes[1])
  }

  /// Verified to fail when the passcode ends the count of a biokey, and when its failures count as attempts of the PIN.
  @Test(
    "five failures lock it, apart from the PIN and from biometry; a right PIN ends that, the passcode does not",
    .requirement("A14"))
  func lock() throws {
    let scene = try BiokeyScene()
    try scene.register()
    for _ in 0..<4 {
      expect(scene.refusal(try BiokeyScene.given(phrase: "wrong")), equals: .authenticationFailed)
    }
    try expect(scene.code(BiokeyScene.given(phrase: "right")), equals: BiokeyScene.codes[0])
    for left in (0..<5).reversed() {
      let error = thrown { () throws(VaultError) in
        _ = try scene.core.nextHOTPCode(of: scene.bank, context: try! BiokeyScene.given(phrase: "wrong"))
      }
      #expect(error?.code == .authenticationFailed && error?.attemptsLeft == left)
    }
    expect(scene.refusal(by: .biometric, try BiokeyScene.given(phrase: "right")), equals: .biokeyLocked)
    try expect(scene.pinAttemptsLeft(), equals: 10)
    #expect(try !scene.core.status().isBiometryLocked)
    scene.core.lock()
    try scene.core.unlock(with: Passcode(testing: "passcode"))
    expect(scene.refusal(by: .biometric, try BiokeyScene.given(phrase: "right")), equals: .biokeyLocked)
    #expect(try scene.core.biokeys().first?.isLocked == true)
    _ = try scene.core.verifyPIN(scene.pin, context: BiokeyScene.given(pin: "8306"))
    try expect(scene.core.biokeys().first?.attemptsLeft, equals: 5)
    try expect(scene.code(by: .biometric, BiokeyScene.given(phrase: "right")), equals: BiokeyScene.codes[1])
  }

  @Test("the passcode ends the failures of phrases, and not those of a PIN")
  func passcode() throws {
    let scene = try BiokeyScene()
    let item = try scene.core.add(
      NewItem(.genericPassword, name: "any", access: AccessControl(.biometryAny)),
      secret: SecretBytes(testing: "s")
    ).id
    for _ in 0..<5 {
      expect(.authenticationFailed) { () throws(VaultError) in
        _ = try scene.core.secret(of: item, context: try! BiokeyScene.given(phrase: "wrong"))
      }
    }
    for _ in 0..<3 {
      expect(scene.refusal(try BiokeyScene.given(pin: "1111")), equals: .authenticationFailed)
    }
    scene.core.lock()
    try scene.core.unlock(with: Passcode(testing: "passcode"))
    #expect(try !scene.core.status().isBiometryLocked)
    try expect(scene.pinAttemptsLeft(), equals: 7)
  }

  @Test("a locked biokey, and one that is declined, leave the PIN; a blocked PIN leaves no biokey")
  func fallback() throws {
    let scene = try BiokeyScene()
    try scene.register()
    let prompt = ScriptedPrompt([.cancel, .text("8306")])
    let context = AuthenticationContext(reason: "", prompt: prompt)
    try expect(scene.code(context), equals: BiokeyScene.codes[0])
    expect(prompt.requests.map(\.subject), equals: [.phrase, .pin])
    for _ in 0..<5 { _ = scene.refusal(try BiokeyScene.given(phrase: "wrong")) }
    let locked = ScriptedPrompt([.text("8306")])
    try expect(
      scene.code(AuthenticationContext(reason: "", prompt: locked)), equals: BiokeyScene.codes[1])
    expect(locked.requests.map(\.subject), equals: [.pin])
    for _ in 0..<10 { _ = scene.refusal(try BiokeyScene.given(pin: "1111")) }
    expect(scene.refusal(by: .biometric, try BiokeyScene.given(phrase: "right")), equals: .blocked)
    try expect(scene.core.describeOTP(named: "bank").state.counter, equals: 2)
  }

  @Test("a biokey is when-passcode-set and on this device only; a backup leaves it out", .requirement("A22"))
  func device() throws {
    let scene = try BiokeyScene()
    let biokey = try scene.register().biokey
    let item = try #require(try scene.core.items(matching: Query(id: biokey.id)).first)
    #expect(item.access.accessibility == .whenPasscodeSet && item.access.thisDeviceOnly)
    expect(item.access.constraints, equals: .biometryCurrentSet)
    let report = try scene.core.backUp(
      to: scene.place.folder + "/data/b.vault", passphrase: Passcode(testing: "p"))
    expect(report.leftOut.map(\.id), equals: [biokey.id])
    let bare = TemporaryVault()
    let core = try bare.makeCore()
    let pin = try core.makePIN(NewPINItem(.checked), context: BiokeyScene.given(new: "8306")).id
    expect(.policy) { () throws(VaultError) in
      _ = try core.registerBiokey(NewBiokey(), for: pin, context: try! BiokeyScene.given(pin: "8306"))
    }
    try expect(core.pinStatuses(of: pin).first?.attemptsLeft, equals: 10)
  }
}
