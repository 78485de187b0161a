import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit
import VaultPrompts
import VaultWords

/// `vaultctl recovery-code new`: the code is on paper or in a file before it works.
enum RecoveryCodeNew: VaultVerb {
  static let words = ["recovery-code", "new"]
  static let summary = "Make a recovery code. The old one works until the new one does."
  static let ownOptions: [any OptionKey] = [RecoveryCodeTarget.out]
  static let needs = VaultNeed.unlocked
  static let runsIn = RunPlace.client
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused]
  static let notes = [
    "The code is shown on the terminal itself, never on standard output. It becomes valid when you type its last two groups. "
      + "Without a terminal the command exits with 6. After three wrong answers (5), or any other error, the code that was "
      + "shown opens nothing, and the old one works as before.",
    "With --out the file is on the disk before the code works. It is removed again when nothing was changed. When the disk or the "
      + "machine fails during the change, either code may be the valid one: 'vaultctl recovery-code verify' tells which.",
    "With --json: recoveryCode, replaced (whether there was one before), and file where --out named one.",
  ]
  static let examples = [
    "vaultctl recovery-code new --out code",
    "vaultctl recovery-code new --out code --json",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    let target = try RecoveryCodeTarget(command)
    let core = try command.vault.opened()
    try core.refuseReadOnly()
    if core.hasPasscode { try command.vault.unlock(core) }
    let hadCode = try core.status().hasRecoveryCode
    try NewRecoveryCode(command: command, target: target, core: core).make(
      core.freshRecoveryCode(), replacing: hadCode
    ) { code in try command.vault.unlocking { try $0.setRecoveryCode(code) } }
    var fields: [(String, JSON)] = [("recoveryCode", .boolean(true)), ("replaced", .boolean(hadCode))]
    var lines: [String] = []
    if case .file(let path) = target {
      fields.append(("file", .string(path)))
      lines.append("recovery code  " + printable(path))
    }
    return Outcome(json: .object(fields), lines: lines)
  }
}
