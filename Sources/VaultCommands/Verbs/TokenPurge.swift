import CommandLineKit
import AuthenticatorKit
import TextFormats
import VaultKit

/// `vaultctl card clear`.
enum TokenPurge: VaultVerb {
  static let words = ["card", "clear"]
  static let summary = "Delete the card tokens and consents whose time is over."
  static let audited = Audited.always
  static let notes = [
    "Every command that opens the vault does this too, and so does every program that holds it open. With --json: ended, how many "
      + "ended now."
  ]
  static let examples = [
    "vaultctl card clear",
    "vaultctl card clear --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let ended = try command.vault.opened().purgeTokens()
    return Outcome(json: .object { Field("ended", ended) })
  }
}
