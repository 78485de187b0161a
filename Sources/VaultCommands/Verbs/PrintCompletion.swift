import CommandLineKit
import TextFormats

/// `vaultctl completion SHELL`.
enum PrintCompletion: VaultVerb {
  static let words = ["completion"]
  static let summary = "Print the completion script of a shell."
  static let shell = Argument("SHELL", .choice(["bash", "zsh", "fish"]), "bash, zsh or fish.")
  static let arguments = [shell]
  static let needs = VaultNeed.noVault
  static let runsIn = RunPlace.anywhere
  static let examples = [
    "vaultctl completion bash > vaultctl.bash",
    "vaultctl completion zsh > _vaultctl",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    guard let shell = Completion.Shell(rawValue: command.required(shell)) else {
      preconditionFailure("PrintCompletion.run(_:): the choice has a word that is no shell")
    }
    let script = Completion(of: VerbTable.program).script(for: shell)
    return Outcome(
      json: .object {
        Field("shell", shell.rawValue)
        Field("script", script)
      },
      pieces: [.text(script)])
  }
}
