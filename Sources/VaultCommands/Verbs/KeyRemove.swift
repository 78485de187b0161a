import CommandLineKit
import TextFormats
import VaultKit

/// `vaultctl key rm NAME`.
enum KeyRemove: VaultVerb {
  static let words = ["key", "rm"]
  static let summary = "Delete a key and its certificates."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let ownOptions: [any OptionKey] = [ItemOptions.yes]
  static let channels = [SecretChannel.passcode, .recovery]
  static let passcodeCase: String? = PasscodeGuard.verbCase
  static let asks: String? = RemovalNotes.asks
  static let audited = Audited.always
  static let notes = ["A key that is not exportable is nowhere else, except in backups of the vault."]
  static let examples = [
    "vaultctl key rm shop",
    "vaultctl key rm shop --json",
  ]

  static func run(_ command: Command) throws -> Outcome { try remove(command) }
}
