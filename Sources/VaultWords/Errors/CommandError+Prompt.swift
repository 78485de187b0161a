package import CommandLineKit
package import ErrorRecovery
package import VaultKit

extension CommandError {
  /// An error about a prompt. `prompt` says how the prompt ended; it is `nil` if no person was asked.
  package init(
    _ exit: ExitCode, _ message: String, hint: String? = nil, code: String? = nil,
    attemptsLeft: Int? = nil, retryAfterSeconds: Int64? = nil, prompt: PromptOutcome?,
    recovery: Recovery? = nil
  ) {
    self.init(
      exit, message, hint: hint, code: code, attemptsLeft: attemptsLeft, retryAfterSeconds: retryAfterSeconds,
      promptEnd: prompt.flatMap { PromptEnd(rawValue: $0.rawValue) }, recovery: recovery)
  }

  /// How the prompt ended, as the audit records it.
  package var promptOutcome: PromptOutcome? { promptEnd.map { PromptOutcome(rawValue: $0.rawValue) } }
}
