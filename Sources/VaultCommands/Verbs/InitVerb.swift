import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit

/// `vaultctl init`: the only command that makes a vault or a device key.
func runInit(_ command: Command) throws -> Outcome {
  let path = try command.places.vault
  if command.invocation.has("recovery-code"), command.invocation.has("no-recovery-code") {
    throw CommandError.usage("--recovery-code and --no-recovery-code contradict each other")
  }
  try refuseContradiction(command)
  // Checked before a person thinks of a passcode; making the vault replaces nothing either.
  guard try !FilePlace.exists(path) else {
    throw CommandError(
      .alreadyExists, "there is something at \(printable(path)) already",
      hint: "choose another path with --vault", code: VaultError.Code.vaultExists.rawValue)
  }
  let passcode = try newPasscode(command)
  let isGuessable = passcode.map { command.warnIfGuessable($0.copy(), "passcode") }
  guard command.invocation.has("recovery-code") else {
    let core = try VaultCore.create(
      at: path, protector: command.places.newProtector(), passcode: passcode.map { try Passcode($0.copy()) },
      environment: command.vaultWorld)
    return try made(core, at: path, isGuessable, command)
  }
  try makeWithCode(at: path, passcode, isGuessable, command)
  // It was printed before the vault was there.
  return Outcome(json: nil)
}

/// Makes a vault whose recovery code is printed before the vault gets its name: no failure leaves a vault with a code that
/// nobody has seen.
private func makeWithCode(
  at path: String, _ passcode: SharedSecret?, _ isGuessable: Bool?, _ command: Command
) throws {
  var unwritten: CommandError?
  var isShown = false
  do {
    _ = try VaultCore.create(
      at: path, protector: command.places.newProtector(), passcode: passcode.map { try Passcode($0.copy()) },
      recovery: { (code: borrowing RecoveryCode, outline: VaultOutline) throws(VaultError) in
        do throws(CommandError) {
          try command.emit(outcome(command, outline, isGuessable, SharedSecret(code.text), at: path))
        } catch {
          unwritten = error
          throw VaultError(.io, error.message)
        }
        isShown = true
        command.messages.note("write the recovery code down now, it is never shown again")
      }, environment: command.vaultWorld)
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
  _ core: VaultCore, at path: String, _ isGuessable: Bool?, _ command: Command
) throws -> Outcome {
  let outcome = outcome(command, try VaultCore.outline(at: path), isGuessable, nil, at: path)
  guard !command.invocation.has("no-recovery-code"), command.mayOffer else {
    warnOfNoCode(command)
    return outcome
  }
  // The vault exists, whatever the answer is.
  try command.emit(outcome)
  if try !command.offerRecoveryCode(to: core) { warnOfNoCode(command) }
  return Outcome(json: nil)
}

/// The passcode to set, or nil for `--no-passcode`.
private func newPasscode(_ command: Command) throws -> SharedSecret? {
  guard command.invocation.has("no-passcode") else {
    do throws(CommandError) {
      return SharedSecret(try command.secrets.secret(.passcode, isNew: true))
    } catch {
      guard error.exit == .interactionNotAllowed else { throw error }
      throw CommandError(
        error.exit, error.message, hint: "give --passcode-fd N or --passcode-file PATH, or --no-passcode",
        code: error.code)
    }
  }
  return nil
}

private func refuseContradiction(_ command: Command) throws(CommandError) {
  guard command.invocation.has("no-passcode") else { return }
  for option in ["passcode-fd", "passcode-file"] where command.invocation.has(option) {
    throw .usage("--no-passcode and --\(option) contradict each other")
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
  _ command: Command, _ outline: VaultOutline, _ isGuessable: Bool?, _ code: SharedSecret?, at path: String
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
