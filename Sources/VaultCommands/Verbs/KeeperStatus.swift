import CommandLineKit
import TextFormats
import VaultWords

/// `vaultctl keeper status`: always in the keeper, whatever vault is named.
enum KeeperStatus: VaultVerb {
  static let words = ["keeper", "status"]
  static let summary = "Show whether the keeper runs, and whether its vault is unlocked."
  static let needs = VaultNeed.noVault
  static let ownExits: [ExitCode] = [.io, .refused]
  static let notes = [
    "The keeper is the agent under a user id of its own, which an administrator gives it: scripts/install-keeper. It has one vault, "
      + "which is named 'keeper:' in place of a path: vaultctl ls --vault keeper:. Where no keeper runs, it ends with 13.",
    "The administrator sets where the keeper asks a person, and no command changes it: vault-keeper(8). 'a yes' says what one is worth: where each "
      + "command asks by itself, the program that has started it can answer.",
    "With --json: as 'vaultctl agent status', where asks is client, terminal or finger; and yes (keeper or advisory), and logins, whether a login "
      + "password can be verified.",
  ]
  static let examples = [
    "vaultctl keeper status",
    "vaultctl keeper status --json",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    guard command.world.isKeeper, let status = command.world.agent?.status() else {
      throw CommandError(.io, "no keeper serves you", code: "noKeeper")
    }
    return AgentShowStatus.outcome(of: status, isKeeper: true)
  }
}
