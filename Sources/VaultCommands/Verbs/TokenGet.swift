import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl card get NAME`: one use of a card token.
enum TokenGet: VaultVerb {
  static let words = ["card", "get"]
  static let summary = "Print a card token, which uses it once."
  static let arguments = [ItemOptions.name]
  static let target = Target.identifier
  static let channels = ItemOptions.accessChannels + [.session]
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.expired, .refused]
  static let notes = [
    "The use is on the disk before the token is printed, and with the last one the token is deleted: of several processes one gets "
      + "it. A token that has ended answers 7 for a day, then 1.",
    "On a terminal a newline follows the token, anywhere else nothing does. With --json the token is tokenBase64, and also token "
      + "where it is UTF-8 text.",
    CardTokenOptions.sessionNote,
  ]
  static let examples = [
    "vaultctl card get card",
    "vaultctl card get card --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.target()
    let session = try command.session()
    let secret = SharedSecret(
      try command.vault.unlocking {
        try $0.takeToken(item.id, session: session, context: command.vault.context(for: item))
      })
    return Outcome(
      json: command.isJSON ? json(of: secret, item, command) : nil,
      pieces: [.secret(secret), .newlineOnTerminal])
  }

  private static func json(of secret: SharedSecret, _ item: Item, _ command: Command) -> JSON {
    // After its last use, another process may have taken its name, or deleted it: the token is printed all the same.
    let token = try? command.vault.opened().cardToken(item.id)
    return .object {
      Field("id", item.id.hexadecimal)
      Field("name", token?.name ?? item.name ?? "")
      Field("usesLeft", token?.usesLeft ?? 0)
      Field("secondsLeft", token?.secondsLeft ?? 0)
      Field("tokenBase64", .secretBase64(secret))
      if secret.expose({ UTF8Text.isValid($0) }) { Field("token", .secretText(secret)) }
    }
  }
}
