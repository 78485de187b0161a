import SecretMemory
import VaultKit

/// `vaultctl rotate parameters`: the same passcode, derived anew with the parameters and a salt of this version.
func runRotateParameters(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened()
  guard core.hasPasscode else {
    throw CommandError(
      .refused, "no passcode is set, so nothing is derived", hint: "set one with 'vaultctl passcode set'")
  }
  try command.vault.endDelay(core)
  let passcode = try command.secrets.secret(.passcode)
  let same = passcode.copy()
  try core.changePasscode(from: Passcode(passcode), to: Passcode(same))
  guard let now = try core.status().derivation else { return Outcome(json: .object([])) }
  return Outcome(
    json: .object([
      ("memoryKiB", .integer(Int64(now.memoryKiB))), ("passes", .integer(Int64(now.passes))),
      ("lanes", .integer(Int64(now.lanes))),
    ]),
    lines: ["memory  \(now.memoryKiB) KiB", "passes  \(now.passes)", "lanes   \(now.lanes)"])
}
