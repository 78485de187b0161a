import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl jwt dpop NAME`.
enum PrintProof: VaultVerb {
  static let words = ["jwt", "dpop"]
  static let summary = "Print a proof for one request that its sender has a key (RFC 9449)."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let method = Setting("method", .text, "METHOD", "The method of the request, such as POST.")
  static let url = Setting("url", .text, "URL", "Its address; query and fragment are left out of the proof.")
  static let nonce = Setting("nonce", .text, "NONCE", "What the server sent in DPoP-Nonce.")
  static let ownOptions: [any OptionKey] = [method, url, nonce]
  static let channels = ItemOptions.accessChannels + [.token]
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.expired, .refused, .malformed]
  static let notes = [
    "Each proof has a name of its own (jti) and is for one request: method, address, time, and with --token-fd or --token-file "
      + "the hash of the access token that is sent along, which is not asked for. Send it in the header DPoP.",
    "The public half of the key is in the proof. Print its thumbprint, the jkt of bound tokens, with --json.",
  ]
  static let examples = [
    "vaultctl jwt dpop shop --method POST --url https://as.example/token",
    "vaultctl jwt dpop shop --method GET --url https://api.example/orders --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    guard let method = command[method], let url = command[url] else {
      throw CommandError.usage("--method and --url name the request, and one is missing")
    }
    let key = try command.clientKey()
    let token = try command.secrets.given(.token)
    let request = try ProofRequest(method: method, url: url, nonce: command[nonce], token: token)
    let text = try command.vault.unlocking { core in
      let context = try command.vault.context(for: key.item)
      return try core.withSigner(of: key.item.id, context: context) { signer in
        try signer.proof(for: request, at: core.environment.clock.now(), random: core.environment.random)
      }
    }
    return Outcome(
      json: .object {
        Field("name", key.item.name)
        Field("proof", text)
        Field("thumbprint", key.publicKey.thumbprint)
      }, lines: [text])
  }
}
