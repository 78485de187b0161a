import AuthenticatorKit
import SecretMemory
import VaultKit
import VaultTestKit

extension Driver {
  static let bankDevice = Driver(name: "BankDevice") {
    let place = TemporaryVault()
    let vault = try place.make()
    let (bank, prompt) = (Bank(), ScriptedPrompt())
    let device = BankDevice(vault: vault, bank: bank, prompt: prompt)
    try await device.start(code: SecretBytes(testing: "471199"))
    var status = try await CredentialStatus.named("bank", in: vault)
    try expect(status.state == .started, "the first step activates nothing")
    try expect((try? await device.logIn()) == nil, "there is no code before the second step")

    prompt.add(.text("8306"))
    prompt.add(.text("8306"))
    try await device.makePIN()
    prompt.add(.text("8306"))
    try await device.finish(code: SecretBytes(testing: "228150"))
    status = try await CredentialStatus.named("bank", in: vault)
    try expect(status.state == .active, "the second step activates the credential")
    try expect(prompt.unused == 0, "each question was asked")

    prompt.add(.text("8306"))
    let login = try await device.logIn()
    try expect(try login == Bank.loginCode(at: 0), "the code is for the question of the bank")
    try expect(bank.last == "0 \(login)", "the bank gets the code")

    let payment = "Pay 12 EUR to Anna"
    prompt.add(.text("8306"))
    let seal = try await device.seal(payment)
    try expect(prompt.requests.last?.text?.text == payment, "the prompt shows the payment whole")
    try expect(try seal == Bank.code(for: payment, at: 1), "the payment is sealed")
    try expect(bank.last == "1 \(seal)", "the bank gets the seal")
    try expect((try? await device.seal("Pay 12 EUR\u{202E}")) == nil, "a text that misleads is refused")
  }
}
