import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit

/// `vaultctl card session open`.
enum SessionOpen: VaultVerb {
  static let words = ["card", "session", "open"]
  static let summary = "Print a new session: a secret that only its caller keeps."
  static let needs = VaultNeed.noVault
  static let runsIn = RunPlace.anywhere
  static let notes = [
    "It is printed once, as 64 hexadecimal digits on a line, and stored nowhere: give it to the other verbs with --session-fd or "
      + "--session-file. What is stored with it opens with it alone. With --json: session."
  ]
  static let examples = [
    "(umask 077; vaultctl card session open > session)",
    "(umask 077; vaultctl card session open --json > session.json)",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let session = try ViewingSession.fresh(random: command.vaultWorld.random)
    let text = SharedSecret(session.bytes).hexadecimal()
    return Outcome(
      json: .object { Field("session", .secretText(text)) }, pieces: [.secret(text), .text("\n")])
  }
}
