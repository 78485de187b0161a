import CommandLineKit
import TextFormats
import VaultWords

/// `vaultctl agent start`: starts `vaultd`, which is beside this program.
enum AgentBegin: VaultVerb {
  static let words = ["agent", "start"]
  static let summary = "Start the agent, unless it runs."
  static let needs = VaultNeed.noVault
  static let ownExits: [ExitCode] = [.refused, .unsupported]
  static let runsIn = RunPlace.client
  static let notes = [
    "The agent is the program vaultd beside vaultctl; it is not started where others can write to it or to its directory (9). It "
      + "listens in $XDG_RUNTIME_DIR/vaultctl, and belongs to no terminal and no shell. docs/systemd has units that start it at login.",
    "With --json: started, false where an agent ran already.",
  ]
  static let example = "vaultctl agent start"
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    let isNew = try AgentStart.start(command.world.agentProgram)
    return Outcome(
      json: .object { Field("started", isNew) },
      lines: [isNew ? "the agent listens" : "the agent is running already"])
  }
}
