import SecretMemory
import VaultKit
import VaultTestKit

extension Driver {
  static let sessionToken = Driver(name: "SessionToken") {
    let place = TemporaryVault()
    let vault = try place.make(passcode: "passcode")
    _ = try await vault.enroll(
      BiometricPhrase(testing: "left"), named: "left", passcode: Passcode(testing: "passcode"))
    let token = SessionToken(vault: vault)
    let person = ScriptedPrompt([.text("left"), .text("left"), .text("right")])
    let context = AuthenticationContext(reason: "send a message", prompt: person)

    let first = try await token.token(for: context) { SecretBytes(testing: "first") }.text
    let kept = try await token.token(for: context) { SecretBytes(testing: "second") }.text
    try expect(first == "first" && kept == "first", "a token is kept while the set is unchanged")

    _ = try await vault.enroll(
      BiometricPhrase(testing: "right"), named: "right", passcode: Passcode(testing: "passcode"))
    let replaced = try await token.token(for: context) { SecretBytes(testing: "third") }.text
    try expect(replaced == "third" && person.unused == 0, "another set needs another token")
  }
}
