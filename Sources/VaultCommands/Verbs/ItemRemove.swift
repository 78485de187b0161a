import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl rm NAME`.
enum ItemRemove: VaultVerb {
  static let words = ["rm"]
  static let summary = "Move an item into the trash, or delete it."
  static let arguments = [ItemOptions.name]
  static let target = Target.full
  static let ownOptions: [any OptionKey] = [ItemOptions.now, ItemOptions.yes]
  static let channels = [SecretChannel.passcode, .recovery]
  static let passcodeCase: String? = PasscodeGuard.verbCase
  static let asks: String? = RemovalNotes.asks
  static let audited = Audited.always
  static let notes = [
    RemovalNotes.trash,
    "Other kinds, such as keys and card tokens, are deleted at once.",
    "With --id it also removes an item that does not open, because it is damaged or a newer version made it; 'vaultctl vault check' "
      + "names such items.",
    RemovalNotes.json,
  ]
  static let examples = [
    "vaultctl rm mail",
    "vaultctl rm mail --now --yes",
  ]

  static func run(_ command: Command) throws -> Outcome {
    try remove(command)
  }
}

/// What the help says of verbs that remove items.
enum RemovalNotes {
  static let asks = "on a terminal, before what cannot be undone; for the passcode where it is needed"
  static let trash =
    "It is in the trash for 30 days: 'trash restore NAME' puts it back as it was, with its former versions and its counter. Its name is "
    + "free at once, and nothing opens it there. An entry takes its one-time code along. --now deletes it at once."
  static let json = "With --json: id, deleted, and for an item in the trash inTrash and until (Unix seconds)."
}

/// What the passcode guards besides secrets: that items are there, what they are called, what they are for, and where their
/// counters are.
enum PasscodeGuard {
  /// When such a verb needs the passcode.
  static let verbCase = "where one is set, and the item is not of --accessible after-first-unlock"
}

/// Removes one item: into the trash, if it has a place there. On a terminal it asks before what cannot be undone.
func remove(_ command: Command) throws -> Outcome {
  let (id, item) = try itemToRemove(command)
  let goesToTrash =
    item.map { $0.kind.rules.goesToTrash && !$0.isInTrash } == true && !command[ItemOptions.now]
  let isCode = item?.isOwned == true
  let called = (isCode ? "the one-time code of " : "") + "'\(printable(item?.name ?? id.hexadecimal))'"
  let code = item.flatMap(command.code)
  let company = code == nil ? "" : " and its one-time code"
  if !goesToTrash {
    try command.requireYes(to: "delete \(called)\(company) for good", else: "nothing was deleted")
  }
  let isInTrash = try command.vault.unlocking { core in
    guard goesToTrash else {
      try core.delete(id)
      return false
    }
    return try core.moveToTrash(id)
  }
  let end = isInTrash ? try? command.vault.opened().items(.id(id))[0].expires : nil
  if isInTrash {
    // Without its entry it has no name.
    let typed =
      isCode
      ? "--id \(id.hexadecimal) --name \(item?.name.flatMap(Hint.plainName) ?? "NEW")"
      : item?.name.flatMap(Hint.plainName) ?? "--id \(id.hexadecimal)"
    let until = end.map { " until \(Instants.shown(seconds: $0.seconds))" } ?? ""
    command.messages.note(
      "\(called)\(company) \(code == nil ? "is" : "are") in the trash\(until); 'vaultctl trash restore \(typed)' puts "
        + (code == nil ? "it back" : "them back"))
  } else if code != nil {
    command.messages.note("the one-time code of \(called) was deleted with it")
  }
  return Outcome(
    json: .object {
      Field("id", id.hexadecimal)
      Field("deleted", !isInTrash)
      if isInTrash { Field("inTrash", true) }
      Field("until", end?.seconds)
    })
}

/// An item that does not open can be removed only by its identifier: its name cannot be compared.
private func itemToRemove(_ command: Command) throws -> (id: ItemID, item: Item?) {
  do {
    let item = try command.target()
    return (item.id, item)
  } catch let error as VaultError where error.isUnreadable {
    if command.family == nil, let id = command[Target.id] { return (id, nil) }
    guard error.code == .damaged else { throw error }
    throw VaultError(
      error.code, error.message,
      hint: "'vaultctl vault check' names the item; 'vaultctl rm --id ID' removes it")
  }
}
