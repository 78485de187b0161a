import OneTimePassword
import SecretMemory

/// A code for one payment, which a customer's device makes and the bank checks. Both know the key.
struct PaymentCode: ~Copyable {
  private let generator: OCRAGenerator

  /// Eight digits that depend on the SHA-256 of the payment and on the minute.
  init(key: borrowing SecretBytes) throws(OTPError) {
    let suite = try OCRASuite("OCRA-1:HOTP-SHA256-8:QH64-T1M")
    generator = try OCRAGenerator(key: key, suite: suite)
  }

  /// The device: the code that the customer types.
  func code(for payment: String, at time: Int64) throws(OTPError) -> String {
    try generator.code(for: input(payment, at: time))
  }

  /// The bank: whether the code is for this payment, and from this minute or the one before.
  func accepts(_ text: String, for payment: String, at time: Int64) throws(OTPError) -> Bool {
    let code = try OCRACode(text, for: generator.suite)
    return try generator.firstTimeStep(of: code, for: input(payment, at: time - 60), count: 2) != nil
  }

  private func input(_ payment: String, at time: Int64) throws(OTPError) -> OCRADataInput {
    let data = Array(payment.utf8)
    let question = try OCRAQuestion(data: data.span, for: generator.suite)
    return try OCRADataInput(question: question, timeStep: generator.suite.timeStep(at: time).number)
  }
}
