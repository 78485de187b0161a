import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl ls`.
enum ItemList: VaultVerb {
  static let words = ["ls"]
  static let summary = "List items, without their secrets."
  static let service = Setting("service", .text, "S", "Only items of this service.")
  static let kind = Setting(
    "kind",
    .choice(ItemKind.listed), "", "Only items of this kind.")
  static let tag = Settings(
    "tag", short: "t", .text, "TAG", "Only items with this tag, and with all of several.")
  static let expired = Flag("expired", "Only items whose expiry has passed.")
  static let sort = Setting(
    "sort", .choice(["added": Order.added, "name": .name, "modified": .modified, "created": .created]), "",
    "The order: by name, as they were added, or the newest first.", defaultValue: "name")
  static let text = Argument(
    "TEXT", .text, "Only items whose name has this in it, or begins with it where it ends with a slash.",
    isRequired: false)
  static let arguments = [text]
  static let trash = Flag("trash", "List what is in the trash instead.")
  static let ownOptions: [any OptionKey] = [service, kind, tag, expired, trash, sort, ItemOptions.format]
  static let ownExits: [ExitCode] = [.notFound, .malformed, .unsupported]
  static let notes = [
    "In TEXT, upper and lower case are the same; 'find' also looks at accounts, hosts, tags and more. Where TEXT or an option leaves no item, "
      + "a message says so, and the exit code is 1; an empty vault is an empty list.",
    "An item whose expiry has passed, by the clock or by the recorded time ('vaultctl vault clock'), is marked: expired. So is a card "
      + "token or a consent that has ended. Nothing that is marked can be read or used.",
    noteOnLists,
    noteOnCounters, noteOnUnreadableItems,
  ]
  static let examples = [
    "vaultctl ls --kind password --json",
    "vaultctl ls --sort modified",
  ]

  static func run(_ command: Command) throws -> Outcome {
    guard command[trash] else { return try list(command, kind: command[kind]) }
    let others: [any OptionKey] = [service, kind, tag, expired, sort, ItemOptions.format]
    for option in others where command.has(option) || command.invocation.lists[option.name] != nil {
      throw CommandError.usage("--trash and \(option.shown) contradict each other")
    }
    return try ItemTrashList.list(command, TypedPiece(command))
  }

  /// In which order items are listed.
  enum Order {
    case added
    case name
    case modified
    case created
  }
}

/// The items of a kind, or of all, by their names.
///
/// All are opened before the first is printed: a reader that stops in the middle of the list keeps no state of the vault
/// open. What is held of each is its attributes; its line is made as it is printed. Those that do not open are named by
/// the error, and the others are printed.
func list(_ command: Command, kind: ItemKind?) throws -> Outcome {
  let listing = try listed(command, kind: kind)
  let (items, unreadable, moment, marks) = (
    listing.items, listing.unreadable, listing.moment, listing.counterMarks
  )
  let json = JSON.object {
    Field(
      "items",
      .list(count: items.count) { index in
        items[index].json(at: moment, counter: marks[items[index].id])
      })
  }
  let shown: [Outcome.Piece] =
    switch command[ItemOptions.format] ?? .table {
    case _ where command.isJSON: []
    case .name: [.lines(count: items.count) { items[$0].name.map(printable) }]
    case .id: [.lines(count: items.count) { items[$0].id.hexadecimal }]
    case .table:
      try command.list(items, of: kind, at: moment, counters: marks)
    }
  var failure = CommandError(unreadable: unreadable, beside: items)
  if failure == nil, items.isEmpty, let filters = command.listFilters {
    failure = CommandError(
      .notFound, "no item has \(filters)", hint: "'vaultctl ls' shows what there is",
      code: "nothingFound")
  }
  return Outcome(json: json, pieces: shown, failure: failure)
}

private func listed(_ command: Command, kind: ItemKind?) throws -> ItemListing {
  var attributes = Attributes()
  let service = command[ItemList.service]
  if let service, !service.isEmpty { attributes[.service] = service }
  let progress = command.progress("listing")
  defer { progress.finish() }
  var listing = try command.vault.opened().listing(of: kind, where: attributes) {
    progress.update(done: $0, of: 0)
  }
  // An empty service means the items without one, which no index finds.
  if service == "" { listing.items.removeAll { $0.attributes[.service] != nil } }
  // An entry and its credential are one thing.
  if kind == nil { listing.items.removeAll(where: \.isOwned) }
  try command.select(from: &listing)
  return listing
}

extension Command {
  /// Keeps the items that TEXT, `--tag` and `--expired` mean, in the order of `--sort`.
  fileprivate func select(from listing: inout ItemListing) throws {
    let tags = try tags()
    if let piece = try TypedPiece(self) { listing.items.removeAll { !piece.isIn($0) } }
    if !tags.isEmpty {
      listing.items.removeAll { item in !tags.allSatisfy(item.tags.contains) }
    }
    if self[ItemList.expired] {
      let moment = listing.moment
      listing.items.removeAll { !moment.hasExpired($0) }
    }
    switch self[ItemList.sort] ?? .name {
    case .added: break
    case .name: listing.items = listing.items.sortedByName()
    case .modified: listing.items.sort { $0.modified > $1.modified }
    case .created: listing.items.sort { $0.created > $1.created }
    }
  }

  /// What only some items have, as the options say it; `nil` without such an option.
  fileprivate var listFilters: String? {
    var filters: [String] = []
    if let text = self[ItemList.text] { filters.append(TypedPiece.words(of: text)) }
    if let kind = self[ItemList.kind] { filters.append("the kind \(kind.word)") }
    if let service = self[ItemList.service] {
      filters.append(service.isEmpty ? "no service" : "the service '\(printable(service))'")
    }
    for tag in self[EntryOptions.tag] { filters.append("the tag '\(printable(tag))'") }
    if self[ItemList.expired] { filters.append("an expiry that has passed") }
    return filters.isEmpty ? nil : filters.joined(separator: ", and ")
  }
}

/// What was typed of the names that are listed.
struct TypedPiece {
  private let text: FoldedText
  private let isBeginning: Bool

  /// - Returns: `nil` without TEXT.
  init?(_ command: Command) throws {
    guard let typed = command[ItemList.text] else { return nil }
    guard !typed.isEmpty else { throw CommandError.malformed("TEXT is empty") }
    text = try FoldedText(typed)
    isBeginning = typed.hasSuffix("/")
  }

  func isIn(_ item: Item) -> Bool {
    guard let name = item.name else { return false }
    return isBeginning ? text.begins(name) : text.isIn(name)
  }

  /// What all items of the list have.
  static func words(of typed: String) -> String {
    typed.hasSuffix("/")
      ? "a name that begins with '\(printable(typed))'" : "'\(printable(typed))' in its name"
  }
}

extension [Item] {
  /// By their names, whatever the case of the letters is; those without a name last.
  func sortedByName() -> [Item] {
    let keyed = map { item in (key: item.name?.lowercased(), item: item) }
    return keyed.sorted { one, other in
      guard let first = one.key, let second = other.key else { return one.key != nil && other.key == nil }
      return first == second ? one.item.row < other.item.row : first < second
    }.map(\.item)
  }
}

extension Item {
  fileprivate func json(at moment: ExpiryMoment, counter: ItemListing.CounterMark?) -> JSON {
    guard let counter else { return json(at: moment) }
    return json(at: moment).adding(counter.field, .boolean(true))
  }

  fileprivate func row(
    at moment: ExpiryMoment, counter: ItemListing.CounterMark?, type: String?, isLocked: Bool
  ) -> ListRow {
    let suite = attributes[.ocraSuite]
    let hasExpired = moment.hasExpired(self)
    return ListRow(
      cells: listCells(kind: type ?? kind.word),
      marks: [suite, weakness.map { "weak: \($0)" }, hasExpired ? "expired" : nil, counter?.words]
        .compactMap(\.self),
      marksOnTerminal: (owned == nil ? [] : ["code"]) + (isLocked ? ["locked PIN"] : []),
      warns: hasExpired || isLocked || counter != nil || weakness != nil)
  }

  /// Name, kind, service and account.
  func listCells(kind: String) -> [String] {
    let attributes = attributes
    return [
      name ?? id.hexadecimal, kind,
      attributes[.issuer] ?? attributes[.service] ?? attributes[.server] ?? "", attributes[.account] ?? "",
    ]
  }

  /// The type of a credential, as people write it: HOTP, TOTP, OCRA.
  fileprivate var credentialType: String? {
    for fact in kind.rules.facts?(attributes) ?? [] {
      if fact.key == "type", case .text(let type) = fact.value { return type.uppercased() }
    }
    return nil
  }
}

extension Command {
  fileprivate func list(
    _ items: [Item], of kind: ItemKind?, at moment: ExpiryMoment, counters: [ItemID: ItemListing.CounterMark]
  ) throws -> [Outcome.Piece] {
    let showsTypes = kind == .otp && listsOnTerminal
    var locked: Set<ItemID> = []
    if listsOnTerminal, items.contains(where: { $0.kind == .pin }) {
      let pins = try? vault.opened().pinStatuses().filter { $0.isBlocked || $0.attemptsLeft == 0 }
      locked = Set((pins ?? []).map(\.id))
    }
    let empty =
      kind == .otp
      ? "there is no credential: 'vaultctl otp add NAME' adds one"
      : "the vault has no items: 'vaultctl add NAME' adds one"
    return list(
      Table.Column.ofItems(showsTypes ? "TYPE" : "KIND"), count: items.count,
      ifEmpty: listFilters == nil ? empty : nil
    ) {
      items[$0].row(
        at: moment, counter: counters[items[$0].id], type: showsTypes ? items[$0].credentialType : nil,
        isLocked: locked.contains(items[$0].id))
    }
  }
}

extension Table.Column {
  /// Those of ``Item/listCells(kind:)``.
  static func ofItems(_ kind: String) -> [Table.Column] {
    [
      Table.Column("NAME"), Table.Column(kind, isSecondary: true), Table.Column("SERVICE"),
      Table.Column("ACCOUNT"),
    ]
  }
}

/// What the help of a list says of how it looks.
let noteOnLists =
  "On a terminal a list has headings and is cut to its width, and a longer one than the screen goes through $PAGER, unless the agent has "
  + "printed it. Its last column also marks: code, an entry with a one-time code; locked PIN. A pipe and a file get all of it, without headings."

/// What the help of a list says of the marks of counters.
let noteOnCounters =
  "A credential whose counter gives no code is marked: counter at its end (it never gives one again), needs its counter ('vaultctl otp "
  + "counter NAME --set N'), counter damaged. With --json: exhausted, needsResync or counterDamaged, where it is true."

extension ItemListing.CounterMark {
  /// The mark for people.
  var words: String {
    switch self {
    case .atEnd: "counter at its end"
    case .mustBeSet: "needs its counter"
    case .damaged: "counter damaged"
    }
  }

  /// The member of JSON, as `otp show` has it.
  fileprivate var field: String {
    switch self {
    case .atEnd: "exhausted"
    case .mustBeSet: "needsResync"
    case .damaged: "counterDamaged"
    }
  }
}
