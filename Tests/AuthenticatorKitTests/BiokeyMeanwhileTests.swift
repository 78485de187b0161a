import AuthenticatorKit
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A biokey is shown first, and the use may then wait long for another secret of a person.
@Suite("A biokey between its verification and its use", .bounded)
struct BiokeyMeanwhileTests {
  /// What happens to it meanwhile.
  enum Event: CaseIterable {
    case pinChanged
    case reset
    case memberRemoved
    case late
    case nothing
  }

  /// The attack succeeded for each: a code was made. Verified to fail when `settle` does not look at the PIN and the proof.
  @Test("opens nothing once it is gone, or 30 s are over", arguments: Event.allCases)
  func meanwhile(event: Event) throws {
    let rig = try PINRig(passcode: "passcode")
    _ = try rig.core.enroll(
      BiometricPhrase(testing: "right"), named: "voice", passcode: Passcode(testing: "passcode"))
    let pin = try rig.checked()
    let id = try rig.core.addOTP(
      rig.uri(PINRig.rawKey), named: "bank", access: AccessControl(.applicationPassword), pin: pin,
      context: giving(rig.context("8306"))
    ).item.id
    _ = try rig.core.registerBiokey(NewBiokey(), for: pin, context: rig.context("8306"))
    let other = try rig.place.openCore()
    try other.unlock(with: Passcode(testing: "passcode"))
    let use = try giving(rig.context())
    use.provide(try BiometricPhrase(testing: "right"))
    rig.derivations.reset { number in
      // The first is that of the phrase, the second that of the application password.
      guard number == 2 else { return }
      #expect(throws: Never.self) {
        switch event {
        case .pinChanged: try other.changePIN(pin, context: rig.context("8306", new: "5207"))
        case .reset: _ = try other.resetBiokeys(of: pin, context: rig.context("8306"))
        case .memberRemoved: try other.removeMember(named: "voice")
        case .late: rig.clock.advance(by: .seconds(30))
        case .nothing: break
        }
      }
    }
    let error = thrown { () throws(VaultError) in
      _ = try rig.core.nextHOTPCode(of: id, by: .biometric, context: use)
    }
    rig.derivations.reset()
    expect(error?.code, equals: event == .nothing ? nil : event == .late ? .verificationNeeded : .busy)
    try expect(rig.counter(of: id), equals: event == .nothing ? 1 : 0)
  }

  /// The passcode was shown for the mark of before. Verified to fail when `settle` accepts one that its own commit set.
  @Test("an older state that is put back a second time is not settled by what was shown for the first")
  func markedAgain() throws {
    let rig = try PINRig(passcode: "passcode")
    _ = try rig.core.enroll(
      BiometricPhrase(testing: "right"), named: "voice", passcode: Passcode(testing: "passcode"))
    let pin = try rig.checked()
    let id = try rig.core.addOTP(
      rig.uri(PINRig.rawKey, kind: .totp(periodSeconds: 30)), named: "bank",
      access: AccessControl(.applicationPassword), pin: pin, context: giving(rig.context("8306"))
    ).item.id
    _ = try rig.core.registerBiokey(NewBiokey(), for: pin, context: rig.context("8306"))
    let other = try rig.place.openCore()
    try other.unlock(with: Passcode(testing: "passcode"))
    try rig.place.keepRows()
    @Sendable func putBack() throws {
      for name in ["a", "b", "c"] { _ = try other.add(NewItem(.genericPassword, name: name)) }
      try rig.place.putRowsBack()
    }
    try putBack()
    let use = try giving(rig.context(passcode: "passcode"))
    use.provide(try BiometricPhrase(testing: "right"))
    rig.derivations.reset { number in
      // Those of the passcode and of the phrase are over.
      if number == 3 { #expect(throws: Never.self) { try putBack() } }
    }
    expect(.busy) { () throws(VaultError) in _ = try rig.core.timedCode(of: id, by: .biometric, context: use)
    }
    rig.derivations.reset()
    // The next use marks it, and asks for the passcode again.
    let later = try giving(rig.context())
    later.provide(try BiometricPhrase(testing: "right"))
    #expect(throws: VaultError.self) { try rig.core.timedCode(of: id, by: .biometric, context: later) }
    #expect(try rig.core.state(of: pin).needsResync)
  }

  /// Verified to fail when only a PIN says that the file was marked.
  @Test(
    "a login by biokey in a copied file says so, as one by PIN does", arguments: [LoginFactor.pin, .biometry])
  func login(factor: LoginFactor) throws {
    let scene = try BiokeyScene()
    try scene.register()
    let copy = try scene.place.openCopy()
    try copy.unlock(with: Passcode(testing: "passcode"))
    let context = try BiokeyScene.given(pin: factor == .pin ? "8306" : nil, phrase: "right")
    context.provide(try Passcode(testing: "passcode"))
    #expect(try copy.logIn(scene.pin, by: factor, context: context).wasMarked)
    #expect(try !copy.logIn(scene.pin, by: factor, context: context).wasMarked)
  }

  private func giving(_ context: AuthenticationContext) throws -> AuthenticationContext {
    context.provide(try ApplicationPassword(testing: "application"))
    return context
  }
}
