public import SecretMemory
import Synchronization
public import VaultKit

/// A prompt that answers from a script and remembers what it was asked. For tests only.
public final class ScriptedPrompt: Prompt {
  /// One answer.
  public enum Answer: Sendable, Equatable {
    /// What is typed.
    case text(String)
    /// Yes or no.
    case confirm(Bool)
    /// The person declines.
    case cancel
    /// There is nobody to ask.
    case nobody
  }

  private struct State {
    var answers: [Answer]
    var requests: [PromptRequest] = []
    var lines: [String] = []
  }
  private let state: Mutex<State>

  /// - Parameter answers: In order; a request beyond the last is cancelled.
  public init(_ answers: [Answer] = []) { state = Mutex(State(answers: answers)) }

  /// What was asked so far.
  public var requests: [PromptRequest] { state.withLock { $0.requests } }
  /// What was shown so far.
  public var lines: [String] { state.withLock { $0.lines } }
  /// Takes back the answers that nobody has asked for.
  public func empty() { state.withLock { $0.answers = [] } }
  /// How many answers nobody has asked for.
  public var unused: Int { state.withLock { $0.answers.count } }

  /// The next answer.
  public func readSecret(_ request: PromptRequest) throws(VaultError) -> SecretBytes {
    switch next(request) {
    case .text(let text): return SecretBytes(testing: text)
    case .nobody: throw VaultError(.interactionNotAllowed, "the script has nobody to ask")
    case .confirm, .cancel, nil: throw VaultError(.cancelled, "cancelled by the script")
    }
  }

  /// The next answer.
  public func confirm(_ request: PromptRequest) throws(VaultError) -> Bool {
    switch next(request) {
    case .confirm(let answer): return answer
    case .nobody: throw VaultError(.interactionNotAllowed, "the script has nobody to ask")
    case .text, .cancel, nil: throw VaultError(.cancelled, "cancelled by the script")
    }
  }

  /// Is remembered.
  public func show(_ line: String, for request: PromptRequest) { state.withLock { $0.lines.append(line) } }

  private func next(_ request: PromptRequest) -> Answer? {
    state.withLock { state in
      state.requests.append(request)
      return state.answers.isEmpty ? nil : state.answers.removeFirst()
    }
  }
}
