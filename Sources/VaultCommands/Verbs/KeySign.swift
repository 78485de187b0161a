import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl key sign NAME`: the data comes on standard input.
enum KeySign: VaultVerb {
  static let words = ["key", "sign"]
  static let summary = "Sign data with a key."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let ownOptions: [any OptionKey] = [KeyOptions.signatureFormat]
  static let channels = ItemOptions.accessChannels
  static let standardInput = StandardInput.data("data")
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.expired, .refused]
  static let notes = [
    KeyOptions.signatureNote, KeyOptions.dataNote,
    "With --json: name, type, and signatureBase64, of the raw form unless --format der is given.",
  ]
  static let examples = [
    "printf 'Pay 12 EUR to Anna' | vaultctl key sign shop",
    "printf 'Pay 12 EUR to Anna' | vaultctl key sign shop --format der > signature",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.target()
    try command.vault.unlockBeforeTyping(item.access)
    let data = try command.secrets.data("data", to: "sign it", limit: KeyOptions.longestData)
    let format = command[KeyOptions.signatureFormat] ?? .base64
    let (type, signature) = try command.vault.unlocking { core in
      let context = try command.vault.context(for: item)
      return try core.withSigner(of: item.id, context: context) { signer in
        let signature = try data.expose { (data) throws(VaultError) in
          try signer.sign(data, as: format.form)
        }
        return (signer.publicKey.type, signature)
      }
    }
    let base64 = Base64.text(signature)
    return Outcome(
      json: .object {
        Field("name", item.name)
        Field("type", type.rawValue)
        Field("signatureBase64", base64)
      },
      pieces: [
        format == .base64
          ? .text(base64 + "\n") : .secret(SharedSecret(SecretBytes(copying: signature)))
      ])
  }
}
