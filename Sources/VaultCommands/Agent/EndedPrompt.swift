import VaultKit
import VaultPrompts

/// The errors of a prompt that the agent has ended. No person has cancelled it, so neither the command nor the audit says so.
extension ClientLink {
  /// Runs `body`, which asks a person.
  ///
  /// - Throws: What `body` throws. Where the agent has ended the prompt, the error says why.
  func sayingWhyEnded<R: ~Copyable>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch {
      guard error.isOfEndedPrompt, let why = endedPrompt(.program) else { throw error }
      throw why
    }
  }

  /// The same for a prompt in which a person types.
  func sayingWhyTypingEnded<R: ~Copyable>(
    _ body: () throws(PromptFailure) -> R
  ) throws(PromptFailure) -> R {
    do throws(PromptFailure) { return try body() } catch {
      guard error.isOfEndedPrompt, let why = endedPrompt(.program) else { throw error }
      throw .pinentry(why)
    }
  }

  /// The error of a prompt that was not shown, because the agent had ended it before.
  var unaskedPrompt: VaultError {
    endedPrompt(.notShown) ?? VaultError(.cancelled, "the prompt was ended", prompt: .notShown)
  }

  /// - Returns: nil if the agent has not ended the prompt.
  private func endedPrompt(_ outcome: PromptOutcome) -> VaultError? {
    switch promptsEnd {
    case .agentEnds:
      VaultError(
        .io, "the agent is ending, and ends its prompts",
        hint: "start an agent with 'vaultctl agent start', or try again without one", prompt: outcome)
    // A command that finds the vault unlocked goes on without this error.
    case .answered:
      VaultError(
        .appCancelled,
        "another command unlocked the vault, which ended this prompt; the vault is locked again",
        hint: "try again", prompt: outcome)
    case nil: nil
    }
  }
}

extension VaultError {
  /// Whether a prompt can have been ended by the agent: neither a signal ended it, nor did it end before it was shown.
  fileprivate var isOfEndedPrompt: Bool {
    (code == .cancelled || code == .appCancelled) && promptOutcome != .signal && promptOutcome != .notShown
  }
}

extension PromptFailure {
  fileprivate var isOfEndedPrompt: Bool {
    switch self {
    case .terminal(.cancelled): true
    case .pinentry(let error): error.isOfEndedPrompt
    default: false
    }
  }
}
