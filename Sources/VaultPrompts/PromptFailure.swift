package import VaultKit

/// Why ``AutomaticPrompt`` has no answer.
package enum PromptFailure: Error {
  /// The terminal asked, or was the only way, and gave no answer.
  case terminal(TerminalError)
  /// Pinentry asked and gave no answer.
  case pinentry(VaultError)
  /// No prompt can ask. `terminal` is nil where the terminal was not to be tried.
  case nobody(terminal: TerminalError?, pinentry: Pinentry.Absence)
}

extension VaultError {
  /// The error of a prompt, for callers that need no other words for it.
  package init(failure: PromptFailure) {
    switch failure {
    case .terminal(let error): self.init(prompt: error)
    case .pinentry(let error): self = error
    // Without any terminal, the missing pinentry is the reason that helps.
    case .nobody(.noTerminal, let absence), .nobody(nil, let absence): self.init(absence: absence)
    case .nobody(let obstacle?, _): self.init(prompt: obstacle)
    }
  }
}
