import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl card revoke NAME`.
enum TokenRevoke: VaultVerb {
  static let words = ["card", "revoke"]
  static let summary = "End a card token at once: it is deleted."
  static let arguments = [ItemOptions.name]
  static let target = Target.identifier
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.expired]
  static let notes = ["Needs no passcode. The issuer of the token is not told."]
  static let examples = [
    "vaultctl card revoke card",
    "vaultctl card revoke card --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.target()
    let core = try command.vault.opened()
    try core.revokeToken(item.id)
    return Outcome(json: try core.cardToken(item.id).json)
  }
}
