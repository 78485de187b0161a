import CommandLineKit
import TextFormats
import VaultKit

/// `vaultctl item rm NAME`.
func runItemRemove(_ command: Command) throws -> Outcome { try remove(command, kind: nil) }

/// Deletes one item. Nothing is asked: deleting needs no passcode.
func remove(_ command: Command, kind: ItemKind?) throws -> Outcome {
  let id = try command.vault.opened().write { transaction in
    let id = try idToRemove(command, &transaction, kind)
    try transaction.delete(id)
    return id
  }
  return Outcome(json: .object([("id", .string(id.hexadecimal)), ("deleted", .boolean(true))]))
}

/// An item that does not open can be removed only by its identifier: its name cannot be compared.
private func idToRemove(
  _ command: Command, _ transaction: inout WriteTransaction, _ kind: ItemKind?
) throws -> ItemID {
  do { return try command.target(in: &transaction.reading, kind: kind).id } catch let error as VaultError
    where error.isUnreadable
  {
    if kind == nil, let id = command.invocation.text("id").flatMap({ ItemID(hexadecimal: $0) }) { return id }
    guard error.code == .damaged else { throw error }
    throw VaultError(
      error.code, error.message,
      hint: "'vaultctl verify' names the item; 'vaultctl item rm --id ID' removes it")
  }
}
