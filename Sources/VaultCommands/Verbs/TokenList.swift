import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl card list`.
enum TokenList: VaultVerb {
  static let words = ["card", "list"]
  static let summary = "List the card tokens, those that ended less than a day ago too."
  static let ownExits: [ExitCode] = [.unsupported]
  static let notes = [
    "With --json: id, name, state (valid, ended), usesLeft, secondsLeft, session and asksPerson (true or false), stored (Unix "
      + "seconds), label, user, card.",
    noteOnUnreadableItems,
  ]
  static let examples = [
    "vaultctl card list --json",
    "vaultctl card list",
  ]

  static func run(_ command: Command) throws -> Outcome {
    var unreadable: [ItemListing.Unreadable] = []
    let all = try command.vault.opened().cardTokens(damaged: { unreadable.append(.init($0, $1)) })
      .sorted { $0.name.lowercased() < $1.name.lowercased() }
    return Outcome(
      json: .object { Field("items", .array(all.map(\.json))) },
      pieces: command.list(
        ["NAME", "STATE", "LABEL"].map { Table.Column($0) }, count: all.count,
        ifEmpty: "there is no card token: 'vaultctl card put NAME' stores one"
      ) { ListRow(cells: all[$0].row) },
      failure: CommandError(unreadable: unreadable))
  }
}
