import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit

/// `vaultctl passcode set`. Forgets what a former holder of the device key could have planted.
func runPasscodeSet(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened()
  guard !core.hasPasscode else { throw alreadySet }
  let choice = try recoveryChoice(command, core)
  let new = try newPasscode(command, core)
  let isGuessable = command.warnIfGuessable(new.box.copy(), "passcode")
  let forgotten = try core.setPasscode(new.passcode(), recovery: choice)
  let outcome = outcome(forgotten, isGuessable)
  guard forgotten.recoveryCode else { return outcome }
  command.messages.note("the old recovery code no longer opens the vault")
  guard command.mayOffer else {
    command.messages.note("make a new one with 'vaultctl recovery-code new'")
    return outcome
  }
  // The passcode is set, whatever the answer is.
  try command.emit(outcome)
  if try !command.offerRecoveryCode(to: core) {
    command.messages.note("make one later with 'vaultctl recovery-code new'")
  }
  return Outcome(json: nil)
}

private func newPasscode(_ command: Command, _ core: VaultCore) throws -> ShownSecret {
  try command.vault.secret(.newPasscode, of: .newPasscode, for: core) { secrets throws(CommandError) in
    try secrets.secret(.newPasscode, isNew: true)
  }
}

/// Whether the vault's recovery code is kept or dropped; `nil` when it has none.
private func recoveryChoice(_ command: Command, _ core: VaultCore) throws -> RecoveryChoice? {
  if command.invocation.has("drop-recovery-code") {
    for option in ["recovery-fd", "recovery-file"] where command.invocation.has(option) {
      throw CommandError.usage("--drop-recovery-code and --\(option) contradict each other")
    }
    return .drop
  }
  let isAsked = command.secrets.willAsk(.recovery)
  guard try !isAsked || core.status().hasRecoveryCode else { return nil }
  if isAsked {
    command.messages.note(
      "the vault has a recovery code: type it to keep it, or press Return to drop it")
  }
  let typed: SecretBytes?
  do {
    typed = try command.vault.loggingPrompt(for: .recoveryCode, core) {
      try command.secrets.answer(.recovery, to: "keep the recovery code", emptyAnswer: "drops the code")
    }
  } catch let error as CommandError where isAsked && error.exit == .interactionNotAllowed {
    throw CommandError(
      .refused, "the vault has a recovery code: somebody else could have made it while there was no passcode",
      hint: "keep it with --recovery-fd N or --recovery-file PATH, or drop it with --drop-recovery-code")
  }
  guard let typed else {
    core.logPrompt(for: .recoveryCode, ended: .cancelled, result: .cancelled)
    return .drop
  }
  var code = try RecoveryCode(text: typed)
  code.shown = isAsked ? .typed : .given
  try core.checkRecoveryHalf(of: code)
  return .keep(code)
}

private func outcome(_ forgotten: ForgottenTrust, _ isGuessable: Bool) -> Outcome {
  var lines = forgotten.members.map { "forgot  member \(printable($0))" }
  if forgotten.factors > 0 { lines.append("forgot  \(forgotten.factors) factors") }
  if forgotten.auditRoots > 0 { lines.append("forgot  \(forgotten.auditRoots) audit roots") }
  if forgotten.recoveryCode { lines.append("forgot  recovery code") }
  let forgot = JSON.object([
    ("members", .array(forgotten.members.map { .string($0) })),
    ("factors", .integer(Int64(forgotten.factors))), ("auditRoots", .integer(Int64(forgotten.auditRoots))),
    ("recoveryCode", .boolean(forgotten.recoveryCode)),
  ])
  return Outcome(
    json: .object([
      ("passcode", .boolean(true)), ("passcodeGuessable", .boolean(isGuessable)), ("forgot", forgot),
    ]), lines: lines)
}

/// `vaultctl passcode change`.
func runPasscodeChange(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened()
  guard core.hasPasscode else { throw notSet }
  // The old one is judged before the new one is typed twice.
  let (old, checked) = try command.vault.judging(core, to: "change the passcode") { old in
    (old.box, try core.checked(old.passcode()))
  }
  let new = try newPasscode(command, core)
  guard !old.copy().isEqualInConstantTime(to: new.box.copy()) else {
    throw CommandError(
      .refused, "the new passcode is the old one", hint: "nothing was changed; choose another")
  }
  let isGuessable = command.warnIfGuessable(new.box.copy(), "passcode")
  try core.changePasscode(from: checked, to: new.passcode())
  return Outcome(
    json: .object([("passcode", .boolean(true)), ("passcodeGuessable", .boolean(isGuessable))]))
}

/// `vaultctl passcode remove`: what dies with it is named before the passcode is asked for, and in the result.
func runPasscodeRemove(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened()
  guard core.hasPasscode else { throw notSet }
  let dying = try core.itemsBehindPasscode().items
  for item in dying {
    command.messages.note(
      "this destroys '\(item.name ?? item.id.hexadecimal)', which opens with a passcode set only")
  }
  // Who types the passcode agrees to the list just shown; a script has agreed to whatever there is.
  let isAsked = command.secrets.willAsk(.passcode)
  let destroyed = try command.vault.judging(core, to: "remove the passcode") { passcode in
    try core.removePasscode(passcode.passcode(), expecting: isAsked ? dying.count : .max)
  }
  return outcome(destroyed)
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
