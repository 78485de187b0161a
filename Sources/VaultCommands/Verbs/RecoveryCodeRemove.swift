import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit
import VaultPrompts
import VaultWords

/// `vaultctl recovery-code remove`.
enum RecoveryCodeRemove: VaultVerb {
  static let words = ["recovery-code", "remove"]
  static let summary = "Remove the recovery code: it no longer opens the vault."
  static let needs = VaultNeed.unlocked
  static let runsIn = RunPlace.client
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.refused]
  static let notes = [
    "The code still opens older copies of the vault file. After 'vaultctl vault rotate epoch', the code and such a copy together "
      + "do not open what is stored later. With --json: recoveryCode."
  ]
  static let examples = [
    "vaultctl recovery-code remove",
    "vaultctl recovery-code remove --json",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    let core = try command.vault.opened()
    if core.hasPasscode { try command.vault.unlock(core) }
    try command.vault.unlocking { try $0.removeRecoveryCode() }
    command.messages.note(
      "if the device key is lost now, only backups are left: keep a copy of it elsewhere")
    return Outcome(
      json: .object {
        Field("recoveryCode", false)
      })
  }
}
