import SecretMemory
import VaultKit

/// `vaultctl init`: the only command that makes a vault or a device key.
func runInit(_ command: Command) throws -> Outcome {
  let path = try command.places.vault
  if command.invocation.has("recovery-code"), command.invocation.has("no-recovery-code") {
    throw CommandError.usage("--recovery-code and --no-recovery-code contradict each other")
  }
  let passcode = try newPasscode(command)
  guard command.invocation.has("recovery-code") else {
    let core = try VaultCore.create(
      at: path, protector: command.places.newProtector(), passcode: passcode.map { try Passcode($0.copy()) },
      environment: command.vaultWorld)
    return try made(core, at: path, passcode != nil, command)
  }
  try makeWithCode(at: path, passcode, command)
  // It was printed before the vault was there.
  return Outcome(json: nil)
}

/// Makes a vault whose recovery code is printed before the vault gets its name: no failure leaves a vault with a code that
/// nobody has seen.
private func makeWithCode(at path: String, _ passcode: SecretBox?, _ command: Command) throws {
  var isShown = false
  do {
    _ = try VaultCore.create(
      at: path, protector: command.places.newProtector(), passcode: passcode.map { try Passcode($0.copy()) },
      recovery: { (code: borrowing RecoveryCode, outline: VaultOutline) throws(VaultError) in
        do throws(CommandError) {
          isShown = true
          command.messages.note("write the recovery code down now, it is never shown again")
          try command.emit(outcome(command, outline, passcode != nil, SecretBox(code.text), at: path))
        } catch { throw VaultError(.io, error.message) }
      }, environment: command.vaultWorld)
  } catch {
    guard isShown else { throw error }
    var described = CommandError(describing: error)
    let state =
      "if there is a vault at \(printable(path)) now, the recovery code that was printed is its code; "
      + "without a vault it opens nothing"
    described.hint = described.hint.map { "\($0); \(state)" } ?? state
    throw described
  }
}

/// The result for a new vault without a recovery code, and the offer to make one on a terminal.
private func made(
  _ core: VaultCore, at path: String, _ hasPasscode: Bool, _ command: Command
) throws -> Outcome {
  let outcome = outcome(command, try VaultCore.outline(at: path), hasPasscode, nil, at: path)
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
private func newPasscode(_ command: Command) throws -> SecretBox? {
  guard command.invocation.has("no-passcode") else {
    do throws(CommandError) {
      return SecretBox(try command.secrets.secret(.passcode, isNew: true))
    } catch {
      guard error.exit == .interactionNotAllowed else { throw error }
      throw CommandError(
        error.exit, error.message, hint: "give --passcode-fd N or --passcode-file PATH, or --no-passcode",
        code: error.code)
    }
  }
  for option in ["passcode-fd", "passcode-file"] where command.invocation.has(option) {
    throw CommandError.usage("--no-passcode and --\(option) contradict each other")
  }
  return nil
}

private func warnOfNoCode(_ command: Command) {
  command.messages.note(
    "without a recovery code, losing the device key means losing everything: make one with "
      + "'vaultctl recovery-code new', or keep a copy of the key elsewhere"
  )
}

private func outcome(
  _ command: Command, _ outline: VaultOutline, _ hasPasscode: Bool, _ code: SecretBox?, at path: String
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
  fields.append(("passcode", .boolean(hasPasscode)))
  pieces.append(.text("passcode       \(hasPasscode ? "yes" : "no")\n"))
  if let code {
    fields.append(("recoveryCode", .secretText(code)))
    pieces += [.text("recovery code  "), .secret(code), .text("\n")]
  }
  return Outcome(json: .object(fields), pieces: pieces)
}
