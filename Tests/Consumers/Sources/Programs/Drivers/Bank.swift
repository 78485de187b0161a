import AuthenticatorKit
import OneTimePassword
import SecretMemory
import VaultKit
import VaultTestKit

/// A bank in the same process: it believes every code, and signs as the credential does.
final class Bank: Transport {
  private let waiting = Record()
  private let answers = Record()
  let identity = "app:bank"

  static let key = "12345678901234567890123456789012"
  static let suite = "OCRA-1:HOTP-SHA256-8:C-QH64"
  /// What a login answers.
  static let question = "00C0FFEE"

  /// The last decision or code that it was told.
  var last: String? { answers.all.last }

  func push(_ text: String) { waiting.add(text) }

  static func code(for text: String, at counter: UInt64) throws -> String {
    let question = try OCRAQuestion(data: Array(text.utf8).span, for: OCRASuite(suite))
    return try code(answering: question, at: counter)
  }

  static func loginCode(at counter: UInt64) throws -> String {
    try code(answering: OCRAQuestion(question, for: OCRASuite(suite)), at: counter)
  }

  private static func code(answering question: OCRAQuestion, at counter: UInt64) throws -> String {
    let generator = try OCRAGenerator(key: SecretBytes(testing: key), suite: OCRASuite(suite))
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
    case .onlineStart:
      fields["challenge"] = .text("r-\(answers.all.count)")
      fields["question"] = .text(Self.question)
    case .onlineFinish, .transactionAnswer: answers.add(Self.words(of: request.fields))
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
