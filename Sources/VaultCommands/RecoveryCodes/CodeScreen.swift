import Glibc
import SecretMemory
import VaultKit
import VaultPrompts
import CommandLineKit
import VaultWords

/// Shows a new recovery code on the terminal itself, and checks that it was written down.
struct CodeScreen {
  let command: Command

  /// Shows the code, and returns when its last two groups were typed. Meanwhile no transaction is open.
  ///
  /// - Throws: exit 5 after three wrong answers, and when the person declines; 6 without a terminal.
  func show(_ code: borrowing RecoveryCode) throws(CommandError) {
    let path = try command.world.localHost().terminalPath
    do throws(TerminalError) {
      let terminal = try Terminal(path: path)
      for round in 0..<Self.rounds {
        let typed = try terminal.readLine("\(action): the last two groups: ", limit: Self.longestAnswer) {
          terminal throws(TerminalError) in
          guard round == 0 else { return try terminal.showLine("Those are not its last two groups.") }
          try write(code, on: terminal)
        }
        if code.endsWith(typed) { return }
      }
    } catch {
      switch error {
      case .cancelled: throw declined("cancelled at the prompt for the last two groups", outcome: .cancelled)
      case .timedOut: throw declined("nobody answered the prompt for the last two groups", outcome: .timeout)
      case .tooLong, .severalLines:
        throw declined("the answer is longer than a recovery code", outcome: .answered)
      case .busy: throw declined("another prompt stayed open", outcome: nil)
      case .noTerminal:
        throw CommandError(
          .interactionNotAllowed, "the recovery code could not be shown: the terminal is gone",
          hint: Self.state)
      case .background, .inUse, .noLock:
        throw CommandError(.interactionNotAllowed, error.obstacle ?? "nobody can be asked", hint: Self.state)
      case .signalled: throw declined("a signal ended the prompt for the last two groups", outcome: .signal)
      }
    }
    throw declined("the last two groups did not match \(Self.rounds) times", outcome: .answered)
  }

  private func write(
    _ code: borrowing RecoveryCode, on terminal: borrowing Terminal
  ) throws(TerminalError) {
    try terminal.showLine("\(action): the new recovery code, which is not shown again:")
    terminal.show("    ")
    try terminal.show(code.text)
    try terminal.showLine("")
    try terminal.showLine("Write it down. It becomes valid when you type its last two groups.")
  }

  private func declined(_ why: String, outcome: PromptOutcome?) -> CommandError {
    CommandError(.cancelled, why + ": no recovery code was made", hint: Self.state, prompt: outcome)
  }

  private var action: String { "vaultctl \(command.verb.name)" }

  private static let state = "a code that was shown opens nothing; the vault is unchanged"
  private static let rounds = 3
  private static let longestAnswer = 100
}
