import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// What the options of `edit` change. Its values are judged before anybody is asked for a passcode.
struct ItemChange {
  private var changes = ItemChanges()
  private let edits: EntryEdits
  private var addedTags: [String]
  private var removedTags: [String] = []
  private var removesAllTags = false
  private let hasExpiry: Bool
  /// Whether the password is replaced by a generated or a given one.
  private let replacesPassword: Bool

  /// Whether nothing is changed.
  var isEmpty: Bool {
    changes.attributes.isEmpty && changes.removed.isEmpty && changes.expiry == nil && changes.audit == nil
      && !changes.forgetsFormer && !hasExpiry && !changesTags && edits.isEmpty && !replacesPassword
  }

  private var changesTags: Bool { removesAllTags || !addedTags.isEmpty || !removedTags.isEmpty }

  init(_ command: Command) throws {
    addedTags = try command.tags()
    var texts: [(word: String, value: String, place: String)] = ItemOptions.attributes.compactMap { option in
      command[option].map { (option.name, $0, option.shown) }
    }
    var (fields, urls): ([Assignment], [String]) = ([], [])
    for (index, text) in command[ItemEdit.set].enumerated() {
      let given = try Assignment(text, named: ItemEdit.set.place(index), like: "--set account=anna")
      switch given.key {
      case "tag": addedTags.append(try Tags.checked(given.value, named: given.place))
      case "url": urls.append(given.value)
      case _ where given.key.hasPrefix(EntryPart.prefix):
        fields.append(
          Assignment(String(given.key.dropFirst(EntryPart.prefix.count)), given.value, given.place))
      case _ where Self.textWords.contains(given.key): texts.append((given.key, given.value, given.place))
      default: throw Self.noKey(given)
      }
    }
    let removals = try Self.removals(command)
    removesAllTags = removals.allTags
    for tag in removals.tags { removedTags.append(try Tags.checked(tag, named: ItemEdit.unset.shown)) }
    texts += removals.texts.map { ($0, "", ItemEdit.unset.shown) }
    let isGiven = command[ItemEdit.password]
    replacesPassword = isGiven || command.has(ItemOptions.generate)
    guard !(isGiven && command.has(ItemOptions.generate)) else {
      throw CommandError.usage("--password and --generate contradict each other")
    }
    guard !(replacesPassword && removals.sealed.contains(.password)) else {
      throw CommandError.usage("the password is removed and replaced, one of them is enough")
    }
    edits = try EntryEdits(
      command, shown: fields, urls: urls, removing: removals.sealed, readsInput: isGiven)
    hasExpiry = command.has(ExpiryOptions.expires) || command[ExpiryOptions.never]
    changes.audit = command[ItemEdit.audit]
    changes.expiry = command[ExpiryOptions.rule]
    changes.forgetsFormer = command[ItemEdit.forget]
    for (word, value, place) in texts { try setText(word, to: value, named: place) }
  }

  func run(_ command: Command) throws -> Outcome {
    if changes.forgetsFormer {
      let item = try command.target()
      try command.requireYes(
        to: "forget the former versions of '\(printable(item.name ?? item.id.hexadecimal))'"
          + (replacesPassword ? ", and its present password" : ""),
        else: "nothing was changed")
    }
    let new = try newPassword(command)
    var (changed, open) = ([String](), [String]())
    let item = try command.vault.unlocking { core in
      var changes = changes
      changes.expires = try command.expiry(in: core)
      // Until the item is known as it is: the passcode guards its tags.
      if changesTags { changes.setTags(addedTags) }
      let target = try command.target()
      if new != nil, changes.expires == nil, try core.expiryMoment().hasExpired(target) {
        changes.expires = .some(nil)
      }
      let context = try command.vault.context(for: target, after: new?.passcode)
      changed = new == nil ? [] : ["password"]
      return try core.change(
        target.id, changes, context: context,
        preparing: { item, changes in
          open = differences(from: item)
          guard changesTags else { return }
          changes.setTags(tags(of: item))
          if Tags.attribute(tags(of: item)) != item.attributes[.tags] { open.append("tags") }
        },
        password: new?.secret,
        entry: edits.isEmpty
          ? nil
          : { (entry) throws(VaultError) in
            let before = entry
            try edits.apply(to: &entry)
            changed = (new == nil ? [] : ["password"]) + entry.differences(from: before)
          })
    }
    command.noteExpiry(of: item)
    if let date = new?.expiryBefore, item.expires == nil, !command[ExpiryOptions.never] {
      command.messages.note("the expiry of the old secret, \(date), is removed; --expires gives a new one")
    }
    guard !edits.isEmpty || changesTags || changesTexts || new != nil else { return Outcome(json: item.json) }
    command.noteChanged(open + changed)
    let json = item.json.adding("changed", (open + changed).json)
    return Outcome(json: json.adding(entropyOf: command[ItemOptions.generate]))
  }

