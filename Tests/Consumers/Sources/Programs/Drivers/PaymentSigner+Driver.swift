import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultTestKit

extension Driver {
  static let paymentSigner = Driver(name: "PaymentSigner") {
    let key = "12345678901234567890123456789012"
    let vault = try TemporaryVault().make()
    let signer = try await PaymentSigner(enrolling: SecretBytes(testing: key), in: vault)
    let codes = [try await signer.sign("12 EUR to Anna"), try await signer.sign("12 EUR to Anna")]
    try expect(codes[0] != codes[1], "one payment that is signed twice has two codes")

    let bank = try OCRAGenerator(key: SecretBytes(testing: key), suite: signer.credential.suite)
    func counter(of code: String, for payment: String) throws -> UInt64? {
      let data = Array(payment.utf8)
      let question = try OCRAQuestion(data: data.span, for: bank.suite)
      let input = OCRADataInput(question: question, counter: 0)
      return try bank.firstCounter(of: OCRACode(code, for: bank.suite), for: input, count: 10)
    }
    try expect(try counter(of: codes[1], for: "12 EUR to Anna") == 1, "the bank finds the counter")
    try expect(try counter(of: codes[1], for: "92 EUR to Anna") == nil, "another payment needs another code")
    try expect((try? await signer.sign("12 EUR\u{202E}")) == nil, "a text that misleads is refused")
  }
}
