import SecretMemory
import VaultKit

/// `vaultctl rotate epoch`: a new generation of every stored key; goes on where a killed one stopped.
func runRotateEpoch(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened()
  let passcode = try command.passcodeToRotate(core)
  let progress = command.progress("rotating")
  defer { progress.finish() }
  switch consume passcode {
  case .some(let typed):
    try core.rotateEpoch(passcode: typed) { progress.update(done: $0.done, of: $0.total) }
  case .none: try core.rotateEpoch { progress.update(done: $0.done, of: $0.total) }
  }
  let status = try core.status()
  return Outcome(
    json: .object([
      ("generation", .integer(Int64(status.generation))), ("items", .integer(Int64(status.itemCount))),
    ]),
    lines: ["generation  \(status.generation)", "items       \(status.itemCount)"])
}

extension Command {
  /// The passcode, where one is set: what it guards is wrapped anew.
  func passcodeToRotate(_ core: VaultCore) throws -> Passcode? {
    guard core.hasPasscode else { return nil }
    try vault.endDelay(core)
    return try Passcode(secrets.secret(.passcode))
  }
}
