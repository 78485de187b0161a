import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl lock`: works without the vault, its file may be gone.
enum Lock: VaultVerb {
  static let words = ["lock"]
  static let summary = "Lock the vault in the agent."
  static let all = Flag("all", short: "a", "Lock every vault that the agent has open.")
  static let ownOptions: [any OptionKey] = [all]
  static let needs = VaultNeed.noVault
  static let ownExits: [ExitCode] = [.io]
  static let notes = [
    "The keys are wiped before it ends; the log of the vault gets its entry after that. A command that uses the vault meanwhile "
      + "ends as it does in a locked vault (6). A vault that is locked already stays so (0).",
    "With --json: locked, the paths of the vaults that were unlocked; empty where none was.",
  ]
  static let examples = [
    "vaultctl lock",
    "vaultctl lock --all",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    guard let agent = command.world.agent else { throw CommandError.noAgent }
    let locked = agent.lock(everything: command[all])
    return Outcome(
      json: .object { Field("locked", .array(locked.map { .string($0) })) },
      lines: locked.isEmpty
        ? [command[all] ? "no vault was unlocked" : "the vault was not unlocked"]
        : locked.map { "locked  " + printable($0) })
  }
}
