import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl init`: the only command that makes a vault or a device key.
enum Init: VaultVerb {
  static let words = ["init"]
  static let summary = "Create a vault and its device key. No other command creates one."
  static let protector = ItemOptions.protector("What keeps the device key.", defaultValue: "file")
  static let noPasscode = Flag("no-passcode", "Guard the vault by its device key alone.")
  static let recoveryCode = Flag("recovery-code", "Make a recovery code and show it once.")
  static let noRecoveryCode = Flag(
    "no-recovery-code", "Do not offer to make a recovery code on the terminal.")
  static let ownOptions: [any OptionKey] = [protector, noPasscode, recoveryCode, noRecoveryCode]
  static let channels = [SecretChannel.passcode]
  static let needs = VaultNeed.noVault
  static let runsIn = RunPlace.client
  static let usesClock = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused, .deviceKey, .noVault, .malformed]
  static let notes = [
    SecretStrength.guessableNote + " With --json: passcodeGuessable.",
    "The device key is never in the directory of the vault. Without the device key, a recovery code "
      + "or a backup, everything in the vault is lost: copy the key to a safe place.",
    "On a terminal, init offers to make a recovery code as 'recovery-code new' does. --recovery-code prints one with the result, "
      + "just before the vault gets its name: when the command fails after that, the code opens the vault if there is one. "
      + "When standard output cannot be written, nothing is created (13).",
    "With --protector secret-service the desktop's keyring keeps it, in its default collection. Where that is locked, "
      + "does not answer or is not there, nothing is created (11). The key is not put into a file instead.",
  ]
  static let examples = [
    "vaultctl init --passcode-file pass --recovery-code",
    "vaultctl init --vault work.vault --passcode-fd 3 3<pass",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    let path = try command.places.vault
    if command[recoveryCode], command[noRecoveryCode] {
      throw CommandError.usage("--recovery-code and --no-recovery-code contradict each other")
    }
    try refuseContradiction(command)
    // Checked before a person thinks of a passcode; making the vault replaces nothing either.
    try FilePlace.refuseSideFile(path)
    guard try !FilePlace.exists(path) else {
      throw CommandError(
        .alreadyExists, "there is something at \(printable(path)) already",
        hint: "choose another path with --vault", code: VaultError.Code.vaultExists.rawValue)
    }
    let passcode = try newPasscode(command)
    let isGuessable = passcode.map { command.warnIfGuessable($0.copy(), what: "passcode") }
    command.world.interruption.watch()
    guard command[recoveryCode] else {
      let core = try VaultCore.create(
        at: path, protector: command.places.newProtector(command[Init.protector]),
        passcode: passcode.map { try Passcode($0.copy()) },
        environment: command.vaultWorld, publishing: command.world.interruption.hold)
      return try made(core, at: path, isGuessable: isGuessable, command: command)
    }
    try makeWithCode(at: path, passcode, isGuessable: isGuessable, command: command)
    command.nameNextSteps()
    // It was printed before the vault was there.
    return Outcome(json: nil)
  }
}

/// Makes a vault whose recovery code is printed before the vault gets its name: no failure leaves a vault with a code that
/// nobody has seen.
private func makeWithCode(
  at path: String, _ passcode: SharedSecret?, isGuessable: Bool?, command: Command
) throws {
  var unwritten: CommandError?
  var isShown = false
  do {
    _ = try VaultCore.create(
      at: path, protector: command.places.newProtector(command[Init.protector]),
      passcode: passcode.map { try Passcode($0.copy()) },
      recovery: { (code: borrowing RecoveryCode, outline: VaultOutline) throws(VaultError) in
        do throws(CommandError) {
          try command.emit(
            outcome(
              command, outline: outline, isGuessable: isGuessable, code: SharedSecret(code.text), at: path))
        } catch {
          unwritten = error
          throw VaultError(.io, error.message)
        }
        isShown = true
        command.messages.note("write the recovery code down now, it is never shown again")
      }, environment: command.vaultWorld, publishing: command.world.interruption.hold)
  } catch {
    if let unwritten { throw notMade(unwritten) }
    guard isShown else { throw error }
    var described = CommandError(describing: error)
    let state =
      "if there is a vault at \(printable(path)) now, the recovery code that was printed is its code; "
      + "without a vault it opens nothing"
    described.hint = described.hint.map { "\($0); \(state)" } ?? state
    throw described
  }
}

/// The code must be read before it works. What may have been written of it opens nothing.
private func notMade(_ error: CommandError) -> CommandError {
  CommandError(
    error.exit, "the recovery code could not be written, and no vault was made: \(error.message)",
    hint: "repair standard output and try again; or run 'vaultctl init --no-recovery-code', then "
      + "'vaultctl recovery-code new'", code: error.code)
}

/// The result for a new vault without a recovery code, and the offer to make one on a terminal.
private func made(
  _ core: VaultCore, at path: String, isGuessable: Bool?, command: Command
) throws -> Outcome {
  let outcome = outcome(
    command, outline: try VaultCore.outline(at: path), isGuessable: isGuessable, code: nil, at: path)
  guard !command[Init.noRecoveryCode], command.mayOffer else {
    warnOfNoCode(command)
    if command.isTyped {
      try command.emit(outcome)
      command.nameNextSteps()
      return Outcome(json: nil)
    }
    return outcome
  }
  // The vault exists, whatever the answer is.
  try command.emit(outcome)
  try command.world.interruption.release()
  do {
    if try !command.offerRecoveryCode(to: core) { warnOfNoCode(command) }
  } catch {
    let told = CommandError(describing: error)
    guard told.exit == .cancelled else { throw error }
    throw CommandError(
      .cancelled, "the vault exists without a recovery code: 'vaultctl recovery-code new' makes one",
      code: told.code, prompt: told.promptOutcome)
  }
  command.nameNextSteps()
  return Outcome(json: nil)
}

extension Command {
  /// What a person at a terminal does with a new vault first.
  fileprivate func nameNextSteps() {
    guard isTyped else { return }
    messages.note(has(CommonOptions.vault) ? "next, with the same --vault:" : "next:")
    for (line, purpose) in [
      ("vaultctl add NAME", "store a password, or have one generated"),
      ("vaultctl get NAME -c", "copy it"),
      ("vaultctl backup FILE", "keep a copy of the vault in another place"),
    ] {
      messages.note("  " + line + String(repeating: " ", count: 22 - line.utf8.count) + purpose)
    }
  }
}

/// The passcode to set, or nil for `--no-passcode`.
private func newPasscode(_ command: Command) throws -> SharedSecret? {
  guard command[Init.noPasscode] else {
    do throws(CommandError) {
      return SharedSecret(try command.secrets.secret(.passcode, isNew: true))
    } catch {
      guard error.exit == .interactionNotAllowed else { throw error }
      throw CommandError(
        error.exit, error.message, hint: "give --passcode-fd N or --passcode-file PATH",
        code: error.code)
    }
  }
  return nil
}

private func refuseContradiction(_ command: Command) throws(CommandError) {
  guard command[Init.noPasscode] else { return }
  for option in SecretChannel.passcode.options.options where command.invocation.has(option) {
    throw .usage("--no-passcode and --\(option.name) contradict each other")
  }
}

private func warnOfNoCode(_ command: Command) {
  command.messages.note(
    "without a recovery code, losing the device key means losing everything: make one with "
      + "'vaultctl recovery-code new', or keep a copy of the key elsewhere"
  )
}

/// - Parameter isGuessable: Whether the passcode is; `nil` without one.
private func outcome(
  _ command: Command, outline: VaultOutline, isGuessable: Bool?, code: SharedSecret?, at path: String
) -> Outcome {
  let protector = outline.protector.word
  var fields: [(String, JSON)] = [("path", .string(path)), ("protector", .string(protector))]
  var pieces: [Outcome.Piece] = [
    .text("vault          \(printable(path))\n"), .text("protector      \(protector)\n"),
  ]
  if let keyPath = command.places.keyPath(of: outline) {
    fields.append(("deviceKey", .string(keyPath)))
    pieces.append(.text("device key     \(printable(keyPath))\n"))
  }
  fields.append(("passcode", .boolean(isGuessable != nil)))
  fields += JSON.optional("passcodeGuessable", isGuessable.map { .boolean($0) })
  pieces.append(.text("passcode       \(isGuessable == nil ? "no" : "yes")\n"))
  if let code {
    fields.append(("recoveryCode", .secretText(code)))
    pieces += [.text("recovery code  "), .secret(code), .text("\n")]
  }
  return Outcome(json: .object(fields), pieces: pieces)
}
