import Glibc
import SecretMemory
import TextPreparation
import VaultKit

extension VaultError {
  /// The error that a caller sees when a terminal prompt has no answer.
  init(prompt error: TerminalError) {
    switch error {
    case .cancelled: self.init(.cancelled, "cancelled at the prompt")
    case .timedOut: self.init(.timedOut, "the prompt timed out")
    case .tooLong(let limit): self.init(.malformed, "the answer is longer than \(limit) bytes")
    case .severalLines:
      self.init(
        .malformed, "that has several lines, so none of it was used", hint: "type or paste one line",
        prompt: .answered)
    case .busy: self.init(.timedOut, "another prompt stayed open on this terminal", prompt: .notShown)
    case .noTerminal(let code):
      self.init(
        .interactionNotAllowed, error.obstacle!, hint: "start it on a terminal, or use pinentry",
        underlying: code)
    case .background:
      self.init(.interactionNotAllowed, error.obstacle!, hint: "bring it to the foreground: fg")
    case .inUse:
      self.init(
        .interactionNotAllowed, error.obstacle!,
        hint: "run it as a command of its own; if a program left the terminal in this state: stty sane")
    case .noLock:
      self.init(
        .interactionNotAllowed, error.obstacle!,
        hint: "check owner and mode of /run/user/\(geteuid()) and of ~/.local/state/vaultctl")
    case .signalled(let signal):
      self.init(.appCancelled, "a signal ended the prompt", underlying: signal, prompt: .signal)
    }
  }
}
