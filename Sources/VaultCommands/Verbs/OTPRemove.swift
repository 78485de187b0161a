import CommandLineKit
import TextFormats
import VaultKit

/// `vaultctl otp rm NAME`.
enum OTPRemove: VaultVerb {
  static let words = ["otp", "rm"]
  static let summary = "Move a credential into the trash, or delete it."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let ownOptions: [any OptionKey] = [ItemOptions.now, ItemOptions.yes]
  static let channels = [SecretChannel.passcode, .recovery]
  static let passcodeCase: String? = PasscodeGuard.verbCase
  static let asks: String? = RemovalNotes.asks
  static let audited = Audited.always
  static let notes = [RemovalNotes.trash, RemovalNotes.json]
  static let examples = [
    "vaultctl otp rm rfc",
    "vaultctl otp rm rfc --now --yes",
  ]

  static func run(_ command: Command) throws -> Outcome {
    try remove(command)
  }
}
