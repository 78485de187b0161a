import AuthenticatorKit
import CommandLineKit
import VaultKit
import VaultWords

/// `vaultctl oauth refresh NAME`.
enum OAuthRefresh: VaultVerb {
  static let words = ["oauth", "refresh"]
  static let summary = "Refresh the tokens of a client."
  static let arguments = [ItemOptions.name]
  static let target = Target.identifier
  static let ownOptions: [any OptionKey] = [TransportOptions.program]
  static let channels = OAuthOptions.channels
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let notes = [
    "Needs --transport (2). All tokens are replaced in one commit; a refresh token and a scope that the server does not name stay. "
      + "Without a refresh token it is refused (9), also without --transport, and no request is made: client_credentials gives none.",
    "If another process was faster, its tokens stay: a set never takes the place of a newer one. If the server "
      + "refuses this process for that, it waits up to five seconds for the tokens that the other one stores: they are the result.",
    OAuthWords.tokens, OAuthOptions.errorNote,
  ]
  static let example = "vaultctl oauth refresh shop --transport ~/as"

  static func run(_ command: Command) throws -> Outcome {
    let client = try command.registration()
    let context = try command.vault.pinContext()
    try command.vault.unlocking { try $0.checkRefresh(of: client, context: context) }
    let transport = try command.neededTransport()
    let tokens = try command.vault.unlocking {
      try $0.refreshTokens(of: client, over: transport, context: context)
    }
    return try command.outcome(tokens)
  }
}
