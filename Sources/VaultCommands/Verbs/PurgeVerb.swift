import SecretMemory
import VaultKit

/// `vaultctl purge`: new keys for everything, and a file written anew.
func runPurge(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened()
  let passcode = try command.passcodeToRotate(core)
  let progress = command.progress("purging")
  defer { progress.finish() }
  switch consume passcode {
  case .some(let typed): try core.purge(passcode: typed) { progress.update(done: $0.done, of: $0.total) }
  case .none: try core.purge { progress.update(done: $0.done, of: $0.total) }
  }
  return Outcome(
    json: .object([
      ("generation", .integer(Int64(try core.status().generation))), ("promise", .string(purgePromise)),
    ]),
    lines: [purgePromise])
}

/// Neither more nor less than what holds.
let purgePromise =
  "The vault and the device key as they are now open nothing that was deleted before, "
  + "if the old device key is really gone. Copies of the vault, backups and copies of the old device key "
  + "elsewhere still open what they did."
