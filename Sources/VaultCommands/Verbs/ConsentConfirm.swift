import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl card consent confirm NAME`.
enum ConsentConfirm: VaultVerb {
  static let words = ["card", "consent", "confirm"]
  static let summary = "Confirm a consent with the person's code, and store the card token."
  static let arguments = [ItemOptions.name]
  static let target = Target.identifier
  static let token = Setting(
    "token", .newName, "NAME", "The name of the token; NAME and -token if not given.")
  static let ownOptions: [any OptionKey] = [
    token, CardTokenOptions.timeToLive, CardTokenOptions.uses, ItemOptions.label, CardTokenOptions.accessible,
    ItemOptions.access, ItemOptions.audit, TransportOptions.program,
  ]
  static let channels = [SecretChannel.code, .session]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists]
  static let notes = [
    "A holder gives --transport: the code goes to the system of the card, and its token is stored, for 300s and one use if --ttl and "
      + "--uses do not say otherwise, and for less if the system says so. The token that an earlier consent of the session gave is "
      + "deleted.",
    "Without --transport, the vault is the issuer, and judges the code itself. It stores no token.",
    "A wrong code counts (3). The fifth one ends the consent (3), and no code is judged after that (9). "
      + "A consent of a holder whose 300 seconds are over is requested again by itself, once: the exit code is 7, the line says so, and the person gets a new code.",
    ConsentWords.sameTransport, CardTokenOptions.sessionNote,
  ]
  static let examples = [
    "vaultctl card consent confirm view --transport ~/transport --code-file code",
    "vaultctl card consent confirm view --transport ~/transport --code-fd 3 3<code",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.target()
    let session = try command.session()
    guard let transport = try command.transport() else { return try judge(item, session, command) }
    let new = try command.newCardToken(
      named: command[token] ?? (item.name ?? "") + "-token", timeToLive: 300)
    let context = try command.vault.pinContext()
    // A code that cannot be used is not asked for.
    try command.vault.unlocking {
      try $0.prepareConsent(item.id, session: session, over: transport, context: context)
    }
    let code = try code(command)
    let stored = try command.vault.unlocking {
      try $0.confirmConsent(
        item.id, with: code, storing: new, session: session, over: transport, context: context)
    }
    return Outcome(json: stored.json)
  }

  private static func judge(_ item: Item, _ session: ViewingSession?, _ command: Command) throws -> Outcome {
    for option in [token, CardTokenOptions.timeToLive, CardTokenOptions.uses] as [any OptionKey]
    where command.has(option) {
      throw CommandError.usage("\(option.shown) needs --transport: an issuer stores no token")
    }
    let code = try code(command)
    let consent = try command.vault.unlocking { try $0.judgeConsent(item.id, code, session: session) }
    return Outcome(json: consent.json)
  }

  private static func code(_ command: Command) throws -> ConsentCode {
    try ConsentCode(command.peerCode("the code of the consent", to: "confirm the consent").bytes.copy())
  }
}
