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
  /// The parts of a request that has not begun.
  private var request = SecretText()
  /// What the agent has not taken of an answer.
  private var answer = SharedSecret(SecretBytes(zeroes: 0))
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
    case .takeAnswer: return .content(nextPart())
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

  private func take(_ content: CallContent) throws(AgentMessageError) {
    let part = try content.secret(.secret)
    guard request.byteCount + part.byteCount <= Self.longestRequest else { throw .tooLong }
    part.expose { request.append($0) }
  }

  private mutating func run(_ path: String, until ending: PromptEnding) -> AgentReply.Answer {
    let text = SharedSecret(request.copy())
    request = SecretText()
    do throws(VaultError) {
      answer = SharedSecret(try runner.run(path, with: text, until: ending))
      offset = 0
      return .content(nextPart())
    } catch { return .failure(error.failureMessage) }
  }

  /// The next part of the answer. The field `isTrue` says that it is not the last.
  private mutating func nextPart() -> Answer {
    var fields = Answer()
    fields.set(.secret, SecretPart.next(of: answer, at: &offset))
    fields.set(.isTrue, offset < answer.byteCount)
    return fields
  }

  private static let longestRequest = SecretBytes.maximumByteCount / 2
}
