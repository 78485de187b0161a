import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl oauth revoke NAME`.
enum OAuthRevoke: VaultVerb {
  static let words = ["oauth", "revoke"]
  static let summary = "Revoke the tokens of a client at its server, then delete them here."
  static let arguments = [ItemOptions.name]
  static let target = Target.identifier
  static let ownOptions: [any OptionKey] = [TransportOptions.program]
  static let channels = OAuthOptions.channels
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let notes = [
    "Needs --transport (2). The refresh token is revoked first, then the access token (RFC 7009). If the server fails, both stay here. "
      + "The registration stays.",
    "With --json: registration and revoked, which is true.", OAuthOptions.errorNote,
  ]
  static let examples = [
    "vaultctl oauth revoke shop --transport ~/as",
    "vaultctl oauth revoke shop --transport ~/as --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.target()
    let transport = try command.neededTransport()
    let context = try command.vault.pinContext()
    try command.vault.unlocking {
      try $0.revokeTokens(of: item.id, over: transport, context: context)
    }
    return Outcome(
      json: .object {
        Field("registration", item.name)
        Field("revoked", true)
      })
  }
}
