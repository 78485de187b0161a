import AgentMessages
import CommandLineKit
import VaultKit
import VaultWords

/// The fields of a failure that answers a call.
typealias FailureMessage = AgentFields<AgentReply.Failure>

extension CommandError {
  var failureMessage: FailureMessage {
    var fields = FailureMessage()
    fields.set(.exit, Int64(exit.rawValue))
    fields.set(.code, code)
    fields.set(.message, message)
    fields.set(.hint, hint)
    fields.set(.attemptsLeft, attemptsLeft.map(Int64.init))
    fields.set(.retrySeconds, retryAfterSeconds)
    fields.set(.promptEnd, promptEnd.map { Int64($0.rawValue) })
    return fields
  }

  init(_ fields: FailureMessage) throws(AgentMessageError) {
    let number = try fields.number(.exit)
    guard let exit = ExitCode.all.first(where: { $0.rawValue == number }) else {
      throw .wrongValue(AgentReply.Failure.exit.rawValue)
    }
    let delay = try fields.ifAny(.retrySeconds, fields.number)
    if let delay, !VaultError.delays.contains(delay) {
      throw .wrongValue(AgentReply.Failure.retrySeconds.rawValue)
    }
    self.init(
      exit, try fields.text(.message), hint: try fields.ifAny(.hint, fields.text),
      code: try fields.text(.code),
      attemptsLeft: try fields.ifAny(.attemptsLeft, fields.number).map { Int(clamping: $0) },
      retryAfterSeconds: delay,
      promptEnd: try fields.ifAny(.promptEnd) { tag throws(AgentMessageError) in try fields.value(tag) })
  }
}
