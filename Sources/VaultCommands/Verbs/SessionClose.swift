import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl session close --session-fd N`.
enum SessionClose: VaultVerb {
  static let words = ["session", "close"]
  static let summary = "Delete the card tokens and consents of a session."
  static let channels = [SecretChannel.session]
  static let audited = Audited.always
  static let notes = [
    "Needs no passcode. With --json: ended, how many ended now.", CardTokenOptions.sessionNote,
  ]
  static let example = "vaultctl session close --session-file session"

  static func run(_ command: Command) throws -> Outcome {
    guard let session = try command.session() else {
      throw CommandError.usage(
        "the session is missing", hint: "give it with --session-fd N or --session-file PATH")
    }
    let ended = try command.vault.opened().closeSession(session)
    return Outcome(json: .object { Field("ended", ended) })
  }
}
