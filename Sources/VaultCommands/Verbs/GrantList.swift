import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl agent grants`: never extends a lease.
enum GrantList: VaultVerb {
  static let words = ["agent", "grants"]
  static let summary = "List what programs may do again without asking."
  static let needs = VaultNeed.noVault
  static let ownExits: [ExitCode] = [.io]
  static let notes = [
    "A prompt for an item with the rule presence can be answered for a time or for some uses, where the agent or the keeper runs the "
      + "command. The grant is kept in memory for one program, and ends when the vault locks.",
    "With --json: grants, each with id, vault, item, itemId, operation, process, program, secondsLeft and usesLeft. program is absent where the "
      + "kernel does not say which file it is, as in the keeper; usesLeft is absent in a grant for a time.",
  ]
  static let examples = [
    "vaultctl agent grants",
    "vaultctl agent grants --json",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    guard let agent = command.world.agent else { throw CommandError.noAgent }
    let grants = agent.grants()
    return Outcome(
      json: .object { Field("grants", .array(grants.map(json))) },
      lines: grants.isEmpty ? ["no program may do anything without asking"] : grants.map(line))
  }

  private static func json(_ grant: AgentGrant) -> JSON {
    .object {
      Field("id", grant.number)
      Field("vault", grant.vault)
      Field("item", grant.item)
      Field("itemId", grant.itemID.hexadecimal)
      Field("operation", grant.operation)
      Field("process", Int64(grant.program.processID))
      Field("program", grant.program.executable)
      Field("secondsLeft", grant.left.components.seconds)
      Field("usesLeft", grant.usesLeft.map { Int64($0) })
    }
  }

  private static func line(_ grant: AgentGrant) -> String {
    let left =
      grant.usesLeft.map { $0 == 1 ? "once more" : "\($0) times more" }
      ?? "for \(Durations.text(seconds: grant.left.components.seconds))"
    let program = grant.program.executable.map { printable($0) + " " } ?? ""
    return "\(grant.number)  \(grant.operation) of '\(printable(grant.item))', \(left), by \(program)"
      + "(process \(grant.program.processID))"
  }
}
