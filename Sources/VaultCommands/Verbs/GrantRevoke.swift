import CommandLineKit
import TextFormats
import VaultWords

/// `vaultctl agent revoke`.
enum GrantRevoke: VaultVerb {
  static let words = ["agent", "revoke"]
  static let summary = "End what a program may do again without asking."
  static let grant = Argument(
    "GRANT", .name, "The number of the grant, as 'vaultctl agent grants' shows it.", isRequired: false)
  static let all = Flag("all", short: "a", "End all grants.")
  static let arguments = [grant]
  static let ownOptions: [any OptionKey] = [all]
  static let needs = VaultNeed.noVault
  static let ownExits: [ExitCode] = [.io, .notFound]
  static let notes = [
    "A command that uses the grant at this moment is completed. 'vaultctl lock' ends all grants of a vault, too. With --json: revoked, how "
      + "many there were."
  ]
  static let examples = [
    "vaultctl agent revoke --all",
    "vaultctl agent revoke --all --json",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    let number = try number(command)
    guard let agent = command.world.agent else { throw CommandError.noAgent }
    let count = agent.revokeGrants(number)
    guard count > 0 || number == nil else {
      throw CommandError(
        .notFound, "there is no grant \(number!) any more",
        hint: "'vaultctl agent grants' shows those that there are",
        code: "grantNotFound")
    }
    return Outcome(
      json: .object { Field("revoked", Int64(count)) },
      lines: [count == 0 ? "there was no grant" : "ended \(count == 1 ? "1 grant" : "\(count) grants")"])
  }

  /// - Returns: nil for all.
  private static func number(_ command: Command) throws(CommandError) -> Int64? {
    guard let text = command[grant] else {
      guard command[all] else { throw .usage("GRANT or --all is missing") }
      return nil
    }
    guard !command[all] else { throw .usage("GRANT and --all contradict each other") }
    guard let number = Int64(text), number > 0 else { throw .usage("GRANT takes a number") }
    return number
  }
}
