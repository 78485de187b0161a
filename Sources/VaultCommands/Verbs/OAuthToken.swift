import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl oauth token NAME --grant G`.
enum OAuthToken: VaultVerb {
  static let words = ["oauth", "token"]
  static let summary = "Get the tokens of a client from its server."
  static let arguments = [ItemOptions.name]
  static let target = Target.identifier
  static let grant = Setting(
    "grant",
    .choice(["authorization_code": ClientGrant.authorizationCode, "client_credentials": .clientCredentials]),
    "", "A person agrees in a browser, or the client asks for itself.")
  static let ownOptions: [any OptionKey] = [
    grant, OAuthOptions.proofKey, OAuthOptions.scope, OAuthOptions.redirect, TransportOptions.program,
  ]
  static let channels = OAuthOptions.channels + [.authorization]
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  /// The code belongs to the address that this call prints.
  static let allowedInBatch = false
  static let notes = [
    "Needs --grant and --transport (2). The tokens take the place of those that the client has, in one commit.",
    "With authorization_code, the address that the person opens is printed on standard error, with a state and a PKCE challenge (S256). "
      + "Then the code is read, or the whole address to which the server redirects, whose state is compared (9), and whose iss "
      + "too, which a server that announced it must give (RFC 9207): from --code-fd or a prompt. Without --redirect-uri here and at the registration it is refused (12). With --json that line is an object "
      + "with authorizationURL.",
    "With --dpop, an answer whose tokens are not bound to the key is refused (9). DPoP-Nonce is remembered for each server; a server "
      + "that wants another nonce is answered once.",
    OAuthWords.tokens, OAuthOptions.errorNote, OAuthOptions.transportNote,
  ]
  static let examples = [
    "vaultctl oauth token job --grant client_credentials --dpop k1 --transport ~/as",
    "vaultctl oauth token job --grant client_credentials --transport ~/as",
  ]

  static func run(_ command: Command) throws -> Outcome {
    guard let grant = command[grant] else {
      throw CommandError.usage(
        "--grant is missing", hint: "say who agrees: --grant authorization_code or client_credentials")
    }
    let client = try command.registration()
    let transport = try command.neededTransport()
    let key = try command.clientKey(OAuthOptions.proofKey)
    let scope = command[OAuthOptions.scope]
    let context = try command.vault.pinContext()
    guard grant == .authorizationCode else {
      for option in [OAuthOptions.redirect] + SecretChannel.authorization.options.options
      where command.has(option) {
        throw CommandError.usage("\(option.shown) is for --grant authorization_code")
      }
      let tokens = try command.vault.unlocking {
        try $0.requestTokens(for: client, boundTo: key, scope: scope, over: transport, context: context)
      }
      return try command.outcome(tokens)
    }
    let request = try command.vault.unlocking {
      try $0.beginAuthorization(
        for: client, boundTo: key, scope: scope, redirect: command[OAuthOptions.redirect], context: context)
    }
    try show(request, command)
    let core = try command.vault.opened()
    let answer = try command.vault.secret(.code, of: .authorization, for: core) {
      secrets throws(CommandError) in
      try secrets.secret(.authorization)
    }.box
    let tokens = try command.vault.unlocking {
      try $0.finishAuthorization(request, with: answer, over: transport, context: context)
    }
    return try command.outcome(tokens)
  }

  private static func show(_ request: AuthorizationRequest, _ command: Command) throws {
    guard command.isJSON else { return command.messages.note("open \(request.url)") }
    try JSON.object { Field("authorizationURL", request.url) }.write(to: command.messages.stream)
    try command.messages.stream.write("\n")
    try command.messages.stream.flush()
  }
}
