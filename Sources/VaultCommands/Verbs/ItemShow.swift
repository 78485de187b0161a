import CommandLineKit
import VaultKit
import VaultWords

/// `vaultctl item show NAME`.
enum ItemShow: VaultVerb {
  static let words = ["item", "show"]
  static let summary = "Show everything about an item but its secret."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let example = "vaultctl item show mail"

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.target()
    let moment = try command.vault.opened().expiryMoment()
    return Outcome(
      json: try command.withEnforcement(item.json(at: moment), of: item),
      lines: item.lines(at: moment, adding: try command.enforcementFacts(of: item)))
  }
}
