public import SecretMemory
import Synchronization
public import VaultKit

/// A prompt that answers from a script and records the requests. For tests only.
public final class ScriptedPrompt: Prompt {
  /// One answer.
  @nonexhaustive
  public enum Answer: Sendable, Equatable {
    /// The person types this.
    case text(String)
    /// The person agrees or declines.
    case confirm(Bool)
    /// The person declines.
    case cancel
    /// No person can be asked.
    case nobody
  }

  private struct State {
    var answers: [Answer]
    var requests: [PromptRequest] = []
    var lines: [String] = []
  }
  private let state: Mutex<State>

  /// - Parameter answers: The answers, in order. A request beyond the last one is cancelled.
  public init(_ answers: [Answer] = []) { state = Mutex(State(answers: answers)) }

  /// The requests so far.
  public var requests: [PromptRequest] { state.withLock { $0.requests } }
  /// The shown lines so far.
  public var lines: [String] { state.withLock { $0.lines } }
  /// Adds an answer after the others.
  public func add(_ answer: Answer) { state.withLock { $0.answers.append(answer) } }
  /// Removes the unused answers.
  public func empty() { state.withLock { $0.answers = [] } }
  /// The number of unused answers.
  public var unused: Int { state.withLock { $0.answers.count } }

  /// The next answer.
  public func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    switch next(request) {
    case .text(let text): return SecretBytes(testing: text)
    case .nobody: throw VaultError(.interactionNotAllowed, "the script has no person to ask")
    case .confirm, .cancel, nil: throw VaultError(.cancelled, "cancelled by the script")
    }
  }

  /// The next answer.
  public func confirm(_ request: PromptRequest) throws(VaultError) -> Bool {
    switch next(request) {
    case .confirm(let answer): return answer
    case .nobody: throw VaultError(.interactionNotAllowed, "the script has no person to ask")
    case .text, .cancel, nil: throw VaultError(.cancelled, "cancelled by the script")
    }
  }

  /// Records the line.
  public func show(_ line: String, for request: PromptRequest) { state.withLock { $0.lines.append(line) } }

  private func next(_ request: PromptRequest) -> Answer? {
    state.withLock { state in
      state.requests.append(request)
      return state.answers.isEmpty ? nil : state.answers.removeFirst()
    }
  }
}
