import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl card session close --session-fd N`.
enum SessionClose: VaultVerb {
  static let words = ["card", "session", "close"]
  static let summary = "Delete the card tokens and consents of a session."
  static let channels = [SecretChannel.session]
  static let audited = Audited.always
  static let notes = [
    "Needs the session (6), and no passcode. A session to which nothing belongs ends nothing (0). With --json: ended, how many "
      + "ended now.", CardTokenOptions.sessionForm,
  ]
  static let examples = [
    "vaultctl card session close --session-file session",
    "vaultctl card session close --session-fd 3 3<session",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let ended = try command.vault.opened().closeSession(command.neededSession())
    return Outcome(json: .object { Field("ended", ended) })
  }
}
