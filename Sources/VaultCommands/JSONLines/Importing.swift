import AuthenticatorKit
import CommandLineKit
import OneTimePassword
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// What was done with the lines of an import so far.
///
/// A duplicate is a line whose name is taken. The lines of one file never replace or drop each other, and a line that is renamed
/// keeps everything else as it was typed.
struct Importing {
  /// What to do with a line whose name an item of the vault has already.
  enum Duplicates {
    case skip
    case rename
    case replace
    case fail
  }

  enum Result: String, CaseIterable {
    case added
    case skipped
    case renamed
    case replaced
  }

  /// What became of one line.
  struct Entry {
    let line: Int
    /// The name that the line gives.
    let typed: String
    /// The name under which the line is stored, or that it gives.
    var name: String
    var result = Result.added
    var stored: ItemID?
    var holder: Holder?
    var isInTrash = false
    var warnings: [String] = []
  }

  /// What has, or had, the name of a line.
  indirect enum Holder {
    case item(Item)
    /// An earlier line.
    case line(Int)
  }

  /// What is shown of the lines.
  private(set) var entries: [Entry] = []
  private var counts: [Result: Int64] = [:]
  /// How many of the stored lines had expired.
  private var expired: Int64 = 0
  /// How many of them went into the trash, and how many former versions came with them.
  private var (trashed, former): (Int64, Int64) = (0, 0)
  /// What became of the line before, to which a one-time code belongs.
  private var before: Entry?
  /// What was in the trash before the import.
  private var trash: [Trashed: [Item]]?
  private let onDuplicate: Duplicates
  /// Whether it also keeps what became of the lines that were just added.
  private let keepsAll: Bool
  /// The hash values of the names of all lines: no line takes one of them from another. A number that would be free is passed over
  /// where two values are equal.
  private let names: Set<Int>
  /// The items that lines became, by ascending row, and their lines.
  private var stored: [(row: Int64, line: Int)] = []
  /// The last number that was appended to a name.
  private var numbers: [String: Int] = [:]
  private var used = UsedCodes()

  init(_ names: Set<Int>, onDuplicate: Duplicates, keepingAll keepsAll: Bool) {
    self.onDuplicate = onDuplicate
    self.keepsAll = keepsAll
    self.names = names
  }

  /// How many items were stored.
  var count: Int { stored.count }

  /// The line that an item comes from; `nil` for an item that was there before.
  private func line(of item: Item) -> Int? {
    var (low, high) = (0, stored.count)
    while low < high {
      let middle = (low + high) / 2
      if stored[middle].row < item.row { low = middle + 1 } else { high = middle }
    }
    return low < stored.count && stored[low].row == item.row ? stored[low].line : nil
  }

  private mutating func note(_ entry: Entry) {
    counts[entry.result, default: 0] += 1
    if keepsAll || entry.isShown || !entry.warnings.isEmpty { entries.append(entry) }
  }

  mutating func store(_ line: ItemLine, in transaction: inout WriteTransaction) throws {
    var line = line
    var entry = Entry(line: line.number, typed: line.name, name: line.name)
    entry.isInTrash = line.item.trashedUntil != nil
    var code: ItemID?
    if line.isOfEntry {
      try place(codeIn: &line, &entry, in: &transaction)
    } else if entry.isInTrash {
      code = try place(trashedIn: &line, &entry, in: &transaction)
    } else {
      code = try place(&line, &entry, in: &transaction)
    }
    if entry.result != .skipped {
      let item = try add(line, &entry, to: &transaction)
      if let code { try transaction.giveOwned(code, to: item) }
    }
    if !line.isOfEntry { before = entry }
    note(entry)
  }

  /// Decides what becomes of a line that takes a name.
  ///
  /// - Returns: The one-time code of the entry that is replaced, for the new one.
  private mutating func place(
    _ line: inout ItemLine, _ entry: inout Entry, in transaction: inout WriteTransaction
  ) throws -> ItemID? {
    guard let item = try transaction.item(holding: line.name) else {
      entry.warnings += try used.skipUsed(&line, beside: nil, in: &transaction)
      return nil
    }
    let earlier = self.line(of: item)
    entry.holder = earlier.map(Holder.line) ?? .item(item)
    switch onDuplicate {
    case .fail:
      throw line.duplicate(
        earlier.map { "line \($0) has its name" } ?? "an item with its name is there",
        advice: earlier == nil
          ? "try --on-duplicate skip, rename or replace" : "with --on-duplicate rename it gets a number")
    case .skip where earlier == nil: entry.result = .skipped
    case .replace where earlier == nil: return try replace(item, by: &line, &entry, in: &transaction)
    case .skip, .replace, .rename:
      try rename(&line, &entry, beside: earlier == nil ? item : nil, named: item, in: &transaction)
    }
    return nil
  }

