import OneTimePassword
import SecretMemory

extension Driver {
  static let paymentCode = Driver(name: "PaymentCode") {
    let key = SecretBytes(testing: "12345678901234567890123456789012")
    let device = try PaymentCode(key: key)
    let bank = try PaymentCode(key: key)
    let payment = "12 EUR to Anna"
    let code = try device.code(for: payment, at: 600)
    try expect(code.utf8.count == 8, "a code has eight digits")
    try expect(try bank.accepts(code, for: payment, at: 600), "the code is accepted")
    try expect(try bank.accepts(code, for: payment, at: 719), "the code is accepted in the next minute")
    try expect(try !bank.accepts(code, for: payment, at: 720), "the code is refused later")
    try expect(try !bank.accepts(code, for: "92 EUR to Anna", at: 600), "another payment needs another code")
  }
}
