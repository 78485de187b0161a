import CommandLineKit
import VaultKit

/// `vaultctl item rename NAME NEW`.
///
/// An account that was only the old name by default becomes the new name, or the old one could not be used again.
func runItemRename(_ command: Command) throws -> Outcome {
  guard let new = command.invocation.argument("NEW") else { throw CommandError.usage("NEW is missing") }
  let item = try command.vault.unlocking { core in
    let item = try core.read { try command.target(in: &$0) }
    var changes = ItemChanges()
    changes.attributes[.name] = new
    if let old = item.name, item.attributes[.account] == old { changes.attributes[.account] = new }
    return try core.update(item.id, changes, context: command.vault.context(for: item))
  }
  return Outcome(json: item.json)
}
