import CommandLineKit
import TextFormats
import TextPreparation
import VaultKit
import VaultWords

/// `vaultctl trash list`.
enum ItemTrashList: VaultVerb {
  static let words = ["trash", "list"]
  static let summary = "List what is in the trash."
  static let ownExits: [ExitCode] = [.unsupported]
  static let notes = [
    "Passwords and one-time-password credentials are there for 30 days after 'rm' or 'otp rm'; their names are free meanwhile. Other "
      + "kinds are deleted at once.",
    "With --json: items with name, id, kind and until (Unix seconds), and code for an entry whose one-time code is there with it.",
  ]
  static let examples = [
    "vaultctl trash list",
    "vaultctl trash list --json",
  ]

  static func run(_ command: Command) throws -> Outcome { try list(command, nil) }

  /// - Parameter piece: What the names have; `nil` for all.
  static func list(_ command: Command, _ piece: TypedPiece?) throws -> Outcome {
    let items = try command.vault.opened().trash().filter { piece?.isIn($0) ?? true }.sortedByName()
    if items.isEmpty, piece == nil { command.messages.note("the trash is empty") }
    let failure =
      items.isEmpty && piece != nil
      ? CommandError(.notFound, "nothing in the trash has that in its name", code: "nothingFound") : nil
    return Outcome(
      json: .object { Field("items", JSON.array(items.map(\.trashJSON))) },
      pieces: command.list(
        [
          Table.Column("NAME"), Table.Column("KIND", isSecondary: true), Table.Column("IN THE TRASH"),
          Table.Column("ID", isSecondary: true),
        ], count: items.count, ifEmpty: nil
      ) {
        ListRow(
          cells: [
            items[$0].name ?? items[$0].id.hexadecimal, items[$0].kind.word, items[$0].trashEnd,
            items[$0].id.hexadecimal,
          ],
          marksOnTerminal: items[$0].owned == nil ? [] : ["code"])
      },
      failure: failure)
  }
}

/// `vaultctl trash restore NAME`.
enum ItemTrashRestore: VaultVerb {
  static let words = ["trash", "restore"]
  static let summary = "Put an item back that is in the trash."
  static let arguments = [ItemOptions.name]
  static let target = Target.identifier
  static let name = Setting("name", .newName, "NEW", "The name that it has from now on.")
  static let ownOptions: [any OptionKey] = [name]
  static let channels = [SecretChannel.passcode, .recovery]
  static let passcodeCase: String? = PasscodeGuard.verbCase
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused]
  static let notes = [
    "It comes back as it was: a counter is where it was, and the one-time code of an entry comes back with it. Where another item has its "
      + "name by now, give --name. A one-time code that was removed alone goes back to its entry by --id ID and --name with the name of the entry.",
    "With --json: what 'show' has, and putBack.",
  ]
  static let examples = [
    "vaultctl trash restore old",
    "vaultctl trash restore old --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let item = try command.trashTarget()
    guard !item.isOwned || command.has(name) else {
      throw CommandError.usage(
        "it was the one-time code of an entry, and has no name",
        hint: "give that of the entry, or another one: --name NAME")
    }
    return try command.putBack(item, named: command[name])
  }
}

/// `vaultctl trash empty`.
enum ItemTrashEmpty: VaultVerb {
  static let words = ["trash", "empty"]
  static let summary = "Delete all that is in the trash."
  static let ownOptions: [any OptionKey] = [ItemOptions.yes]
  static let channels = [SecretChannel.passcode, .recovery]
  static let passcodeCase: String? = PasscodeGuard.verbCase
  static let asks: String? = "on a terminal, before it deletes; for the passcode where it is needed"
  static let audited = Audited.always
  static let notes = ["With --json: deleted, how many items."]
  static let examples = [
    "vaultctl trash empty --yes",
    "vaultctl trash empty --yes --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let count = try command.vault.opened().trash().count
    if count > 0 {
      try command.requireYes(
        to: "delete \(count == 1 ? "the item" : "\(count) items") in the trash for good",
        else: "nothing was deleted")
    }
    let deleted = try command.vault.unlocking { try $0.emptyTrash() }
    return Outcome(json: .object { Field("deleted", deleted) }, lines: ["deleted  \(deleted)"])
  }
}

extension Command {
  /// The items in the trash that had a name, the one that was deleted last at the end.
  func trashed(named name: String) throws -> [Item] {
    let normal = (try? TextPreparation.normalized(name)) ?? name
    return try vault.opened().trash().filter { $0.name == normal }
      .sorted { ($0.expires?.milliseconds ?? 0, $0.row) < ($1.expires?.milliseconds ?? 0, $1.row) }
  }

  /// What puts an item of that name back; `nil` where none is in the trash.
  func trashHint(for name: String) -> String? {
    guard let items = try? trashed(named: name), !items.isEmpty else { return nil }
    let typed = Hint.plainName(name) ?? "--id \(items[items.count - 1].id.hexadecimal)"
    return "it is in the trash: 'vaultctl trash restore \(typed)' puts it back"
  }

  /// - Throws: Exit 1 for an item that is not in the trash, 2 for a name that several had.
  fileprivate func trashTarget() throws -> Item {
    let core = try vault.opened()
    if let id = self[Target.id] {
      guard let item = try core.trash().first(where: { $0.id == id }) else { throw Self.notInTrash }
      return item
    }
    let found = try trashed(named: required(ItemOptions.name))
    guard let item = found.last else { throw Self.notInTrash }
    guard found.count == 1 else {
      let ids = found.map { "\($0.id.hexadecimal) (\($0.trashEnd))" }.joined(separator: ", ")
      throw CommandError.usage(
        "\(found.count) items in the trash have that name: \(ids)", hint: "give --id ID")
    }
    return item
  }

  private static var notInTrash: CommandError {
    CommandError(
      .notFound, "there is no such item in the trash", hint: "'vaultctl trash list' shows what is there")
  }

  func putBack(_ trashed: Item, named name: String?) throws -> Outcome {
    let item: Item
    do {
      item = try vault.unlocking { try $0.restoreFromTrash(trashed.id, named: name) }
    } catch let error as VaultError where error.code == .duplicateItem {
      var told = CommandError(error)
      let typed = trashed.name.flatMap(Hint.plainName) ?? "--id \(trashed.id.hexadecimal)"
      told.hint = "give it another name: 'vaultctl trash restore \(typed) --name NEW'"
      throw told
    }
    messages.note(
      "'\(printable(item.name ?? item.id.hexadecimal))' is back"
        + (code(of: item) == nil ? "" : ", with its one-time code"))
    return Outcome(json: item.json.adding("putBack", .boolean(true)))
  }
}

extension Item {
  /// Until when it is in the trash.
  var trashEnd: String { "until \(expires.map { Instants.shown(seconds: $0.seconds) } ?? "it is emptied")" }

  fileprivate var trashJSON: JSON {
    .object {
      Field("name", name)
      Field("id", id.hexadecimal)
      Field("kind", kind.word)
      Field("until", expires?.seconds)
      if owned != nil { Field("code", true) }
    }
  }
}
