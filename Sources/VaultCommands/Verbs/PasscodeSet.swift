import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl passcode set`. Forgets what a former holder of the device key could have planted.
enum PasscodeSet: VaultVerb {
  static let words = ["passcode", "set"]
  static let summary = "Set the first passcode of a vault that has none."
  static let dropRecoveryCode = Flag(
    "drop-recovery-code", "Drop the recovery code of the vault: it no longer works.")
  static let ownOptions: [any OptionKey] = [dropRecoveryCode]
  static let channels: [SecretChannel] = [.newPasscode, .recovery]
  static let runsIn = RunPlace.client
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused]
  static let notes = [
    "While a vault has no passcode, a person who has its file and its device key can plant members and keys in it. So this "
      + "command forgets members, factors and the audit roots of later segments, and lists what it forgot.",
    "When the vault has a recovery code, you are asked for it. The right code stays valid; a wrong one exits with 3 and changes "
      + "nothing. An empty answer, or --drop-recovery-code, drops the code. Without a terminal one of the options must be given (else 9).",
    SecretStrength.guessableNote,
    "With --json: passcode, passcodeGuessable, and forgot with members, factors, auditRoots and recoveryCode.",
  ]
  static let examples = [
    "printf %s 'correct horse' | vaultctl passcode set --new-passcode-fd 0",
    "vaultctl passcode set --new-passcode-file new",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    let core = try command.vault.opened()
    guard !core.hasPasscode else { throw alreadySet }
    let choice = try recoveryChoice(command, core: core)
    let new = try command.newPasscode(core)
    let isGuessable = command.warnIfGuessable(new.box.copy(), what: "passcode")
    let forgotten = try core.setPasscode(new.passcode(), recovery: choice)
    let outcome = outcome(forgotten, isGuessable: isGuessable)
    guard forgotten.recoveryCode else { return outcome }
    command.messages.note("the old recovery code no longer opens the vault")
    guard command.mayOffer else {
      command.messages.note("make a new one with 'vaultctl recovery-code new'")
      return outcome
    }
    // The passcode is set, whatever the answer is.
    try command.emit(outcome)
    try command.world.interruption.release()
    if try !command.offerRecoveryCode(to: core) {
      command.messages.note("make one later with 'vaultctl recovery-code new'")
    }
    return Outcome(json: nil)
  }
}

/// Whether the vault's recovery code is kept or dropped; `nil` when it has none.
private func recoveryChoice(_ command: Command, core: VaultCore) throws -> RecoveryChoice? {
  if command[PasscodeSet.dropRecoveryCode] {
    for option in SecretChannel.recovery.options.options where command.invocation.has(option) {
      throw CommandError.usage("--drop-recovery-code and --\(option.name) contradict each other")
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

private func outcome(_ forgotten: ForgottenTrust, isGuessable: Bool) -> Outcome {
  var lines = forgotten.members.map { "forgot  member \(printable($0))" }
  if forgotten.factors > 0 { lines.append("forgot  \(forgotten.factors) factors") }
  if forgotten.auditRoots > 0 { lines.append("forgot  \(forgotten.auditRoots) audit roots") }
  if forgotten.recoveryCode { lines.append("forgot  recovery code") }
  let forgot = JSON.object {
    Field("members", .array(forgotten.members.map { .string($0) }))
    Field("factors", forgotten.factors)
    Field("auditRoots", forgotten.auditRoots)
    Field("recoveryCode", forgotten.recoveryCode)
  }
  return Outcome(
    json: .object {
      Field("passcode", true)
      Field("passcodeGuessable", isGuessable)
      Field("forgot", forgot)
    }, lines: lines)
}

private var alreadySet: CommandError {
  CommandError(
    .alreadyExists, "a passcode is set already", hint: "change it with 'vaultctl passcode change'",
    code: "passcodeExists")
}
