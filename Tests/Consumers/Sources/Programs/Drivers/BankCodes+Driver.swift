import AuthenticatorKit
import SecretMemory
import VaultKit
import VaultTestKit

extension Driver {
  static let bankCodes = Driver(name: "BankCodes") {
    let place = TemporaryVault()
    let vault = try place.make(passcode: "six random words")
    _ = try await vault.enroll(
      BiometricPhrase(SecretBytes(testing: "my voice")), named: "voice",
      passcode: Passcode(SecretBytes(testing: "six random words")))
    let answers = ["8306", "8306", "8306", "8306", "my voice", "", "8306"]
    let prompt = ScriptedPrompt(answers.map { .text($0) })
    let bank = BankCodes(vault: vault, prompt: prompt)
    try await bank.enroll(key: SecretBytes(testing: "12345678901234567890"))
    try expect(try await !bank.registerBiokey(), "there was no biokey before")
    try expect(try await bank.code() == "755224", "the phrase gives the first code")
    try expect(try await bank.code() == "287082", "without the phrase, the PIN gives the second one")
    try expect(prompt.unused == 0, "each question was asked")
  }
}
