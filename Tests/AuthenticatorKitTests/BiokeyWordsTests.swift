import AuthenticatorKit
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// What a person is told when a biokey does not open (docs/security/invariants.md, *A lost answer costs nothing*, 4 and 5).
@Suite("Words about a biokey that does not open", .bounded)
struct BiokeyWordsTests {
  /// Verified to fail when the words of an item are shown, which advise to delete the credential.
  @Test("one of another set says that it is registered again", .requirement("A14"))
  func invalidated() throws {
    let scene = try BiokeyScene()
    try scene.invalidate()
    let error = try #require(
      thrown { () throws(VaultError) in
        _ = try scene.core.nextHOTPCode(
          of: scene.bank, by: .biometric, context: try! BiokeyScene.given(phrase: "right"))
      })
    #expect(error.code == .invalidated && error.advice == .registerBiokey)
    #expect(error.hint?.contains("delete") == false && error.message.contains("biokey"))
  }

  /// Verified to fail when the PIN is asked for without a word.
  @Test("the prompt for the PIN says why it is asked for", .requirement("A14"), arguments: [true, false])
  func silentChange(isLocked: Bool) throws {
    let scene = try BiokeyScene()
    if isLocked { try scene.lock() } else { try scene.invalidate() }
    let prompt = ScriptedPrompt([.text(BiokeyScene.pinDigits)])
    _ = try scene.code(AuthenticationContext(reason: "", prompt: prompt))
    expect(prompt.requests.map(\.subject), equals: [.pin])
    let why = prompt.requests.first?.problem
    #expect(why?.contains(isLocked ? "locked" : "no longer opens") == true, "\(why ?? "nothing")")
  }

  /// Verified to fail when the phrase is ignored, and the PIN is missing instead.
  @Test("with a phrase that was given, the error is that of the biokey", .requirement("A14"))
  func givenPhrase() throws {
    let scene = try BiokeyScene()
    try scene.lock()
    try expect(scene.refusal(BiokeyScene.given(phrase: "right")), equals: .biokeyLocked)
    // Both were given: the PIN serves.
    _ = try scene.code(BiokeyScene.given(pin: BiokeyScene.pinDigits, phrase: "right"))
  }
}

extension BiokeyScene {
  /// Registers a biokey of the current set, and changes the set.
  fileprivate func invalidate() throws {
    try register()
    _ = try core.enroll(
      BiometricPhrase(testing: "other"), named: "second", passcode: Passcode(testing: "passcode"))
  }

  /// Registers a biokey and locks it by failures.
  fileprivate func lock() throws {
    try register()
    for _ in 0..<5 { _ = refusal(by: .biometric, try Self.given(phrase: "wrong")) }
    // The failures of phrases as such do not count here.
    try core.unlock(with: Passcode(testing: "passcode"))
  }
}
