import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit
import VaultPrompts

/// `vaultctl recovery-code verify`.
enum RecoveryCodeCheck: VaultVerb {
  static let words = ["recovery-code", "verify"]
  static let summary = "Check whether a recovery code opens the vault. Changes nothing."
  static let channels = [SecretChannel.recovery]
  static let runsIn = RunPlace.client
  static let notes = [
    "It needs no device key and no passcode. The exit code is 3 when the code does not open this vault, and 12 when the text "
      + "is not a recovery code at all. With --json: valid."
  ]
  static let examples = [
    "vaultctl recovery-code verify --recovery-file code",
    "vaultctl recovery-code verify --recovery-fd 3 3<code",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    let path = try command.places.vault
    // A missing vault is reported before the person types anything.
    _ = try VaultCore.outline(at: path)
    let code = try RecoveryCode(text: command.secrets.secret(.recovery))
    try VaultCore.checkRecoveryCode(code, at: path, environment: command.vaultWorld)
    return Outcome(
      json: .object {
        Field("valid", true)
      }, lines: ["this recovery code opens the vault"])
  }
}
