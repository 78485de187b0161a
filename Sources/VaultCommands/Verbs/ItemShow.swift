import CommandLineKit
import Glibc
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl show NAME`.
enum ItemShow: VaultVerb {
  static let words = ["show"]
  static let summary = "Show all of an item, its password and hidden fields as dots."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let takesPieceOfName = true
  static let reveal = Flag(
    "reveal", "Show the password, hidden fields and notes of an entry, and ask for what that needs.")
  static let ownOptions: [any OptionKey] = [reveal]
  static let channels = [.passcode, .recovery] + ItemOptions.accessChannels
  static let passcodeCase: String? = "with --reveal, where one is set"
  static let asks: String? =
    "nothing; with --reveal for the passcode, and for what the item's --access flags name"
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.expired]
  static let notes = [
    "Without --reveal it asks nothing: what is sealed is shown where the vault is unlocked, as in the agent or without a passcode, and the "
      + "item has no access rule; else a message says so. The password and the values of hidden fields are eight dots, whatever their length. "
      + "The notes are shown on a terminal and with --reveal; anywhere else there is the number of their lines.",
    "A value that is no text, or has a character that does not show, is described: 'get NAME FIELD' prints it.",
    "With --json an entry also has hasPassword, notesLines, urls, and fields with name, hidden and, where it is not hidden, value; hasCode is "
      + "there where it has a one-time code. With --reveal it also has notes, secretBase64, secret where it is UTF-8 text, and every value.",
  ]
  static let examples = [
    "vaultctl show mail",
    "vaultctl show mail --reveal",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.target()
    let isRevealed = command[reveal]
    guard !isRevealed || item.kind.rules.canBeEntry else {
      throw CommandError(
        .refused, "--reveal is for entries: the item is of kind \(item.kind.word)",
        hint: "without --reveal everything but its secret is shown")
    }
    let moment = try command.vault.opened().expiryMoment()
    var facts = try command.enforcementFacts(of: item)
    var json = try command.withEnforcement(item.json(at: moment), of: item)
    if command.code(of: item) != nil {
      facts.append(("code", "yes"))
      json = json.adding("hasCode", .boolean(true))
    }
    let content =
      try isRevealed ? command.entry(of: item).content : command.entryWithoutAsking(of: item)
    var pieces = [Outcome.Piece.text(item.lines(at: moment, adding: facts).map { $0 + "\n" }.joined())]
    if let content {
      json = json.adding { content.members(isRevealed: isRevealed) }
      let showsNotes = isRevealed || isatty(command.world.standardOutput) == 1
      pieces += content.pieces(below: facts.map(\.0), isRevealed: isRevealed, showsNotes: showsNotes)
    } else if item.isEntry {
      command.messages.note("the rest is sealed: --reveal shows it, and asks for what opens it")
    }
    return Outcome(json: json, pieces: pieces)
  }
}
