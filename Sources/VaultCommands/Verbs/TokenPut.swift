import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl card put NAME --ttl D`.
enum TokenPut: VaultVerb {
  static let words = ["card", "put"]
  static let summary = "Store a card token for a time and a number of uses."
  static let arguments = [ItemOptions.newName]
  static let ownOptions: [any OptionKey] = [
    CardTokenOptions.timeToLive, CardTokenOptions.uses, ItemOptions.label, CardTokenOptions.accessible,
    ItemOptions.access, ItemOptions.audit,
  ]
  static let channels = [SecretChannel.session, .applicationPassword]
  static let standardInput = StandardInput.data("token")
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused]
  static let notes = [
    "Needs --ttl (2). The token is 1 byte to 64 KiB, byte for byte: a newline at its end is a part of it. It is in no backup. A "
      + "name whose token has ended is free.",
    "--access presence asks for a person before each use.", CardTokenOptions.sessionNote,
    CardTokenOptions.cardDataNote,
  ]
  static let examples = [
    "printf %s tok-71c9e0 | vaultctl card put card --ttl 90s --uses 1",
    "printf %s tok-71c9e0 | vaultctl card put card --ttl 1h",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let new = try command.newCardToken(named: command.required(ItemOptions.newName))
    // Where there is no vault, nothing is asked for and read.
    _ = try command.vault.opened()
    let session = try command.session()
    try command.vault.unlockBeforeTyping(new.access)
    let secret = SharedSecret(
      try command.secrets.data("token", to: "store a card token", limit: NewCardToken.secretBytes.upperBound))
    let context = try command.vault.context(for: new.access)
    let token = try command.vault.unlocking {
      try $0.storeToken(new, secret: secret, session: session, context: context)
    }
    return Outcome(json: token.json)
  }
}
