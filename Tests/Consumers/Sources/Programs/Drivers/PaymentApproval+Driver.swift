import AuthenticatorKit
import SecretMemory
import VaultKit
import VaultTestKit

extension Driver {
  static let paymentApproval = Driver(name: "PaymentApproval") {
    let place = TemporaryVault()
    let vault = try place.make(passcode: "six random words")
    _ = try await vault.enroll(
      BiometricPhrase(SecretBytes(testing: "my voice")), named: "voice",
      passcode: Passcode(SecretBytes(testing: "six random words")))
    let context = AuthenticationContext(reason: "set up")
    context.provide(new: try PIN(SecretBytes(testing: "8306")))
    context.provide(try PIN(SecretBytes(testing: "8306")))
    let pin = try await PINItem.make(NewPINItem(.checked), in: vault, context: context)
    let bank = Bank()
    let activation = try await Activation.start(
      NewActivation("bank"), code: SecretBytes(testing: "471199"), over: bank, in: vault, context: context)
    _ = try await activation.finish(
      code: SecretBytes(testing: "471199"), pin: pin, over: bank, context: context)
    _ = try await Biokeys(of: pin).register(context: context)

    let prompt = ScriptedPrompt()
    let approval = PaymentApproval(vault: vault, bank: bank, prompt: prompt)
    try expect(try await approval.next() == nil, "no payment waits")
    bank.push("Pay 12 EUR to Anna")
    guard let first = try await approval.next() else { throw Unexpected(what: "a payment waits") }
    prompt.add(.text("my voice"))
    try expect(try await approval.accept(first) == .biometry, "the phrase accepts it")
    let code = try Bank.code(for: "Pay 12 EUR to Anna", at: 0)
    try expect(bank.last == "accept 0 \(code)", "the text is signed")

    bank.push("Pay 13 EUR to Bob")
    guard let second = try await approval.next() else { throw Unexpected(what: "a payment waits") }
    for _ in 0..<3 { prompt.add(.text("no voice")) }
    prompt.add(.text(""))
    prompt.add(.text("8306"))
    try expect(try await approval.accept(second) == .pin, "after three failures the PIN can accept it")
    let asked = prompt.requests.suffix(5)
    try expect(asked.allSatisfy { $0.text?.text == "Pay 13 EUR to Bob" }, "each prompt shows the text")
    try expect(
      asked.map { $0.alternatives == [.pin] } == [false, false, false, true, false], "the PIN is offered then"
    )

    bank.push("Pay 14 EUR to Carol")
    guard let third = try await approval.next() else { throw Unexpected(what: "a payment waits") }
    try await approval.reject(third)
    try expect(bank.last == "reject", "the bank learns it")
    try expect(prompt.unused == 0, "nobody is asked for a rejection")
  }
}