  /// Deletes the item whose place a line takes; a password goes into the trash. Its one-time code stays, because the line of a password
  /// does not say anything about the code.
  ///
  /// - Parameter owner: The entry to which the item belongs, of a one-time code.
  /// - Returns: The code, for the new entry.
  private mutating func replace(
    _ item: Item, of owner: Item? = nil, by line: inout ItemLine, _ entry: inout Entry,
    in transaction: inout WriteTransaction
  ) throws -> ItemID? {
    try line.refuseReplacing(item)
    entry.warnings += line.losses(replacing: item)
    entry.warnings += try line.keepBehind(counterOf: item, in: &transaction)
    try used.release(item, in: &transaction)
    entry.warnings += try used.skipUsed(&line, beside: item, in: &transaction)
    entry.result = .replaced
    guard item.kind.rules.canBeEntry else {
      if let owner { try transaction.deleteOwned(by: owner) } else { try transaction.delete(item.id) }
      return nil
    }
    try readTrash(in: &transaction)
    let code = try transaction.takeOwned(by: item)
    // Deletes what is in the trash already.
    try transaction.moveToTrash(item.id)
    return code
  }

  /// - Parameters:
  ///   - other: An item of the vault with the name.
  ///   - item: What has the name.
  private mutating func rename(
    _ line: inout ItemLine, _ entry: inout Entry, beside other: Item?, named item: Item,
    in transaction: inout WriteTransaction
  ) throws {
    if let other, line.role == .prover {
      entry.warnings += try line.keepBehind(counterOf: other, in: &transaction)
    }
    entry.warnings += try used.skipUsed(&line, beside: item, in: &transaction)
    // The former code of an entry, in the trash, has none.
    guard !line.name.isEmpty else { return }
    entry.name = try freeName(for: line, in: &transaction)
    line.item.attributes[.name] = entry.name
    entry.result = .renamed
  }

  /// A one-time code goes where its entry went. It replaces the code that an entry has which its own line replaced.
  private mutating func place(
    codeIn line: inout ItemLine, _ entry: inout Entry, in transaction: inout WriteTransaction
  ) throws {
    guard let owner = before, owner.typed == line.name, owner.isInTrash == entry.isInTrash else {
      throw ImportLines.changed
    }
    (entry.result, entry.holder, entry.name) = (owner.result, owner.holder, owner.name)
    guard let id = owner.stored else { return }
    line.item.owner = id
    guard owner.result == .replaced else {
      entry.warnings += try used.skipUsed(&line, beside: nil, in: &transaction)
      return
    }
    let present = try transaction.item(id)
    if let code = try transaction.reading.owned(by: present) {
      entry.holder = .item(code)
      _ = try replace(code, of: present, by: &line, &entry, in: &transaction)
    } else {
      (entry.result, entry.holder) = (.added, nil)
      entry.warnings += try used.skipUsed(&line, beside: nil, in: &transaction)
    }
  }

  /// A line for the trash takes no name. It is a duplicate of what is there already with its kind, name and end.
  ///
  /// - Returns: The one-time code of the entry that is replaced, for the new one.
  private mutating func place(
    trashedIn line: inout ItemLine, _ entry: inout Entry, in transaction: inout WriteTransaction
  ) throws -> ItemID? {
    let (end, last) = (line.item.trashedUntil!, transaction.lastTrashEnd)
    guard end > transaction.reading.expiryTime else {
      entry.result = .skipped
      entry.warnings.append("its time in the trash is over")
      return nil
    }
    if end > last { entry.warnings.append("it stays in the trash for 30 days at most") }
    guard let item = try trashed(Trashed(line, until: min(end, last)), in: &transaction) else {
      entry.warnings += try used.skipUsed(&line, beside: nil, in: &transaction)
      return nil
    }
    entry.holder = .item(item)
    switch onDuplicate {
    case .fail:
      throw line.duplicate(
        "the trash has an item of its name that ends with it",
        advice: "try --on-duplicate skip, rename or replace")
    case .skip: entry.result = .skipped
    case .replace: return try replace(item, by: &line, &entry, in: &transaction)
    case .rename: try rename(&line, &entry, beside: item, named: item, in: &transaction)
    }
    return nil
  }

  /// What a line for the trash is known by.
  private struct Trashed: Hashable {
    let kind: UInt32
    let name: String?
    let until: Int64?

    init(_ line: ItemLine, until: Instant) {
      (kind, name, self.until) = (line.item.kind.rawValue, line.item.attributes[.name], until.seconds)
    }

    init(_ item: Item) {
      (kind, name, until) = (item.kind.rawValue, item.name, item.expires?.seconds)
    }
  }

  private mutating func trashed(_ key: Trashed, in transaction: inout WriteTransaction) throws -> Item? {
    try readTrash(in: &transaction)
    // Each is the duplicate of one line.
    return trash?[key]?.popLast()
  }

