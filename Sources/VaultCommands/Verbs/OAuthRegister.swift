import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl oauth register NAME --template T --url URL`.
enum OAuthRegister: VaultVerb {
  static let words = ["oauth", "register"]
  static let summary = "Register a client at an OAuth server, once (RFC 7591)."
  static let arguments = [ItemOptions.newName]
  static let template = Setting(
    "template", .text, "T", "The template of the client, as the server names it (software_id).")
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
  static let ownOptions: [any OptionKey] = [
    template, url, authentication, OAuthOptions.key, grant, OAuthOptions.redirect, OAuthOptions.scope,
    OAuthOptions.accessible, TransportOptions.program,
  ]
  static let channels = [SecretChannel.token]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists]
  static let notes = [
    "Needs --template, --url and --transport (2). A client of this name and template that is there is not registered again: no request is "
      + "made, and notes on standard error name its server if that is not the one of --url, and the options that have no effect. "
      + "Where two processes register at once, the first to store it wins.",
    "--redirect-uri is an absolute address without a fragment, such as https://shop.example/back or com.example.app:/back; "
      + "another one is refused (12).",
    "The secret of the client stays in the vault. --token-fd or --token-file gives the initial access token of a server that asks for "
      + "one; it is not asked for.",
    OAuthOptions.transportNote,
    "A server that registers other redirections than --redirect-uri, or gives a secret that has expired already, is refused (9). "
      + "A scope beyond --scope is named on standard error.",
    "Prints nothing. With --json: id, name, template, client, issuer, registered, which is false for a client that was there, and "
      + "unaskedScope, what the server permits beyond --scope.",
  ]
  static let example =
    "vaultctl oauth register shop --template t1 --url https://as.example --redirect-uri https://shop.example/back --transport ~/as"

  static func run(_ command: Command) throws -> Outcome {
    guard let template = command[template], let url = command[url] else {
      throw CommandError.usage(
        "--template and --url are needed", hint: "name the template as the server does, and the server")
    }
    try refuseIncomplete(command)
    _ = try command.vault.opened()
    let transport = try command.neededTransport()
    var new = NewClientRegistration(
      command.required(ItemOptions.newName), template: template, server: url)
    new.key = try command.clientKey(OAuthOptions.key)
    new.authentication =
      command[authentication] ?? (new.key == nil ? .clientSecretBasic : .privateKeyJWT)
    (new.redirect, new.scope) = (command[OAuthOptions.redirect], command[OAuthOptions.scope])
    new.grant = command[grant]
    new.accessibility = command[OAuthOptions.accessible] ?? .whenUnlocked
    var token: SharedSecret?
    if let given = try command.secrets.given(.token) { token = SharedSecret(given) }
    let context = try command.vault.pinContext()
    let made = try command.vault.unlocking { [new, token] in
      try $0.registerClient(new, token: token, over: transport, context: context)
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

  /// An option that needs another one beside it.
  private static func refuseIncomplete(_ command: Command) throws(CommandError) {
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
    let options: [any OptionKey] = [
      authentication, OAuthOptions.key, grant, OAuthOptions.redirect, OAuthOptions.scope,
    ]
    let unused = options.filter(command.has).map(\.shown)
    guard !unused.isEmpty else { return }
    command.messages.note(
      "'\(present.name)' is already registered, and these options have no effect: \(unused.joined(separator: ", ")); "
        + "to change them, delete it with 'vaultctl item rm' and register it again")
  }
}
