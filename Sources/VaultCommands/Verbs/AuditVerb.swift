import CommandLineKit
import Glibc
import TextFormats
import VaultKit

/// `vaultctl audit`.
func runAudit(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened()
  if command.invocation.has("verify") { return try verifyChain(command, core) }
  let filter = try AuditFilter(command, core)
  if command.invocation.has("follow") { try follow(command, core, filter) }
  let log = try core.auditLog()
  let unreadable = log.unreadable.map { UnreadableEntry(sequence: $0.sequence, error: $0.error) }
  let shown = try show(core, log.entries, filter)
  let layout = ColumnLayout(of: shown.lazy.map(\.row))
  for entry in unreadable { command.messages.note(entry.words) }
  return Outcome(
    json: .object([
      ("items", .list(count: shown.count) { shown[$0].json }),
      ("unreadable", .array(unreadable.map { .unsigned($0.sequence) })),
      ("whole", .boolean(log.gap == nil)),
    ]),
    pieces: [.lines(count: shown.count) { layout.line(shown[$0].row) }],
    failure: log.gap.map(failure) ?? failure(unreadable))
}

/// Something of the log is gone, whatever part of it is shown.
private func failure(_ gap: String) -> CommandError {
  CommandError(
    .damaged, "the audit is not whole: \(gap)",
    hint:
      "entries were removed, or the file is damaged; a vault that is restored from a backup has a log of its own"
  )
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
      ? "the others are shown; a vault that is restored from a backup has a log of its own"
      : "the others are shown; a newer version of this program shows these",
    code: first.error.code.rawValue)
}

/// Which entries are shown.
private struct AuditFilter {
  let since: Int64?
  let item: ItemID?
  /// Deleted items are found by the name that their last entry keeps.
  let name: String?

  init(_ command: Command, _ core: VaultCore) throws {
    since =
      command.invocation.duration("since").map { core.environment.clock.now().seconds - $0 }
      ?? command.invocation.instant("since")
    name = command.invocation.text("item")
    guard let name else {
      item = nil
      return
    }
    var query = Query(name: name)
    query.constrained = .unasked
    var unreadable: (id: ItemID, error: VaultError)?
    let found = try core.read { transaction in
      try transaction.items(matching: query, damaged: { unreadable = ($0, $1) }).first?.id
    }
    // The index leads to an item by its name, whether the item opens or not.
    item = found ?? unreadable?.id
    let isKnown =
      try item != nil
      || core.auditEntries(damaged: { _, _ in }).contains { $0.item != nil && $0.detail == name }
    guard isKnown else { throw CommandError(.notFound, "there is and was no item with that name") }
  }

  func shows(_ entry: AuditEntry, _ deleted: Set<ItemID>) -> Bool {
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

private func show(_ core: VaultCore, _ entries: [AuditEntry], _ filter: AuditFilter) throws -> [ShownEntry] {
  let deleted = Set(entries.filter { filter.name != nil && $0.detail == filter.name }.compactMap(\.item))
  let shown = entries.filter { filter.shows($0, deleted) }
  var names: [ItemID: String] = [:]
  for entry in entries {
    if let id = entry.item, let detail = entry.detail, isRemoval(entry) { names[id] = detail }
  }
  try core.read { transaction in
    for id in Set(shown.compactMap(\.item)) where names[id] == nil {
      var query = Query(id: id)
      query.constrained = .unasked
      // An item that does not open has no name here; its id is shown.
      names[id] = try transaction.items(matching: query, damaged: { _, _ in }).first?.name
    }
  }
  return shown.map { entry in ShownEntry(entry: entry, name: entry.item.flatMap { names[$0] }) }
}

/// The entries whose detail is the name of an item that is gone.
private func isRemoval(_ entry: AuditEntry) -> Bool {
  entry.operation == .itemDeleted || entry.operation == .expiredPurged
}

/// Prints what is there and then what comes, until Ctrl-C.
private func follow(_ command: Command, _ core: VaultCore, _ filter: AuditFilter) throws -> Never {
  var next: UInt64 = 0
  while true {
    var last: UInt64?
    let entries = try core.auditEntries(from: next) { sequence, error in
      command.messages.note(UnreadableEntry(sequence: sequence, error: error).words)
      last = sequence
    }
    for entry in try show(core, entries, filter) {
      try command.emit(Outcome(json: entry.json, lines: columns([entry.row])))
    }
    if let last = [last, entries.last?.sequence].compactMap(\.self).max() { next = last + 1 }
    usleep(300_000)
  }
}

private func verifyChain(_ command: Command, _ core: VaultCore) throws -> Outcome {
  try command.vault.unlock(core)
  let progress = command.progress("verifying")
  defer { progress.finish() }
  let report = try core.verify { progress.update(done: $0.done, of: $0.total) }
  let damage = report.problems.filter { $0.hasPrefix("audit") }
  let problems = damage + report.newer.filter { $0.hasPrefix("audit") }
  let json = JSON.object([
    ("sound", .boolean(problems.isEmpty)), ("auditEntries", .unsigned(report.auditEntries)),
    ("auditChainChecked", .boolean(report.isAuditChainChecked)),
    ("problems", .array(problems.map { .string($0) })),
  ])
  let found =
    report.isAuditChainChecked
    ? "the chain is whole" : "in order; the chain was not checked, because that needs the passcode"
  let verdict =
    problems.isEmpty ? ["\(report.auditEntries) entries, \(found)"] : problems.map(printable)
  return Outcome(json: json, lines: verdict, failure: problems.isEmpty ? nil : failure(damage.isEmpty))
}

private func failure(_ isNewer: Bool) -> CommandError {
  guard isNewer else {
    return CommandError(.damaged, "the audit was altered", hint: "see 'vaultctl verify' for the rest")
  }
  return CommandError(
    .unsupported, "the chain was not checked: a newer version of this program made entries of the audit",
    hint: "check it with that version", code: VaultError.Code.newerFormat.rawValue)
}
