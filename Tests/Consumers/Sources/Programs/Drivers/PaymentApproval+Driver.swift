import AuthenticatorKit
import OneTimePassword
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

/// A bank in the same process: it believes every code of an activation, and signs as the credential does.
private final class Bank: Transport {
  private let waiting = Record()
  private let answers = Record()
  let identity = "app:bank"

  static let key = "12345678901234567890123456789012"
  static let suite = "OCRA-1:HOTP-SHA256-8:C-QH64"

  var last: String? { answers.all.last }

  func push(_ text: String) { waiting.add(text) }

  static func code(for text: String, at counter: UInt64) throws -> String {
    let suite = try OCRASuite(suite)
    let generator = try OCRAGenerator(key: SecretBytes(testing: key), suite: suite)
    let question = try unsafe OCRAQuestion(data: Array(text.utf8).span.bytes, for: suite)
    return try generator.code(for: OCRADataInput(question: question, counter: counter))
  }

  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
    var fields = TransportFields()
    switch request.operation {
    case .activationStart:
      fields["peer"] = .text("c-17")
      fields["pinMode"] = .number(9)
      fields["secretBase64"] = .secret(TransportSecret(SecretBytes(testing: "0123456789abcdef")))
    case .activationFinish:
      var credential = TransportFields()
      credential["type"] = .text("ocra")
      credential["suite"] = .text(Self.suite)
      credential["secretBase64"] = .secret(TransportSecret(SecretBytes(testing: Self.key)))
      fields["credential"] = .fields(credential)
    case .transactionNext:
      guard waiting.all.count > answers.all.count else { break }
      var payment = TransportFields()
      payment["alias"] = .text("pay-\(waiting.all.count)")
      payment["context"] = .text(waiting.all.last ?? "")
      payment["types"] = .texts(["biometry", "pin"])
      fields["transaction"] = .fields(payment)
    case .transactionAnswer: answers.add(Self.words(of: request.fields))
    default: throw VaultError(peer: "STATE", "not in this state")
    }
    return TransportAnswer(fields)
  }

  private static func words(of answer: TransportFields) -> String {
    var words: [String] = []
    if case .text(let decision)? = answer["decision"] { words.append(decision) }
    if case .number(let counter)? = answer["counter"] { words.append(String(counter)) }
    if case .text(let code)? = answer["code"] { words.append(code) }
    return words.joined(separator: " ")
  }
}
