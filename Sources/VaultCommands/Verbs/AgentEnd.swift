import CommandLineKit
import TextFormats

/// `vaultctl agent stop`.
enum AgentEnd: VaultVerb {
  static let words = ["agent", "stop"]
  static let summary = "Lock every vault and end the agent."
  static let needs = VaultNeed.noVault
  static let notes = [
    "Commands that it runs meanwhile end before their commit. Where no agent runs there is nothing to do (0). With --json: stopped, "
      + "false where none ran. An agent of a socket unit starts again at the next command: stop vaultd.socket as well."
  ]
  static let examples = [
    "vaultctl agent stop",
    "vaultctl agent stop --json",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    guard !command.world.isKeeper else { throw CommandError(.io, "an administrator ends the keeper") }
    command.world.agent?.stop()
    let wasRunning = command.world.agent != nil
    return Outcome(
      json: .object { Field("stopped", wasRunning) },
      lines: [wasRunning ? "the agent ends" : "no agent is running"])
  }
}
