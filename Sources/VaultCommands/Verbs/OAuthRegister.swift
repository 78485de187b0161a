import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl oauth register NAME --url URL`, with `--template T` or `--client-id ID`.
enum OAuthRegister: VaultVerb {
  static let words = ["oauth", "register"]
  static let summary =
    "Register a client at an OAuth server, once (RFC 7591), or keep one that is registered there."
  static let arguments = [ItemOptions.newName]
  static let template = Setting(
    "template", .text, "T",
    "The template of the client, as the server names it (software_id). With --client-id: the id, if it is not given."
  )
  static let url = Setting(
    "url", .text, "URL", "The issuer of the server, or the address of its metadata (RFC 8414).")
  static let authentication = Setting(
    "auth",
    .choice([
      "none": ClientAuthentication.none, "client_secret_basic": .clientSecretBasic,
      "client_secret_post": .clientSecretPost, "client_secret_jwt": .clientSecretJWT,
      "private_key_jwt": .privateKeyJWT,
    ]), "", "How the client proves who it is; private_key_jwt with --key.",
    defaultValue: "client_secret_basic")
  static let grant = Setting(
    "grant",
    .choice(["authorization_code": ClientGrant.authorizationCode, "client_credentials": .clientCredentials]),
    "",
    "What it gets tokens for. Not given: authorization_code with --redirect-uri, else client_credentials.")
  static let client = Setting(
    "client-id", .text, "ID",
    "The id of a client that is registered at the server already. It is kept, and nothing is registered.")
  static let tokenEndpoint = Setting(
    "token-endpoint", .text, "URL",
    "With --client-id, of a server that does not describe itself: where it gives tokens.")
  static let authorizationEndpoint = Setting(
    "authorization-endpoint", .text, "URL", "Likewise: where a person agrees in a browser.")
  static let deviceEndpoint = Setting(
    "device-endpoint", .text, "URL", "Likewise: where 'oauth device' begins (RFC 8628).")
  static let revocationEndpoint = Setting(
    "revocation-endpoint", .text, "URL", "Likewise: where it revokes tokens (RFC 7009).")
  private static let endpoints = [
    tokenEndpoint, authorizationEndpoint, deviceEndpoint, revocationEndpoint,
  ]
  static let ownOptions: [any OptionKey] = [
    template, url, client, tokenEndpoint, authorizationEndpoint, deviceEndpoint, revocationEndpoint,
    authentication, OAuthOptions.key, grant, OAuthOptions.redirect, OAuthOptions.scope,
    OAuthOptions.accessible, TransportOptions.program,
  ]
  static let channels = [SecretChannel.token, .clientSecret]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists]
  static let notes = [
    "Needs --template, --url and --transport (2); with --client-id no --template. A client of this name and template that is there is not registered again: no request is "
      + "made, and notes on standard error name its server if that is not the one of --url, and the options that have no effect. "
      + "Where two processes register at once, the first to store it wins.",
    "--redirect-uri is an absolute address without a fragment, such as https://shop.example/back or com.example.app:/back; "
      + "another one is refused (12).",
    "The secret of the client stays in the vault. --token-fd or --token-file gives the initial access token of a server that asks for "
      + "one; it is not asked for.",
    OAuthOptions.transportNote,
    "A server that registers other redirections than --redirect-uri, or gives a secret that has expired already, is refused (9). "
      + "A scope beyond --scope is named on standard error.",
    "Many servers register nobody by themselves (15). Register the client there by hand, and keep it with --client-id; its secret comes from "
      + "--client-secret-fd or --client-secret-file, and is not asked for. Without a secret --auth is none, with one client_secret_basic. "
      + "--grant, --scope and --token-fd have no meaning then (2). The server is not asked whether it knows the client.",
    "The server describes itself, and its issuer is compared. Where it does not, its documentation has --token-endpoint and the other "
      + "addresses, all https: they are shown on standard error before they are kept, because the secret of the client goes there. Where "
      + "the server describes itself all the same, with other addresses, it is refused (9).",
    "Prints nothing. With --json: id, name, template, client, issuer, registered, which is false for a client that was there, and "
      + "unaskedScope, what the server permits beyond --scope.",
  ]
  static let examples = [
    "vaultctl oauth register shop --template t1 --url https://as.example --redirect-uri https://shop.example/back --transport ~/as",
    "vaultctl oauth register job --template t2 --url https://as.example --transport ~/as",
  ]

  static func run(_ command: Command) throws -> Outcome {
    guard let template = command[template] ?? command[client], let url = command[url] else {
      throw CommandError.usage(
        "--template and --url are needed", hint: "name the template as the server does, and the server")
    }
    try refuseIncomplete(command)
    _ = try command.vault.opened()
    let transport = try command.neededTransport()
    var new = NewClientRegistration(
      command.required(ItemOptions.newName), template: template, server: url)
    new.key = try command.clientKey(OAuthOptions.key)
    (new.redirect, new.scope) = (command[OAuthOptions.redirect], command[OAuthOptions.scope])
    new.grant = command[grant]
    new.accessibility = command[OAuthOptions.accessible] ?? .whenUnlocked
    var secret: SharedSecret?
    if let given = try command.secrets.given(command.has(client) ? .clientSecret : .token) {
      secret = SharedSecret(given)
    }
    new.authentication =
      command[authentication] ?? usual(hasKey: new.key != nil, hasSecret: secret != nil, command)
    let context = try command.vault.pinContext()
    let made: ClientRegistration
    if let client = command[client] {
      let known = KnownClient(client, secret: secret)
      let endpoints = shownEndpoints(command)
      made = try command.vault.unlocking { [new] in
        try $0.addClient(new, known, at: endpoints, over: transport, context: context)
      }
    } else {
      made = try command.vault.unlocking { [new, secret] in
        try $0.registerClient(new, token: secret, over: transport, context: context)
      }
    }
    if !made.isNew { noteUnused(by: made, url: url, command) }
    command.note(unaskedScope: made.unaskedScope)
    return Outcome(
      json: .object {
        Field("id", made.id.hexadecimal)
        Field("name", made.name)
        Field("template", made.template)
        Field("client", made.client)
        Field("issuer", made.issuer)
        Field("registered", made.isNew)
        Field("unaskedScope", made.unaskedScope)
      })
  }

  private static func usual(hasKey: Bool, hasSecret: Bool, _ command: Command) -> ClientAuthentication {
    if hasKey { return .privateKeyJWT }
    return hasSecret || !command.has(client) ? .clientSecretBasic : .none
  }

  /// The addresses that the options give. The person sees where the secret of the client goes before it is kept.
  private static func shownEndpoints(_ command: Command) -> ServerEndpoints? {
    guard let token = command[tokenEndpoint] else { return nil }
    var given = ServerEndpoints(token: token)
    given.authorization = command[authorizationEndpoint]
    (given.deviceAuthorization, given.revocation) = (command[deviceEndpoint], command[revocationEndpoint])
    for option in endpoints {
      if let address = command[option] { command.messages.note("\(option.shown): \(printable(address))") }
    }
    return given
  }

  /// Options of one way to get a client, in the other way.
  private static func refuseMixed(_ command: Command) throws(CommandError) {
    let secrets = SecretChannel.clientSecret.options.options
    guard command.has(client) else {
      for option in endpoints.map({ $0 as any OptionKey }) + secrets where command.has(option) {
        throw .usage(
          "\(option.shown) needs --client-id", hint: "give the id that the client has at the server")
      }
      return
    }
    let others: [any OptionKey] = [grant, OAuthOptions.scope] + SecretChannel.token.options.options
    for option in others where command.has(option) {
      throw .usage("\(option.shown) is for a registration, and --client-id names a client that is registered")
    }
    for option in endpoints where command.has(option) && !command.has(tokenEndpoint) {
      throw .usage(
        "\(option.shown) needs --token-endpoint",
        hint: "give all addresses of a server that does not describe itself")
    }
    let hasSecret = secrets.contains { command.has($0) }
    let needsSecret = command[authentication].map { $0 != .none && $0 != .privateKeyJWT }
    guard needsSecret ?? hasSecret == hasSecret, !hasSecret || !command.has(OAuthOptions.key) else {
      throw .usage(
        hasSecret
          ? "this client has no secret for the way in which it proves itself"
          : "the secret of the client is missing",
        hint: hasSecret
          ? "leave out the secret, --key or --auth" : "give --client-secret-fd N or --client-secret-file PATH"
      )
    }
  }

  /// An option that needs another one beside it.
  private static func refuseIncomplete(_ command: Command) throws(CommandError) {
    try refuseMixed(command)
    let hasKey = command.has(OAuthOptions.key)
    if let chosen = command[authentication], hasKey != (chosen == .privateKeyJWT) {
      throw hasKey
        ? .usage("--key is for --auth private_key_jwt", hint: "leave out --auth or --key")
        : .usage(
          "--auth private_key_jwt needs --key", hint: "name a client key; 'vaultctl key list' shows them")
    }
    guard command[grant] != .authorizationCode || command.has(OAuthOptions.redirect) else {
      throw .usage(
        "--grant authorization_code needs --redirect-uri",
        hint: "give the address to which the server sends the browser")
    }
  }

  /// Names what has no effect on a client that is already registered.
  private static func noteUnused(by present: ClientRegistration, url: String, _ command: Command) {
    if !present.isRegistered(at: url) {
      command.messages.note(
        "'\(present.name)' is registered at \(present.issuer): nothing was asked of \(url)")
    }
    let options: [any OptionKey] =
      [
        client, authentication, OAuthOptions.key, grant, OAuthOptions.redirect, OAuthOptions.scope,
        tokenEndpoint,
        authorizationEndpoint, deviceEndpoint, revocationEndpoint,
      ] + SecretChannel.clientSecret.options.options
    let unused = options.filter(command.has).map(\.shown)
    guard !unused.isEmpty else { return }
    command.messages.note(
      "'\(present.name)' is already registered, and these options have no effect: \(unused.joined(separator: ", ")); "
        + "to change them, delete it with 'vaultctl rm' and register it again")
  }
}
