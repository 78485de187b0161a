import CommandLineKit
import SecretMemory
import VaultKit
import VaultWords

/// `vaultctl cp NAME NEW`.
enum ItemCopy: VaultVerb {
  static let words = ["cp"]
  static let summary = "Add a second entry that has all that an entry has."
  static let new = ItemOptions.newName("NEW")
  static let arguments = [ItemOptions.name, new]
  static let target = Target.full
  static let channels = ItemOptions.accessChannels
  static let needs = VaultNeed.unlocked
  static let asksByFlags = true
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .expired, .refused]
  static let notes = [
    "The second entry has the password, notes, fields, addresses, attributes, tags, rules and expiry of the first. It does not have its "
      + "one-time code, because two entries would give each code twice, nor its former versions. 'mv' gives an item another name.",
    "An entry behind an application password has the second one behind another that is asked for, or given by the same option.",
    "With --json: what 'show' has.",
  ]
  static let examples = [
    "vaultctl cp mail mail-of-work",
    "vaultctl cp mail mail-of-work --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let name = command.required(new)
    let item = try command.target()
    guard item.kind.rules.canBeEntry else {
      throw CommandError(
        .refused, "only an entry is copied: the item is of kind \(item.kind.word)",
        hint: "its secret belongs to one item")
    }
    try command.refuseTaken(name)
    let content = try command.entry(of: item, keeping: true).content
    let copy = try command.vault.unlocking { core in
      let context = try command.vault.context(for: item.access, keeping: true)
      return try core.add(NewItem(like: item, named: name), entry: content, context: context) {
        transaction throws(VaultError) in
        guard try transaction.item(item.id).version == item.version else {
          throw VaultCore.changedMeanwhile
        }
      }
    }
    if command.code(of: item) != nil {
      command.messages.note(
        "its one-time code stays with '\(printable(item.name ?? item.id.hexadecimal))' alone")
    }
    return Outcome(json: copy.json)
  }
}

extension NewItem {
  /// An item with the attributes and rules of another one.
  fileprivate init(like item: Item, named name: String) {
    var attributes = item.attributes
    // The code belongs to one entry.
    attributes.record[Attribute<[UInt8]>.ownedItem.code] = nil
    attributes[.name] = name
    self.init(
      item.kind, attributes: attributes, access: item.access, audit: item.audit, expires: item.expires)
    expiry = item.expiry
  }
}

extension Command {
  /// Refuses a name that an item has, before anybody is asked for anything.
  ///
  /// - Parameter mayHave: Whether a new item can have the name of an item beside it.
  /// - Throws: Exit 8.
  func refuseTaken(_ name: String, unless mayHave: (Item) -> Bool = { _ in false }) throws {
    let core = try vault.opened()
    var items: [Item] = []
    do throws(VaultError) { items = try core.items(.name(name)) } catch {
      guard error.code == .itemNotFound else { throw error }
    }
    guard let item = items.first(where: { !mayHave($0) }) else { return }
    let typed = Hint.plainName(name) ?? "NAME"
    let next = item.kind.rules.canBeEntry ? "edit \(typed)' changes" : "show \(typed)' shows"
    throw CommandError(
      .alreadyExists, "there is an item '\(printable(name))' already",
      hint: "take another name; 'vaultctl \(next) that one", code: "duplicateItem")
  }
}
