import AgentMessages
import SecretMemory
import TextFormats
import TransportPrograms
import VaultKit

/// Runs the programs of transports for the agent: the other end of ``RemoteRunner``.
///
/// The program is the one that the agent names. The command line cannot be the judge: a line of a batch, which the agent reads, names one
/// as well. It is checked as without an agent, and an agent is a process of the same user, which could start it by itself.
struct ServedPrograms {
  typealias Answer = AgentFields<AgentReply.Content>

  private let runner: any ProgramRunner
  /// The parts of a request that has not begun. Most commands have none, and need no memory for it.
  private var request: SecretText?
  /// What the agent has not taken of an answer is from `offset` on.
  private var answer: SharedSecret?
  private var offset = 0

  init(_ runner: any ProgramRunner) { self.runner = runner }

  /// - Returns: nil for a call of another kind.
  mutating func answer(
    to call: AgentCall, until ending: PromptEnding
  ) throws(AgentMessageError) -> AgentReply.Answer? {
    switch call.kind {
    case .checkProgram: return try check(call.content.text(.path))
    case .giveRequest: try take(call.content)
    case .runProgram:
      try take(call.content)
      return try run(call.content.text(.path), until: ending)
    case .takeAnswer:
      guard let answer, offset < answer.byteCount else { throw .wrongValue(AgentCall.Tag.kind.rawValue) }
      return .content(nextPart(of: answer))
    default: return nil
    }
    return .content(Answer())
  }

  private func check(_ path: String) -> AgentReply.Answer {
    do throws(VaultError) {
      try runner.check(path)
      return .content(Answer())
    } catch { return .failure(error.failureMessage) }
  }

  private mutating func take(_ content: CallContent) throws(AgentMessageError) {
    let part = try content.secret(.secret)
    let text = request ?? SecretText()
    guard text.byteCount + part.byteCount <= Self.longestRequest else { throw .tooLong }
    part.expose { text.append($0) }
    request = text
  }

  private mutating func run(_ path: String, until ending: PromptEnding) -> AgentReply.Answer {
    let text = SharedSecret((request ?? SecretText()).copy())
    (request, answer, offset) = (nil, nil, 0)
    do throws(VaultError) {
      let answer = SharedSecret(try runner.run(path, with: text, until: ending))
      self.answer = answer
      return .content(nextPart(of: answer))
    } catch { return .failure(error.failureMessage) }
  }

  /// The next part of the answer. The field `isTrue` says that it is not the last.
  private mutating func nextPart(of answer: SharedSecret) -> Answer {
    var fields = Answer()
    fields.set(.secret, SecretPart.next(of: answer, at: &offset))
    fields.set(.isTrue, offset < answer.byteCount)
    return fields
  }

  private static let longestRequest = SecretBytes.maximumByteCount / 2
}
