import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl jwt verify NAME`: the token comes on standard input.
enum JWTVerify: VaultVerb {
  static let words = ["jwt", "verify"]
  static let summary = "Check a signed token (JWT) by a key, and print its claims."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let audience = Setting("audience", .text, "AUD", "One of the audiences must be this one.")
  static let issuer = Setting("issuer", .text, "ISS", "The issuer must be this one.")
  static let id = Setting("expect-jti", .text, "JTI", "The name of the token must be this one.")
  static let type = Setting(
    "typ", .text, "TYPE", "The type in the header must be this one, or absent for JWT.", defaultValue: "JWT")
  static let ownOptions: [any OptionKey] = [audience, issuer, id, type]
  static let standardInput = StandardInput.line("token")
  static let ownExits: [ExitCode] = [.authenticationFailed, .expired, .refused]
  static let notes = [
    "The exit code is 3 for a wrong signature, for a token that nothing signs, and for an algorithm that is not the one of the "
      + "key; 7 for a token that has expired; 9 for one whose nbf is more than 60 seconds ahead, and for another audience, issuer, name "
      + "or type; 12 for one that is not readable, or that lacks exp or a name that is compared; 15 for another algorithm than those of "
      + "keys, and for crit, b64 and zip. Names are compared byte for byte.",
    "Without --typ, a token whose header says that it is something else than a JWT is refused, such as a proof (dpop+jwt) or an access "
      + "token (at+jwt): name the type that you expect. Small and capital letters count alike, and application/ may be left out.",
    "With --json: name, valid, which is true, and claims, the text of the claims.",
    "The vault stays locked: the public half comes from the attributes of the item, which the device key alone can replace.",
  ]
  static let examples = [
    #"printf '{"exp":4102444800}' | vaultctl jwt sign shop > token && vaultctl jwt verify shop < token"#,
    #"printf '{"exp":4102444800}' | vaultctl jwt sign shop | vaultctl jwt verify shop --json"#,
  ]

  static func run(_ command: Command) throws -> Outcome {
    let key = try command.clientKey()
    let token = try command.secrets.line(
      "token", to: "check it", limit: 2 * KeyOptions.longestToken, twice: true)
    var expected = TokenExpectation()
    (expected.audience, expected.issuer, expected.id) = (command[audience], command[issuer], command[id])
    if let type = command[type] { expected.type = type }
    let now = try command.vault.opened().environment.clock.now()
    let claims = SharedSecret(try key.publicKey.verify(token: token, expecting: expected, at: now))
    return Outcome(
      json: .object {
        Field("name", key.item.name)
        Field("valid", true)
        Field("claims", JSON.secretText(claims))
      }, pieces: [.secretJSON(claims), .newlineOnTerminal])
  }
}
