import VaultKit

/// `vaultctl item show NAME`.
func runItemShow(_ command: Command) throws -> Outcome {
  let item = try command.vault.opened().read { try command.target(in: &$0) }
  return Outcome(json: item.json, lines: item.lines())
}
