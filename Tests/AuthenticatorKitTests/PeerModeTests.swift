import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// The mode that a server gave at the activation decides which factors make a code.
///
/// Verified to fail when the mode is not looked at.
@Suite("Factors that a server accepts", .bounded, .requirement("A5"))
struct PeerModeTests {
  @Test(
    "the PIN, the biokey or both, as the server said",
    arguments: [(1, true, false), (2, true, false), (8, false, true), (9, true, true)])
  func modes(mode: Int, pin: Bool, biokey: Bool) throws {
    let scene = try BiokeyScene()
    try scene.register()
    try scene.core.activate(scene.bank, mode: PINFactors(rawValue: mode))
    // Where only the biokey is accepted, it is asked for, and a PIN that was given does not answer.
    #expect(scene.refusal(try BiokeyScene.given(pin: "8306")) == (pin ? nil : .interactionNotAllowed))
    #expect(scene.refusal(by: .biometric, try BiokeyScene.given(phrase: "right")) == (biokey ? nil : .policy))
    #expect(scene.refusal(by: .current, try BiokeyScene.given(pin: "8306")) == (pin ? nil : .policy))
  }
}
