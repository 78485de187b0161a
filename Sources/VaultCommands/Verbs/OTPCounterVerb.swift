import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit

/// `vaultctl otp counter NAME`.
func runOTPCounter(_ command: Command) throws -> Outcome {
  let item = try command.credential()
  guard item.isCounterBased else {
    throw CommandError(
      .refused, "the credential follows the time and has no counter", hint: "look at 'vaultctl otp show'")
  }
  let core = try command.vault.opened()
  if let counter = command.invocation.number("set") {
    try core.setCounter(
      of: item.id, to: counter, force: command.invocation.has("force"),
      context: command.vault.context(for: item))
  } else if command.invocation.has("force") {
    throw CommandError.usage("--force needs --set N")
  }
  let state = try core.read { try $0.state(of: item.id) }
  return Outcome(
    json: .object([
      ("name", .string(item.name ?? "")), ("counter", .unsigned(state.counter)),
      ("needsResync", .boolean(state.needsResync)),
    ]),
    lines: [String(state.counter)])
}

/// `vaultctl otp confirm NAME`: only a change of a camouflaged PIN waits for one, and this version makes none.
func runOTPConfirm(_ command: Command) throws -> Outcome {
  _ = try command.credential()
  throw CommandError(.refused, "the credential has no camouflaged PIN, so there is nothing to confirm")
}
