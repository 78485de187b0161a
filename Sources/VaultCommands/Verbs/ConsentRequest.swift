import AuthenticatorKit
import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl card consent request NAME`.
enum ConsentRequest: VaultVerb {
  static let words = ["card", "consent", "request"]
  static let summary = "Request a person's consent to a card token, or issue one."
  static let arguments = [ItemOptions.newName]
  static let user = Setting("user", .shortText, "U", "The person, as the system of the card names them.")
  static let card = Setting("card", .shortText, "C", "The card, as its system names it; never a card number.")
  static let channel = Setting(
    "channel", .shortText, "C", "How the code is to come, such as sms; the usual way if not given.")
  static let role = Setting(
    "role", .choice(["holder": CardConsent.Role.holder, "issuer": .issuer]), "",
    "A holder asks the system of the card for the code, an issuer makes it.", defaultValue: "holder")
  static let accessible = ItemOptions.accessible("When the code can be given.")
  static let ownOptions: [any OptionKey] = [
    user, card, channel, role, accessible, TransportOptions.program,
  ]
  static let channels = [SecretChannel.session]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists]
  static let notes = [
    "Needs --user and --card (2), and for a holder --transport: the program that takes the request to the system of the card. "
      + "That sends the person a code of six digits. The errors of the system have the exit codes that "
      + "'docs/guides/transport.md' lists, and its own words.",
    "A consent lives 300 seconds. A session has one: a new request ends the others of the session.",
    "With --role issuer the code is printed, for the caller to send; the vault keeps what judges it, and not the code.",
    CardTokenOptions.sessionNote, CardTokenOptions.cardDataNote,
  ]
  static let examples = [
    "vaultctl card consent request view --user u-17 --card c-4 --transport ~/transport",
    "vaultctl card consent request view --user u-17 --card c-4 --transport ~/transport --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    guard let user = command[user], let card = command[card] else {
      throw CommandError.usage(
        "--user and --card are needed", hint: "name both as the system of the card does")
    }
    var new = NewConsent(command.required(ItemOptions.newName), user: user, card: card)
    new.channel = command[channel]
    new.accessibility = command[accessible] ?? .whenUnlocked
    let session = try command.session()
    guard command[role] == .issuer else {
      _ = try command.vault.opened()
      let transport = try command.neededTransport()
      let context = try command.vault.pinContext()
      let consent = try command.vault.unlocking { [new] in
        try $0.requestConsent(new, session: session, over: transport, context: context)
      }
      return Outcome(json: consent.json)
    }
    guard !command.has(TransportOptions.program) else {
      throw CommandError.usage("--role issuer and --transport contradict each other: an issuer asks nobody")
    }
    let issued = try command.vault.unlocking { [new] in try $0.issueConsent(new, session: session) }
    return ConsentWords.outcome(issued)
  }
}

/// What the verbs about consents say alike.
enum ConsentWords {
  static let sameTransport =
    "A consent is bound to the transport that requested it; another one is refused (9)."

  /// An issued consent with its code.
  static func outcome(_ issued: consuming IssuedConsent) -> Outcome {
    let consent = issued.consent
    let code = SharedSecret(issued.code.copy())
    return Outcome(
      json: consent.json.adding { Field("code", .secretText(code)) }, pieces: [.secret(code), .text("\n")])
  }
}
