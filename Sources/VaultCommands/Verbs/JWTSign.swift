import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl jwt sign NAME`: the claims come on standard input.
enum JWTSign: VaultVerb {
  static let words = ["jwt", "sign"]
  static let summary = "Sign claims with a key, and print the token."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let type = Setting("typ", .text, "TYPE", "The type in the header.", defaultValue: "JWT")
  static let keyID = Setting(
    "kid", .text, "ID", "The name of the key in the header; without it there is none.")
  static let ownOptions: [any OptionKey] = [type, keyID]
  static let channels = ItemOptions.accessChannels
  static let standardInput = StandardInput.data("claims, an object of JSON")
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.expired, .refused]
  static let notes = [
    "The claims are signed byte for byte, and nothing is added: give iss, aud, exp and jti as the other side wants them. They "
      + "are one JSON object of at most 131072 bytes. A registered claim of the wrong type, such as an exp that is not a whole "
      + "number, is refused (12). Claims without exp are signed; 'jwt verify' refuses their token (12).",
    "The algorithm is the one of the key: ES256, ES384, RS256 or EdDSA. With --json: name and token.",
  ]
  static let examples = [
    #"printf '{"iss":"shop","aud":"https://as.example","exp":4102444800}' | vaultctl jwt sign shop"#,
    #"printf '{"sub":"anna","exp":4102444800}' | vaultctl jwt sign shop --json"#,
  ]

  static func run(_ command: Command) throws -> Outcome {
    let key = try command.clientKey()
    try command.vault.unlockBeforeTyping(key.item.access)
    let claims = SharedSecret(
      try command.secrets.data("text of the claims", to: "sign them", limit: KeyOptions.longestToken))
    let token = SharedSecret(
      try command.vault.unlocking { core in
        let context = try command.vault.context(for: key.item)
        return try core.withSigner(of: key.item.id, context: context) { signer in
          try signer.token(
            of: claims.bytes, type: command[type] ?? "JWT", keyID: command[keyID])
        }
      })
    return Outcome(
      json: .object {
        Field("name", key.item.name)
        Field("token", JSON.secretText(token))
      }, pieces: [.secret(token), .text("\n")])
  }
}
