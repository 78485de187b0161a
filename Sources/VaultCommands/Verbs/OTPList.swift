import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl otp list`.
enum OTPList: VaultVerb {
  static let words = ["otp", "list"]
  static let summary = "List the credentials."
  static let ownOptions: [any OptionKey] = [ItemOptions.format]
  static let ownExits: [ExitCode] = [.unsupported]
  static let notes = [noteOnCounters, noteOnUnreadableItems]
  static let examples = [
    "vaultctl otp list --json",
    "vaultctl otp list",
  ]

  static func run(_ command: Command) throws -> Outcome {
    try list(command, kind: command.family?.kind)
  }
}
