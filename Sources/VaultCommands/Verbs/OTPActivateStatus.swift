import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp activate status NAME`: asks no person, works while the vault is locked.
enum OTPActivateStatus: VaultVerb {
  static let words = ["otp", "activate", "status"]
  static let summary =
    "Show how far the activation of a credential is. Needs neither the passcode nor the server."
  static let arguments = [ItemOptions.name]
  static let changesFiles = true
  static let ownExits: [ExitCode] = [.notFound, .expired]
  static let notes = [
    "state is none for a credential without a server, started, active, blocked (by the server, or because its PIN is), "
      + "unlockStarted or disabled. pinMode is the server's: which factors make a code, 0 none, 1 or 2 the PIN, 8 a biokey, 9 "
      + "the PIN or a biokey. While another activation is to replace a disabled credential, secondsLeft is its time; its own status "
      + "has the name with '-activation' after it.",
    "An activation whose time is over is deleted by the first command that looks at it: this one then says so (7), and the "
      + "next one finds nothing (1).",
    ActivationWords.jsonNote,
  ]
  static let examples = [
    "vaultctl otp activate status work",
    "vaultctl otp activate status work --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    try command.activationOutcome(of: command.required(ItemOptions.name))
  }
}
