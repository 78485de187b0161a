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
    if let item = try transaction.item(holding: line.name) {
      let earlier = self.line(of: item)
      entry.holder = earlier.map(Holder.line) ?? .item(item)
      switch onDuplicate {
      case .fail:
        throw line.duplicate(
          earlier.map { "line \($0) has its name" } ?? "an item with its name is there",
          advice: earlier == nil
            ? "try --on-duplicate skip, rename or replace" : "with --on-duplicate rename it gets a number")
      case .skip where earlier == nil:
        entry.result = .skipped
        note(entry)
        return
      case .replace where earlier == nil:
        try line.refuseReplacing(item)
        entry.warnings += line.losses(replacing: item)
        entry.warnings += try line.keepBehind(counterOf: item, in: &transaction)
        try used.release(item, in: &transaction)
        entry.warnings += try used.skipUsed(&line, beside: item, in: &transaction)
        try transaction.delete(item.id)
        entry.result = .replaced
      case .skip, .replace, .rename:
        if earlier == nil, line.role == .prover {
          entry.warnings += try line.keepBehind(counterOf: item, in: &transaction)
        }
        entry.warnings += try used.skipUsed(&line, beside: item, in: &transaction)
        entry.name = try freeName(for: line, in: &transaction)
        line.item.attributes[.name] = entry.name
        entry.result = .renamed
      }
    } else {
      entry.warnings += try used.skipUsed(&line, beside: nil, in: &transaction)
    }
    let added = try line.add(to: &transaction)
    try used.note(line, storedAs: added.item.id)
    entry.stored = added.item.id
    // In form C of Unicode.
    entry.name = added.item.name ?? entry.name
    entry.warnings += added.warnings
    if let date = added.item.expiryDate, transaction.reading.expiryMoment.hasExpired(added.item) {
      expired += 1
      entry.warnings.append(added.item.expiredWords(date))
    }
    stored.append((added.item.row, line.number))
    note(entry)
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
    let counts = Result.allCases.map { ($0.rawValue, self.counts[$0] ?? 0) } + [("expired", expired)]
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
  fileprivate var isShown: Bool { holder != nil }

  fileprivate var json: JSON {
    .object {
      Field("line", line)
      Field("name", name)
      Field("result", result.rawValue)
      Field("id", stored?.hexadecimal)
      if result == .renamed { Field("oldName", typed) }
      if let duplicateOf { Field("duplicateOf", duplicateOf) }
      if !warnings.isEmpty { Field("warnings", .array(warnings.map { .string($0) })) }
    }
  }

  /// `nil` for a line that was just added.
  fileprivate var text: String? {
    guard let holder else { return nil }
    let names = result == .renamed ? "\(printable(typed)) -> \(printable(name))" : printable(name)
    let what = "line \(line): \(result.rawValue) "
    return switch holder {
    case .item(let item) where result == .replaced: what + item.recognized
    case .item(let item): what + names + ": the vault has \(item.recognized)"
    case .line(let number): what + names + ": line \(number) has that name"
    }
  }

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

// MARK: One line

extension ItemLine {
  /// - Returns: The item, and what a person should know about it.
  fileprivate func add(to transaction: inout WriteTransaction) throws -> (item: Item, warnings: [String]) {
    var warnings: [String] = []
    do {
      guard item.kind == .otp else {
        return (try transaction.add(item, entry: entry ?? EntryContent(password: secret.copy())), warnings)
      }
      if let suite { return (try add(suite, to: &transaction), warnings) }
      let uri = try self.uri()
      warnings += uri.warnings.map(\.words)
      let added = try transaction.addOTP(uri, named: name, role: role, window: window, adjusting: adjust)
      return (added, warnings)
    } catch let error as VaultError where error.code != .locked {
      throw CommandError(error).inLine(number)
    }
  }

  private func add(_ suite: OCRASuite, to transaction: inout WriteTransaction) throws(VaultError) -> Item {
    var new = NewOCRACredential(suite, name: name, role: role)
    (new.counter, new.window, new.allowsWeak) = (item.state.counter, window, allowsWeak)
    return try transaction.addOCRA(new, key: secret.copy(), adjusting: adjust)
  }

  /// What a line says besides the parameters of a credential.
  private func adjust(_ new: inout NewItem) {
    for (_, attribute) in Self.attributes {
      if let text = item.attributes[attribute] { new.attributes[attribute] = text }
    }
    if let tags = item.attributes[.tags] { new.attributes[.tags] = tags }
    (new.access, new.audit, new.expires) = (item.access, item.audit, item.expires)
    // That of a verifier may have been raised above the one in its URI.
    new.state.counter = max(new.state.counter, item.state.counter)
    new.state.lastAccepted = item.state.lastAccepted
    new.state.needsResync = item.state.needsResync
    new.state.isBlocked = item.state.isBlocked
  }

  /// Refuses to replace an item by a line that cannot say what the item is.
  fileprivate func refuseReplacing(_ old: Item) throws(CommandError) {
    guard old.kind == item.kind else {
      throw duplicate(
        "it would replace an item of kind \(old.kind.word)", advice: "try --on-duplicate skip or rename")
    }
    if old.isBehindPIN {
      throw guarded("a PIN guards the item with its name, and the line would replace it by one without a PIN")
    }
    if old.isOfServer {
      throw guarded(
        "a server has activated the credential with its name, and the line would replace it by one without a server"
      )
    }
  }

  /// A prover whose counter is behind that of the one with its name gives no code until its counter is set, because codes would
  /// be made twice. A verifier that would replace it accepted codes twice, and is refused.
  ///
  /// - Returns: A warning, where the counter is behind.
  fileprivate mutating func keepBehind(
    counterOf old: Item, in transaction: inout WriteTransaction
  ) throws -> [String] {
    guard old.countsCodes, old.attributes[.otpRole] == role.rawValue, let counter = try counter() else {
      return []
    }
    let before = try transaction.state(of: old.id)
    let isKnownBehind =
      role == .prover && before.needsResync && !item.state.needsResync && counter == before.counter
    guard counter < before.counter || before.isBlocked && !item.state.isBlocked || isKnownBehind else {
      return []
    }
    guard role == .prover else {
      throw guarded("the counter of the verifier with its name is ahead: it would accept codes twice")
    }
    item.state.needsResync = true
    return [
      "the counter of the credential with its name is ahead: it gives no code before 'vaultctl otp counter NAME --set N', with "
        + "N from the server"
    ]
  }

  /// The counter of a credential that has one.
  private func counter() throws(CommandError) -> UInt64? {
    guard item.kind == .otp else { return nil }
    guard suite == nil else { return suite?.hasCounter == true ? item.state.counter : nil }
    return try hotpCounter()
  }

  /// What the item has and the line does not replace.
  fileprivate func losses(replacing old: Item) -> [String] {
    guard old.isConstrained, item.access.constraints.isEmpty else { return [] }
    let rule = old.access.constraints.shown.joined(separator: ",")
    return ["'\(printable(name))' had the access rule \(rule), and the line that replaces it has none"]
  }

  private func guarded(_ why: String) -> CommandError {
    CommandError(
      .refused, why,
      hint: "nothing was imported; try --on-duplicate skip or rename, or delete the item first"
    ).inLine(number)
  }

  /// - Parameter advice: What helps; never the option that was given.
  fileprivate func duplicate(_ why: String, advice: String) -> CommandError {
    CommandError(.alreadyExists, why, hint: "nothing was imported; " + advice).inLine(number)
  }
}

extension WriteTransaction {
  fileprivate mutating func item(holding name: String) throws(VaultError) -> Item? {
    try items(matching: Query(name: name)).first
  }
}
