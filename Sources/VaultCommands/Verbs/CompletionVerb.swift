import CommandLineKit
import TextFormats

/// `vaultctl completion SHELL`.
func runCompletion(_ command: Command) throws -> Outcome {
  guard let shell = command.invocation.argument("SHELL").flatMap(Completion.init(rawValue:)) else {
    throw CommandError.usage("SHELL is missing")
  }
  return Outcome(
    json: .object([("shell", .string(shell.rawValue)), ("script", .string(shell.script))]),
    pieces: [.text(shell.script)])
}
