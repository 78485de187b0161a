import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl show NAME`.
enum ItemShow: VaultVerb {
  static let words = ["show"]
  static let summary = "Show everything about an item but its secrets."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let fields = Flag(
    "fields", "Show the fields, addresses and notes of an entry too, and ask for what that needs.")
  static let ownOptions: [any OptionKey] = [fields]
  static let channels = [.passcode, .recovery] + ItemOptions.accessChannels
  static let passcodeCase: String? = "with --fields, where one is set"
  static let asks: String? =
    "nothing; with --fields for the passcode, and for what the item's --access flags name"
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.expired]
  static let notes = [
    "What is sealed is shown where the vault is unlocked, as in the agent or without a passcode, and the item has no access rule; else with "
      + "--fields alone. The values of hidden fields and the password are dots, and of the notes there is the number of lines.",
    "With --json an entry also has hasPassword, notesLines, urls, and fields with name, hidden and, where it is not hidden, value.",
  ]
  static let example = "vaultctl show mail"

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.target()
    let moment = try command.vault.opened().expiryMoment()
    let facts = try command.enforcementFacts(of: item)
    var json = try command.withEnforcement(item.json(at: moment), of: item)
    let content =
      command[fields] ? try command.entry(of: item).content : try command.entryWithoutAsking(of: item)
    var pieces = [Outcome.Piece.text(item.lines(at: moment, adding: facts).map { $0 + "\n" }.joined())]
    if let content {
      json = json.adding { content.members }
      pieces += content.pieces(below: facts.map(\.0))
    } else if item.isEntry {
      command.messages.note("its fields are sealed: --fields shows them, and asks for the passcode")
    }
    return Outcome(json: json, pieces: pieces)
  }
}
