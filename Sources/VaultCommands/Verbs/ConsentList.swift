import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl card consent list`.
enum ConsentList: VaultVerb {
  static let words = ["card", "consent", "list"]
  static let summary = "List the consents, those that ended less than a day ago too."
  static let ownExits: [ExitCode] = [.unsupported]
  static let notes = [
    "With --json: id, name, role (holder, issuer), state (requested, confirmed, failed, expired, revoked), secondsLeft, attemptsLeft, "
      + "resendsLeft, challenge, user, card, channel, session and requestedAgain (true or false), requested (Unix seconds).",
    noteOnUnreadableItems,
  ]
  static let examples = [
    "vaultctl card consent list --json",
    "vaultctl card consent list",
  ]

  static func run(_ command: Command) throws -> Outcome {
    var unreadable: [ItemListing.Unreadable] = []
    let all = try command.vault.opened().cardConsents(damaged: { unreadable.append(.init($0, $1)) })
      .sorted { $0.name.lowercased() < $1.name.lowercased() }
    return Outcome(
      json: .object { Field("items", .array(all.map(\.json))) },
      pieces: command.list(
        ["NAME", "STATE", "ROLE", "USER", "CARD"].map { Table.Column($0) }, count: all.count,
        ifEmpty: "there is no consent: 'vaultctl card consent request' asks for one"
      ) { ListRow(cells: all[$0].row) },
      failure: CommandError(unreadable: unreadable))
  }
}
