import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl find TEXT`.
enum ItemFind: VaultVerb {
  static let words = ["find"]
  static let summary = "Find items by a part of their name or of another attribute."
  static let text = Argument("TEXT", .text, "A part of a name, an account, a host or another attribute.")
  static let arguments = [text]
  static let all = Flag(
    "all", "Look into notes, fields and addresses too, and ask for the passcode. Passwords are not looked at."
  )
  static let ownOptions: [any OptionKey] = [all, ItemOptions.format]
  static let channels: [SecretChannel] = [.passcode, .recovery]
  static let passcodeCase: String? = "with --all, where one is set"
  static let asks: String? = "nothing; with --all for the passcode"
  static let audited = Audited.onRequest
  static let ownExits: [ExitCode] = [.notFound, .malformed, .unsupported]
  static let notes = [
    "Without --all it looks at what can be read without the passcode: name, account, service, label, tags, host, comment and issuer. "
      + "Upper and lower case are the same; an accent is a part of its letter, so that e does not find é.",
    "A line says where the text was found, and never what was found: TEXT is on the command line, so with --all look for what is no secret. "
      + "Entries with an access rule are not opened; a message says how many.",
    "Items are sorted by name. Where nothing is found, the exit code is 1. With --json: items, each with foundIn, and notSearched.",
    noteOnUnreadableItems,
  ]
  static let examples = [
    "vaultctl find mail",
    "vaultctl find mail --json",
  ]

  static func run(_ command: Command) throws -> Outcome {
    let typed = command.required(text)
    guard !typed.isEmpty else { throw CommandError.malformed("TEXT is empty") }
    let folded = try FoldedText(typed)
    let progress = command.progress("searching")
    defer { progress.finish() }
    let core = try command.vault.opened()
    var listing = try core.listing(of: nil) { progress.update(done: $0, of: 0) }
    // The passcode may be asked for.
    progress.finish()
    let sealed = try command[all] ? command.sealedPlaces(of: folded, in: listing.items) : SealedPlaces()
    var places: [ItemID: [String]] = [:]
    for item in listing.items {
      let found = item.places(of: folded) + (sealed.places[item.id] ?? [])
      if !found.isEmpty { places[item.id] = found }
    }
    listing.items.removeAll { places[$0.id] == nil }
    if sealed.unsearched > 0 {
      command.messages.note("entries with an access rule, which were not searched: \(sealed.unsearched)")
    }
    return outcome(command, listing, places, sealed.unsearched, typed)
  }

  private static func outcome(
    _ command: Command, _ listing: ItemListing, _ places: [ItemID: [String]], _ unsearched: Int,
    _ typed: String
  ) -> Outcome {
    let items = listing.items.sortedByName()
    let moment = listing.moment
    let json = JSON.object {
      Field(
        "items",
        .list(count: items.count) {
          items[$0].json(at: moment).adding("foundIn", (places[items[$0].id] ?? []).json)
        })
      if command[all] { Field("notSearched", unsearched) }
    }
    let unreadable = CommandError(unreadable: listing.unreadable, beside: items)
    guard !items.isEmpty else {
      let hint =
        command[all]
        ? "'vaultctl ls' shows what there is" : "--all also looks into notes, fields and addresses"
      return Outcome(
        json: json,
        failure: unreadable
          ?? CommandError(
            .notFound, "nothing was found for '\(printable(typed))'", hint: hint, code: "nothingFound"))
    }
    return Outcome(
      json: json, pieces: pieces(command, items, moment, listing.counterMarks, places), failure: unreadable)
  }

  private static func pieces(
    _ command: Command, _ items: [Item], _ moment: ExpiryMoment,
    _ counters: [ItemID: ItemListing.CounterMark], _ places: [ItemID: [String]]
  ) -> [Outcome.Piece] {
    switch command[ItemOptions.format] ?? .table {
    case .name: [.lines(count: items.count) { printable(items[$0].name ?? items[$0].id.hexadecimal) }]
    case .id: [.lines(count: items.count) { items[$0].id.hexadecimal }]
    case .table:
      command.list(
        Table.Column.ofItems("KIND") + [Table.Column("FOUND IN", isSecondary: true)], count: items.count,
        ifEmpty: nil
      ) { index in
        let item = items[index]
        let hasExpired = moment.hasExpired(item)
        let counter = counters[item.id]
        return ListRow(
          cells: item.listCells(kind: item.kind.word) + [(places[item.id] ?? []).joined(separator: ", ")],
          marksOnTerminal: [item.owned == nil ? nil : "code", hasExpired ? "expired" : nil, counter?.words]
            .compactMap(\.self),
          warns: hasExpired || counter != nil)
      }
    }
  }
}

/// Where a text was found under the seal.
private struct SealedPlaces {
  var places: [ItemID: [String]] = [:]
  /// How many entries were not opened.
  var unsearched = 0
}

extension Command {
  /// Looks into all entries without an access rule, with one passcode.
  fileprivate func sealedPlaces(of text: FoldedText, in items: [Item]) throws -> SealedPlaces {
    var found = SealedPlaces()
    let entries = items.filter { $0.isEntry }
    found.unsearched = entries.count(where: \.isConstrained)
    let open = entries.filter { !$0.isConstrained }
    guard !open.isEmpty else { return found }
    try vault.unlocking { core in
      for item in open {
        do throws(VaultError) {
          let places = try core.entry(of: item.id).places(of: text)
          if !places.isEmpty { found.places[item.id] = places }
        } catch {
          // Deleted, or refused by its expiry, meanwhile or before.
          guard [.itemNotFound, .expired].contains(error.code) else { throw error }
          found.unsearched += 1
        }
      }
    }
    return found
  }
}

extension Item {
  /// Where a text is in what can be read without the passcode.
  fileprivate func places(of text: FoldedText) -> [String] {
    let attributes = attributes
    var places: [String] = []
    let texts: [(String, Attribute<String>)] = [
      ("name", .name), ("account", .account), ("service", .service), ("label", .label), ("tags", .tags),
      ("host", .server), ("comment", .comment), ("issuer", .issuer),
    ]
    for (word, attribute) in texts {
      if let value = attributes[attribute], text.isIn(value) { places.append(word) }
    }
    return places
  }
}

extension EntryContent {
  /// Where a text is in the sealed part, but the password.
  fileprivate func places(of text: FoldedText) -> [String] {
    var places: [String] = []
    if let sharedNotes, text.isIn(sharedNotes.bytes) { places.append("notes") }
    if sharedAddresses.contains(where: { text.isIn($0.bytes) }) { places.append("url") }
    for field in fields where text.isIn(field.name) || text.isIn(field.shared.bytes) {
      places.append("\"\(field.name)\"")
    }
    return places
  }
}
