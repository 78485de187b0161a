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
    "One refresh at a time, of all processes: the others wait, and have its tokens as their result, without a request of their own. Who "
      + "waits longer than a transport may take gets 13, and can try again; a process that is killed holds nobody up.",
    "After an answer that is malformed, no program is to repeat the call (recovery is nonRecoverable): the server may have used the refresh "
      + "token up. Try once more, and if that is refused (7), get new tokens.",
    OAuthWords.tokens, OAuthOptions.errorNote,
  ]
  static let examples = [
    "vaultctl oauth refresh shop --transport ~/as",
    "vaultctl oauth refresh shop --transport ~/as --json",
  ]

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
