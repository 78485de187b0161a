import CommandLineKit
import VaultKit

/// `vaultctl item show NAME`.
func runItemShow(_ command: Command) throws -> Outcome {
  let item = try command.vault.opened().read { try command.target(in: &$0) }
  return Outcome(
    json: try command.withEnforcement(item.json, of: item),
    lines: item.lines(adding: try command.enforcementFacts(of: item)))
}
