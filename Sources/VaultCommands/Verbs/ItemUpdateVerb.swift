import CommandLineKit
import SecretMemory
import VaultKit

/// `vaultctl item update NAME`.
func runItemUpdate(_ command: Command) throws -> Outcome {
  let item = try command.vault.opened().read { try command.target(in: &$0) }
  guard item.kind == .genericPassword || item.kind == .internetPassword else {
    throw CommandError(
      .refused, "the secret of an item of kind \(item.kind.word) is not exchanged here",
      hint: "delete the item and add it anew")
  }
  let typed =
    command.invocation.has("generate") ? nil : try command.vault.unlockBeforeTyping(item.access)
  let secret = try command.newSecret()
  let updated = try command.vault.unlocking {
    try $0.update(
      item.id, ItemChanges(), secret: secret.copy(),
      context: command.vault.context(for: item.access, after: typed))
  }
  return Outcome(json: command.withEntropy(updated.json))
}
