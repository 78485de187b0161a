import VaultKit

/// `vaultctl item rm NAME`.
func runItemRemove(_ command: Command) throws -> Outcome { try remove(command, kind: nil) }

/// Deletes one item. Nothing is asked: deleting needs no passcode.
func remove(_ command: Command, kind: ItemKind?) throws -> Outcome {
  let item = try command.vault.opened().write { transaction in
    let item = try command.target(in: &transaction, kind: kind)
    try transaction.delete(item.id)
    return item
  }
  return Outcome(json: .object([("id", .string(item.id.hexadecimal)), ("deleted", .boolean(true))]))
}
