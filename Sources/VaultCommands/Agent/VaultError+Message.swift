import AgentMessages
import VaultKit

extension VaultError {
  var failureMessage: FailureMessage {
    var fields = FailureMessage()
    fields.set(.code, code.rawValue)
    fields.set(.message, message)
    fields.set(.hint, advice?.sentence)
    fields.set(.toolHint, advice?.toolSentence)
    fields.set(.attemptsLeft, attemptsLeft.map(Int64.init))
    fields.set(.retrySeconds, retryAfter?.components.seconds)
    fields.set(.retryAttoseconds, retryAfter?.components.attoseconds)
    fields.set(.underlying, underlying.map(Int64.init))
    fields.set(.promptEnd, promptOutcome.map { Int64($0.rawValue) })
    fields.set(.isFinal, isFinal)
    return fields
  }

  init(_ fields: FailureMessage) throws(AgentMessageError) {
    let error = VaultError(
      Code(rawValue: try fields.text(.code)), try fields.text(.message), hint: try Self.hint(fields),
      attemptsLeft: try fields.ifAny(.attemptsLeft, fields.number).map { Int(clamping: $0) },
      retryAfter: try Self.retryAfter(fields),
      underlying: try fields.ifAny(.underlying, fields.number).map { Int32(clamping: $0) },
      prompt: try fields.ifAny(.promptEnd, fields.number).map {
        PromptOutcome(rawValue: UInt8(clamping: $0))
      })
    self = try fields.flag(.isFinal) ? error.final() : error
  }

  private static func hint(_ fields: FailureMessage) throws(AgentMessageError) -> Hint? {
    guard let sentence = try fields.ifAny(.hint, fields.text) else { return nil }
    return Hint(sentence, tool: try fields.text(.toolHint))
  }

  /// The seconds of a delay that a message can name: up to a hundred years. The sum of others has no room in a `Duration`.
  static let delays: ClosedRange<Int64> = 0...3_200_000_000

  private static func retryAfter(_ fields: FailureMessage) throws(AgentMessageError) -> Duration? {
    guard let seconds = try fields.ifAny(.retrySeconds, fields.number) else { return nil }
    let attoseconds = try fields.ifAny(.retryAttoseconds, fields.number) ?? 0
    guard Self.delays.contains(seconds) else { throw .wrongValue(AgentReply.Failure.retrySeconds.rawValue) }
    guard (0..<1_000_000_000_000_000_000).contains(attoseconds) else {
      throw .wrongValue(AgentReply.Failure.retryAttoseconds.rawValue)
    }
    return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
  }
}
