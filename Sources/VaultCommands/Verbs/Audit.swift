import CommandLineKit
import Glibc
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl audit`.
enum Audit: VaultVerb {
  static let words = ["audit"]
  static let summary = "Show the entries of the audit, oldest first."
  static let since = Setting(
    "since", .past, "T",
    "Only entries from this moment on: a date like 2027-01-31, with a time or not, or how long ago, like 1h.")
  static let item = Setting("item", .name, "NAME", "Only entries about this item.")
  static let follow = Flag("follow", "Keep printing new entries, until Ctrl-C.")
  static let check = Flag(
    "check", "Check the chain of every entry; asks for the passcode where one is set.")
  static let ownOptions: [any OptionKey] = [since, item, follow, check]
  static let channels = [SecretChannel.passcode]
  static let ownExits: [ExitCode] = [.notFound, .unsupported]
  static let notes = [
    "Entries that do not open are named on standard error, and the others are shown (10, or 15 when a newer version of this "
      + "program made them). With --json: items, and unreadable, the numbers of such entries.",
    "The whole log is compared with what the vault says of it, whatever part is shown: when entries are missing in the middle or at "
      + "the end, one line says so (10). With --json: whole, true or false.",
    "exported and itemRead are written before the secret leaves: they say that it could leave, and not that the export or the command "
      + "was completed.",
    "promptShown: a person was asked; its outcome is answered, cancelled, signal, timeout or program, beside the name of the secret and in "
      + "--json. given: the secret came from a file, a descriptor or a credential, and no person was asked.",
    "With --json, user, process and executable are the program that wrote the entry; callerUser, callerProcess and "
      + "callerExecutable the one that it served, as it says itself.",
    "Entries are shown without the passcode; only --check needs it. "
      + "With --follow and --json each entry is one object on a line of its own.",
  ]
  static let examples = [
    "vaultctl audit --since 1h",
    "vaultctl audit --item mail --json",
  ]
  static let namesCommand: String? = NamesCommand.text()

  static func run(_ command: Command) throws -> Outcome {
    let core = try command.vault.opened()
    if command[check] { return try checkChain(command, core: core) }
    let filter = try AuditFilter(command, core: core)
    if command[follow] { try printNew(command, core: core, filter: filter) }
    let log = try core.auditLog()
    let unreadable = log.unreadable.map { UnreadableEntry(sequence: $0.sequence, error: $0.error) }
    let shown = try show(core, entries: log.entries, filter: filter)
    for entry in unreadable { command.messages.note(entry.words) }
    return Outcome(
      json: .object {
        Field("items", .list(count: shown.count) { shown[$0].json })
        Field("unreadable", .array(unreadable.map { .unsigned($0.sequence) }))
        Field("whole", log.gap == nil)
      },
      pieces: command.isJSON ? [] : [.table(table(of: shown.count) { shown[$0].row })],
      failure: log.gap.map(failure) ?? failure(unreadable))
  }
}

/// Something of the log is gone, whatever part of it is shown.
private func failure(_ gap: String) -> CommandError {
  CommandError(
    .damaged, "the audit is not whole: \(gap)",
    hint: "entries were removed, or the file is damaged; \(AuditWords.wayOut)")
}

/// An entry that does not open, and why. Which item it is about is unknown, so no filter leaves it out.
private struct UnreadableEntry {
  let sequence: UInt64
  let error: VaultError

  var words: String { "audit entry \(sequence) does not open: \(error.message)" }
}

private func failure(_ entries: [UnreadableEntry]) -> CommandError? {
  guard let first = entries.first(where: { $0.error.code == .damaged }) ?? entries.first else { return nil }
  let numbers = entries.prefix(3).map { String($0.sequence) }.joined(separator: ", ")
  let more = entries.count > 3 ? ", and \(entries.count - 3) more" : ""
  let what =
    entries.count == 1
    ? "1 entry of the audit does not open" : "\(entries.count) entries of the audit do not open"
  return CommandError(
    CommandError(first.error).exit, "\(what): \(numbers)\(more)",
    hint: first.error.code == .damaged
      ? "the others are shown; \(AuditWords.wayOut)"
      : "the others are shown; a newer version of this program shows these",
    code: first.error.code.rawValue)
}

/// Which entries are shown.
private struct AuditFilter {
  let since: Int64?
  let item: ItemID?
  /// Deleted items are found by the name that their last entry keeps.
  let name: String?

  init(_ command: Command, core: VaultCore) throws {
    since = command[Audit.since]?.seconds(before: core.environment.clock.now().seconds)
    name = command[Audit.item]
    guard let name else {
      item = nil
      return
    }
    let found = try core.listing(of: Query(name: name))
    // The index leads to an item by its name, whether the item opens or not.
    item = found.items.first?.id ?? found.unreadable.first?.id
    let isKnown =
      try item != nil
      || core.auditEntries(damaged: { _, _ in }).contains { $0.item != nil && $0.detail == name }
    guard isKnown else { throw CommandError(.notFound, "there is and was no item '\(printable(name))'") }
  }

  func shows(_ entry: AuditEntry, deleted: Set<ItemID>) -> Bool {
    if let since, entry.time.seconds < since { return false }
    guard name != nil else { return true }
    guard let id = entry.item else { return false }
    return id == item || deleted.contains(id)
  }
}

/// An entry with the name of its item.
private struct ShownEntry {
  let entry: AuditEntry
  let name: String?

  var json: JSON {
    var fields: [(String, JSON)] = [
      ("sequence", .unsigned(entry.sequence)), ("time", .integer(entry.time.seconds)),
      ("operation", .string(entry.operation.name)), ("result", .integer(Int64(entry.result.rawValue))),
    ]
    if let item = entry.item { fields.append(("item", .string(item.hexadecimal))) }
    if let name { fields.append(("name", .string(name))) }
    if let kind = entry.itemKind { fields.append(("kind", .string(kind.word))) }
    if let detail = entry.detail { fields.append(("detail", .string(detail))) }
    if let outcome = entry.outcome { fields.append(("outcome", .string(outcome.name))) }
    fields += [
      ("bootMilliseconds", .unsigned(entry.bootMilliseconds)), ("user", .integer(Int64(entry.user))),
      ("process", .integer(Int64(entry.process))), ("executable", .string(entry.executable)),
    ]
    if let caller = entry.caller {
      fields += [
        ("callerUser", .integer(Int64(caller.user))), ("callerProcess", .integer(Int64(caller.process))),
        ("callerExecutable", .string(caller.executable)),
      ]
    }
    return .object(fields)
  }

  var row: [String] {
    let result = entry.result == .success ? "ok" : "failed (\(entry.result.rawValue))"
    let subject = name ?? entry.item?.hexadecimal ?? ""
    let detail = [entry.detail.flatMap { $0 == subject ? nil : $0 }, entry.outcome?.name]
      .compactMap(\.self).joined(separator: ": ")
    return [
      String(entry.sequence), Instants.text(seconds: entry.time.seconds), entry.operation.name, result,
      subject, detail,
    ]
  }
}

private func show(_ core: VaultCore, entries: [AuditEntry], filter: AuditFilter) throws -> [ShownEntry] {
  let deleted = Set(entries.filter { filter.name != nil && $0.detail == filter.name }.compactMap(\.item))
  let shown = entries.filter { filter.shows($0, deleted: deleted) }
  var names: [ItemID: String] = [:]
  for entry in entries {
    if let id = entry.item, let detail = entry.detail, isRemoval(entry) { names[id] = detail }
  }
  for id in Set(shown.compactMap(\.item)) where names[id] == nil {
    // An item that does not open has no name here; its id is shown.
    names[id] = try core.listing(of: Query(id: id)).items.first?.name
  }
  return shown.map { entry in ShownEntry(entry: entry, name: entry.item.flatMap { names[$0] }) }
}

/// The entries whose detail is the name of an item that is gone.
private func isRemoval(_ entry: AuditEntry) -> Bool {
  [.itemDeleted, .itemTrashed].contains(entry.operation) || entry.operation == .expiredPurged
}

/// Prints what is there and then what comes, until Ctrl-C.
private func printNew(_ command: Command, core: VaultCore, filter: AuditFilter) throws -> Never {
  var next: UInt64 = 0
  while true {
    var last: UInt64?
    let entries = try core.auditEntries(from: next) { sequence, error in
      command.messages.note(UnreadableEntry(sequence: sequence, error: error).words)
      last = sequence
    }
    for entry in try show(core, entries: entries, filter: filter) {
      try command.emit(Outcome(json: entry.json, lines: columns([entry.row])))
    }
    if let last = [last, entries.last?.sequence].compactMap(\.self).max() { next = last + 1 }
    usleep(300_000)
    // In the agent: without an agent, the signal has ended the process.
    guard command.world.interruption.signal == nil else { throw Interrupted() }
  }
}

private func checkChain(_ command: Command, core: VaultCore) throws -> Outcome {
  try command.vault.unlock(core)
  let progress = command.progress("checking")
  defer { progress.finish() }
  let report = try core.verify { progress.update(done: $0.done, of: $0.total) }
  let damage = report.auditProblems
  let problems = damage + report.newer.filter { $0.hasPrefix("audit") }
  let json = JSON.object {
    Field("sound", problems.isEmpty)
    Field("auditEntries", report.auditEntries)
    Field("auditChainChecked", report.isAuditChainChecked)
    Field("problems", .array(problems.map { .string($0) }))
  }
  let found =
    report.isAuditChainChecked
    ? "the chain is whole" : "in order; the chain was not checked, because that needs the passcode"
  let verdict =
    problems.isEmpty ? ["\(report.auditEntries) entries, \(found)"] : problems.map(printable)
  return Outcome(json: json, lines: verdict, failure: problems.isEmpty ? nil : failure(damage.isEmpty))
}

private func failure(_ isNewer: Bool) -> CommandError {
  guard isNewer else {
    return CommandError(.damaged, "the audit was altered or is damaged", hint: AuditWords.wayOut)
  }
  return CommandError(
    .unsupported, "the chain was not checked: a newer version of this program made entries of the audit",
    hint: "check it with that version", code: VaultError.Code.newerFormat.rawValue)
}