  /// Reads the trash before a line puts something into it.
  private mutating func readTrash(in transaction: inout WriteTransaction) throws {
    guard trash == nil else { return }
    trash = Dictionary(grouping: try transaction.reading.trash(), by: Trashed.init)
  }

  private mutating func add(
    _ line: ItemLine, _ entry: inout Entry, to transaction: inout WriteTransaction
  ) throws -> Item {
    let added = try line.add(to: &transaction)
    // Nothing uses a code that is in the trash, and there it is behind all others.
    try used.note(line, storedAs: entry.isInTrash ? nil : added.item.id)
    entry.stored = added.item.id
    // In form C of Unicode.
    entry.name = added.item.name ?? entry.name
    entry.warnings += added.warnings
    former += Int64(line.former.count)
    if entry.isInTrash {
      trashed += 1
    } else if let date = added.item.expiryDate, transaction.reading.expiryMoment.hasExpired(added.item) {
      expired += 1
      entry.warnings.append(added.item.expiredWords(date))
    }
    stored.append((added.item.row, line.number))
    return added.item
  }

  /// NAME-2, NAME-3 …: a name that neither an item nor a line has.
  private mutating func freeName(for line: ItemLine, in transaction: inout WriteTransaction) throws -> String
  {
    var number = numbers[line.name] ?? 1
    while true {
      number += 1
      let name = "\(line.name)-\(number)"
      guard name.utf8.count <= Names.longest else {
        throw line.duplicate(
          "its name is taken, and too long for a number", advice: "give the line a shorter name")
      }
      guard !names.contains(name.hashValue), try transaction.item(holding: name) == nil else { continue }
      numbers[line.name] = number
      return name
    }
  }
}

// MARK: What is printed

extension Importing {
  func outcome(_ isDryRun: Bool) -> Outcome {
    let counts =
      Result.allCases.map { ($0.rawValue, self.counts[$0] ?? 0) } + [("expired", expired)]
      + [("trash", trashed), ("former", former)].filter { $0.1 > 0 }
    let items = JSON.list(count: entries.count) { [entries] in entries[$0].json }
    return Outcome(
      json: .object(
        counts.map { ($0, .integer($1)) } + [("dryRun", .boolean(isDryRun)), ("items", items)]),
      lines: entries.compactMap(\.text) + columns(counts.map { [$0, String($1)] })
        + (isDryRun ? ["nothing was stored: this was a dry run"] : []))
  }
}

extension Importing.Entry {
  /// Whether a person is told of the line.
  fileprivate var isShown: Bool { holder != nil || result == .skipped }

  fileprivate var json: JSON {
    .object {
      Field("line", line)
      Field("name", name)
      Field("result", result.rawValue)
      Field("id", stored?.hexadecimal)
      if result == .renamed { Field("oldName", typed) }
      if isInTrash { Field("trash", true) }
      if let duplicateOf { Field("duplicateOf", duplicateOf) }
      if !warnings.isEmpty { Field("warnings", .array(warnings.map { .string($0) })) }
    }
  }

  /// `nil` for a line that was just added.
  fileprivate var text: String? {
    guard let holder else {
      return result == .skipped
        ? "line \(line): skipped \(shownName): its time in the trash is over" : nil
    }
    let names = result == .renamed ? "\(printable(typed)) -> \(printable(name))" : shownName
    let what = "line \(line): \(result.rawValue) "
    return switch holder {
    case .item(let item) where result == .replaced: what + item.recognized
    case .item(let item) where item.isInTrash: what + names + ": the trash has \(item.recognized)"
    case .item(let item): what + names + ": the vault has \(item.recognized)"
    case .line(let number): what + names + ": line \(number) has that name"
    }
  }

  private var shownName: String { name.isEmpty ? "a one-time code without a name" : printable(name) }

  private var duplicateOf: JSON? {
    switch holder {
    case .item(let item):
      .object {
        Field("id", item.id.hexadecimal)
        Field("name", item.name)
        Field("kind", item.kind.word)
        Field("service", item.attributes[.service])
        Field("account", item.attributes[.account])
      }
    case .line(let number):
      .object {
        Field("line", number)
        Field("name", typed)
      }
    case nil: nil
    }
  }
}

extension Item {
  /// What a person recognizes it by: its name, and its kind, service or issuer, and account in parentheses.
  fileprivate var recognized: String {
    let service = attributes[.service] ?? attributes[.issuer]
    let facts = [kind.word, service, attributes[.account]].compactMap(\.self).map(printable)
    return "\(printable(name ?? id.hexadecimal)) (\(facts.joined(separator: ", ")))"
  }
}

extension WriteTransaction {
  fileprivate mutating func item(holding name: String) throws(VaultError) -> Item? {
    try items(matching: Query(name: name)).first
  }
}
