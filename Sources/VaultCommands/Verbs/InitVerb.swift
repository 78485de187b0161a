import SecretMemory
import VaultKit

/// `vaultctl init`: the only command that makes a vault or a device key.
func runInit(_ command: Command) throws -> Outcome {
  let path = try command.places.vault
  if command.invocation.has("recovery-code"), command.invocation.has("no-recovery-code") {
    throw CommandError.usage("--recovery-code and --no-recovery-code contradict each other")
  }
  let passcode = try newPasscode(command)
  let created = try VaultCore.create(
    at: path, protector: command.places.newProtector(), passcode: passcode.map { try Passcode($0.copy()) },
    recovery: command.invocation.has("recovery-code"), environment: command.vaultWorld)
  var code: SecretBox?
  switch created.recoveryCode {
  case .some(let made): code = SecretBox(made.text)
  case .none: break
  }
  let outcome = outcome(command, try VaultCore.outline(at: path), passcode != nil, code, at: path)
  guard code == nil, !command.invocation.has("no-recovery-code"), command.mayOffer else {
    warn(command, hasRecoveryCode: code != nil)
    return outcome
  }
  // The vault exists, whatever the answer is.
  try command.emit(outcome)
  if try !command.offerRecoveryCode(to: created.core) { warn(command, hasRecoveryCode: false) }
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

private func warn(_ command: Command, hasRecoveryCode: Bool) {
  if hasRecoveryCode {
    command.messages.note("write the recovery code down now, it is never shown again")
  } else {
    command.messages.note(
      "without a recovery code, losing the device key means losing everything: make one with "
        + "'vaultctl recovery-code new', or keep a copy of the key elsewhere"
    )
  }
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