  private var changesTexts: Bool { !changes.attributes.isEmpty || !changes.removed.isEmpty }

  /// The words of the texts that are not as they were.
  private func differences(from item: Item) -> [String] {
    ItemLine.attributes.compactMap { word, attribute in
      let given = changes.removed.contains(attribute.code) ? "" : changes.attributes[attribute]
      // Two texts of other forms are equal for Swift.
      guard let given, !given.utf8.elementsEqual((item.attributes[attribute] ?? "").utf8) else { return nil }
      return word
    }
  }

  /// A password in the place of another one.
  private struct NewPassword {
    let secret: SharedSecret
    /// What was typed before it.
    let passcode: ShownSecret?
    let expiryBefore: String?
  }

  /// - Returns: `nil` where the password stays.
  private func newPassword(_ command: Command) throws -> NewPassword? {
    guard replacesPassword else { return nil }
    let item = try command.target()
    guard item.kind.rules.canBeEntry else {
      throw CommandError(
        .refused, "the secret of an item of kind \(item.kind.word) is not exchanged here",
        hint: "delete the item and add it again")
    }
    // Nothing is generated, and nothing typed, for a vault that does not open.
    let passcode = try command.vault.unlockBeforeTyping(
      item.access, isTyped: command.has(ItemOptions.generate) ? true : nil)
    return NewPassword(
      secret: try command.newSecret(by: command[ItemOptions.generate]), passcode: passcode,
      expiryBefore: item.expiryDate)
  }

  private func tags(of item: Item) -> [String] {
    (removesAllTags ? [] : item.tags.filter { !removedTags.contains($0) }) + addedTags
  }

  // MARK: Keys

  private static let textWords = ItemLine.attributes.map(\.0)

  private mutating func setText(_ word: String, to value: String, named place: String) throws(CommandError) {
    guard let attribute = ItemLine.attributes.first(where: { $0.0 == word })?.1 else { return }
    try Names.checkText(value, named: "\(place): \(word)")
    if attribute.code == Attribute.service.code || attribute.code == Attribute.account.code {
      try Names.checkShown(value, named: place == "--" + word ? place : "\(place): \(word)")
    }
    guard changes.attributes[attribute] == nil, !changes.removed.contains(attribute.code) else {
      throw .usage("\(word) is given twice")
    }
    if value.isEmpty { changes.removed.append(attribute.code) } else { changes.attributes[attribute] = value }
  }

  private static func noKey(_ given: Assignment) -> CommandError {
    switch given.key {
    case "password", "secret":
      .usage(
        "\(given.place): a password never comes by an argument",
        hint: "give it to 'vaultctl edit NAME --password' on standard input")
    case "notes":
      .usage(
        "\(given.place): notes never come by an argument", hint: "give them by --notes-file or --notes-fd")
    default:
      .usage(
        "\(given.place) has a key that cannot be set",
        hint: "the keys are \(textWords.joined(separator: ", ")), url, tag and field:NAME")
    }
  }

  /// What `--unset` names.
  private struct Removals {
    var texts: [String] = []
    var sealed: [EntryPart] = []
    var tags: [String] = []
    var allTags = false
  }

  private static func removals(_ command: Command) throws(CommandError) -> Removals {
    var removals = Removals()
    for (index, key) in command[ItemEdit.unset].enumerated() {
      switch key {
      case "tag", "tags": removals.allTags = true
      case _ where key.hasPrefix("tag="): removals.tags.append(String(key.dropFirst(4)))
      case "url", "urls": removals.sealed.append(.addresses)
      case "notes": removals.sealed.append(.notes)
      case "password": removals.sealed.append(.password)
      case _ where key.hasPrefix(EntryPart.prefix) && key != EntryPart.prefix:
        removals.sealed.append(.field(String(key.dropFirst(EntryPart.prefix.count))))
      case _ where textWords.contains(key): removals.texts.append(key)
      default:
        throw .usage(
          "\(ItemEdit.unset.place(index)) names nothing that can be removed",
          hint:
            "the keys are \(textWords.joined(separator: ", ")), notes, url, password, tag, tag=TAG and field:NAME"
        )
      }
    }
    return removals
  }
}
