import SecretMemory
import VaultKit

/// `vaultctl passcode set`.
func runPasscodeSet(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened()
  guard !core.hasPasscode else { throw alreadySet }
  try core.setPasscode(Passcode(command.secrets.secret(.newPasscode, isNew: true)))
  return Outcome(json: .object([("passcode", .boolean(true))]))
}

/// `vaultctl passcode change`.
func runPasscodeChange(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened()
  guard core.hasPasscode else { throw notSet }
  try command.vault.endDelay(core)
  let old = try command.secrets.secret(.passcode)
  let new = try command.secrets.secret(.newPasscode, isNew: true)
  guard !old.isEqualInConstantTime(to: new) else {
    throw CommandError(
      .refused, "the new passcode is the old one", hint: "nothing was changed; choose another")
  }
  try core.changePasscode(from: Passcode(old), to: Passcode(new))
  return Outcome(json: .object([("passcode", .boolean(true))]))
}

/// `vaultctl passcode remove`: what dies with it is named before the passcode is asked for, and in the result.
func runPasscodeRemove(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened()
  guard core.hasPasscode else { throw notSet }
  try command.vault.endDelay(core)
  let dying = try core.itemsBehindPasscode().items
  for item in dying {
    command.messages.note(
      "this destroys '\(item.name ?? item.id.hexadecimal)', which opens with a passcode set only")
  }
  // Who types the passcode agrees to the list just shown; a script has agreed to whatever there is.
  let isAsked = command.secrets.willAsk(.passcode)
  let passcode = try Passcode(command.secrets.secret(.passcode))
  return outcome(try core.removePasscode(passcode, expecting: isAsked ? dying.count : .max))
}

private func outcome(_ destroyed: DestroyedItems) -> Outcome {
  let items = destroyed.items.map { item in
    JSON.object([("id", .string(item.id.hexadecimal))] + JSON.optional("name", item.name.map { .string($0) }))
  }
  return Outcome(
    json: .object([("passcode", .boolean(false)), ("destroyed", .array(items))]),
    lines: destroyed.items.map { "destroyed  " + printable($0.name ?? $0.id.hexadecimal) })
}

private var alreadySet: CommandError {
  CommandError(
    .alreadyExists, "a passcode is set already", hint: "change it with 'vaultctl passcode change'",
    code: "passcodeExists")
}

private var notSet: CommandError {
  CommandError(.refused, "no passcode is set", hint: "set one with 'vaultctl passcode set'")
}
