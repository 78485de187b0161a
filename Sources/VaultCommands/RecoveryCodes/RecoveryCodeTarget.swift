import Glibc
import SecretMemory
import VaultKit
import VaultPrompts
import CommandLineKit
import VaultWords

/// Where a new recovery code goes.
enum RecoveryCodeTarget {
  case terminal
  case file(String)

  static let out = Setting(
    "out", short: "o", .path, "FILE",
    "Write the code to a new file of mode 0600 instead of showing it on the terminal.")

  /// The place that `--out` names, or the terminal. An obstacle is reported before anything is asked.
  init(_ command: Command) throws(CommandError) {
    if let path = command[Self.out] {
      try NewSecretFile.refuseTaken(path, named: "recovery code", on: command.world.host)
      self = .file(path)
      return
    }
    let terminal = try command.world.localHost().terminalPath
    let why =
      command.invocation.mayPrompt
      ? Terminal.obstacle(at: terminal)?.obstacle : "asking is switched off"
    if let why {
      throw CommandError(
        .interactionNotAllowed, "a recovery code is shown on a terminal, and \(why)",
        hint: "write it to a new file with --out FILE")
    }
    self = .terminal
  }
}
