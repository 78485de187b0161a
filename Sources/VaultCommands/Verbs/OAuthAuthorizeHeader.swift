import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl oauth authorize-header NAME --method M --url URL`.
enum OAuthAuthorizeHeader: VaultVerb {
  static let words = ["oauth", "authorize-header"]
  static let summary = "Print the headers that let one request in."
  static let arguments = [ItemOptions.name]
  static let target = Target.identifier
  static let method = Setting("method", .text, "METHOD", "The method of the request, such as GET.")
  static let url = Setting("url", .text, "URL", "Its address.")
  static let nonce = Setting(
    "nonce", .text, "NONCE", "What this server sent in DPoP-Nonce; it is remembered for its origin.")
  static let ownOptions: [any OptionKey] = [method, url, nonce]
  static let channels = OAuthOptions.channels
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.notFound, .expired, .refused, .malformed]
  static let notes = [
    "Needs --method and --url (2). The line 'Authorization:' has the access token. For a bound token the line 'DPoP:' follows, whose "
      + "proof is for this one request: print new headers for the next one. Nothing prints a bound token without its proof.",
    "An access token whose time is over answers 7: refresh it.",
    "curl takes both lines from a pipe: curl --header @- URL. With --json: type, authorization and proof.",
  ]
  static let examples = [
    "vaultctl oauth authorize-header shop --method GET --url https://api.example/orders",
    "vaultctl oauth authorize-header shop --method POST --url https://api.example/orders",
  ]

  static func run(_ command: Command) throws -> Outcome {
    guard let method = command[method], let url = command[url] else {
      throw CommandError.usage("--method and --url name the request, and one is missing")
    }
    let client = try command.registration()
    let context = try command.vault.pinContext()
    let headers = try command.vault.unlocking {
      try $0.authorization(for: client, method: method, url: url, nonce: command[nonce], context: context)
    }
    let (authorization, proof) = (SharedSecret(headers.authorization.copy()), headers.proof)
    return Outcome(
      json: .object {
        Field("type", (proof == nil ? TokenSet.TokenType.bearer : .dpop).rawValue)
        Field("authorization", .secretText(authorization))
        Field("proof", proof)
      },
      pieces: [.text("Authorization: "), .secret(authorization), .text("\n")]
        + (proof.map { [.text("DPoP: \($0)\n")] } ?? []))
  }
}
