import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl card consent resend NAME`.
enum ConsentResend: VaultVerb {
  static let words = ["card", "consent", "resend"]
  static let summary = "Have the code of a consent sent again; its deadline stays."
  static let arguments = [ItemOptions.name]
  static let target = Target.identifier
  static let ownOptions: [any OptionKey] = [TransportOptions.program]
  static let channels = [SecretChannel.session]
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let notes = [
    "At most once in 30 seconds, and three times for a consent (9). Without --transport, the vault is the issuer: a new code is "
      + "printed, and the old one no longer counts.",
    ConsentWords.sameTransport, CardTokenOptions.sessionNote,
  ]
  static let examples = [
    "vaultctl card consent resend view --transport ~/transport",
    "vaultctl card consent resend view --transport ~/transport --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.target()
    let session = try command.session()
    guard let transport = try command.transport() else {
      return ConsentWords.outcome(
        try command.vault.unlocking { try $0.reissueConsent(item.id, session: session) })
    }
    let context = try command.vault.pinContext()
    let consent = try command.vault.unlocking {
      try $0.resendConsent(item.id, session: session, over: transport, context: context)
    }
    return Outcome(json: consent.json)
  }
}
