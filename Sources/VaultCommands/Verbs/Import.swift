import AuthenticatorKit
import CommandLineKit
import Glibc
import OneTimePassword
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl import FORMAT [FILE]`: reads and judges everything, then stores it in one transaction.
enum Import: VaultVerb {
  /// What happens to an item that is there already.
  enum Duplicates {
    case skip
    case rename
    case replace
    case fail
  }

  static let words = ["import"]
  static let summary = "Import items from another program or vault, all of them or none."
  static let file = Argument("FILE", .path, "The file; else standard input.", isRequired: false)
  static let arguments = [Export.format, file]
  static let dryRun = Flag("dry-run", "Report what would be done, and change nothing.")
  static let onDuplicate = Setting(
    "on-duplicate",
    .choice(["skip": Duplicates.skip, "rename": .rename, "replace": .replace, "fail": .fail]), "",
    "What to do with an item whose name, or service and account, exists already.", defaultValue: "fail")
  static let ownOptions: [any OptionKey] = [dryRun, onDuplicate]
  static let standardInput = StandardInput.data("items, one JSON object on each line")
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .malformed, .refused, .unsupported]
  static let notes = [
    "All lines are read and checked first, and stored in one step: after an error nothing was imported. Each "
      + "line that cannot be read is named with its number and the reason.",
    "A line has kind (password or otp), name, and secret, secretBase64 or, for otp, uri; also service, "
      + "for otp suite (with a secret in place of uri) and its counter, "
      + "account, label, comment, accessible, thisDeviceOnly, access (as --access of 'item add' takes it, "
      + "without application-password), audit, expires (Unix seconds), role, window, needsResync. created "
      + "and modified are ignored. Any other key is an error.",
    "rename appends -2, -3 ... to the name; replace deletes the old item and stores the new one, but never an item behind a "
      + "PIN (9).",
    "With --json: added, skipped, renamed, replaced, dryRun, and items with line, name, result and, where "
      + "it was renamed, oldName.",
  ]
  static let example = "vaultctl import jsonl items.jsonl --on-duplicate skip --dry-run"
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    // Where there is no vault, nothing is read.
    _ = try command.vault.opened()
    let lines = try command.readLines()
    let isDryRun = command[dryRun]
    var importing = Importing(policy: command[onDuplicate] ?? .fail)
    let progress = command.progress("importing")
    defer { progress.finish() }
    do {
      importing = try command.vault.write { transaction in
        var importing = importing
        for (index, line) in lines.enumerated() {
          try importing.store(line, in: &transaction)
          if index % 256 == 255 { progress.update(done: index + 1, of: lines.count) }
        }
        try transaction.log(.imported, detail: "\(importing.count) items")
        if isDryRun { throw DryRun(importing: importing) }
        return importing
      }
    } catch let end as DryRun {
      importing = end.importing
    }
    progress.finish()
    for (name, rule) in importing.unruled {
      command.messages.note(
        "'\(printable(name))' had the access rule \(rule), and the line that replaces it has none")
    }
    if let file = command[file], !isDryRun {
      command.messages.note("the secrets are still in clear in \(file): delete it when you are sure")
    }
    return importing.outcome(isDryRun)
  }
}

/// Ends the transaction of a dry run: it is rolled back with all that it did.
private struct DryRun: Error {
  let importing: Importing
}

/// What was done with the lines so far.
private struct Importing {
  enum Result: String {
    case added
    case skipped
    case renamed
    case replaced
  }

  let policy: Import.Duplicates
  var results: [(line: Int, name: String, result: Result, oldName: String?)] = []
  /// Items replaced by lines without the access rule that they had.
  var unruled: [(name: String, rule: String)] = []

  init(policy: Import.Duplicates) { self.policy = policy }

  /// How many are in the vault now.
  var count: Int { results.count { $0.result != .skipped } }

  mutating func store(_ line: ItemLine, in transaction: inout WriteTransaction) throws {
    var line = line
    let oldName = line.name
    let others = try line.others(in: &transaction)
    var result = Result.added
    if !others.isEmpty {
      switch policy {
      case .skip:
        results.append((line.number, oldName, .skipped, nil))
        return
      case .rename:
        try line.findFreeName(in: &transaction)
        result = .renamed
      case .replace:
        guard others.count == 1, others[0].kind == line.item.kind else {
          throw line.duplicate("it would replace several items, or one of another kind")
        }
        guard !others[0].isBehindPIN else {
          throw line.replacingGuarded
        }
        if others[0].isConstrained, line.item.access.constraints.isEmpty {
          unruled.append((oldName, others[0].access.constraints.shown.joined(separator: ",")))
        }
        try transaction.delete(others[0].id)
        result = .replaced
      case .fail: throw line.duplicate("an item with its name, or its service and account, is there")
      }
    }
    try line.add(to: &transaction)
    results.append((line.number, line.name, result, result == .renamed ? oldName : nil))
  }

  func outcome(_ isDryRun: Bool) -> Outcome {
    func count(_ result: Result) -> Int64 { Int64(results.count { $0.result == result }) }
    let all: [Result] = [.added, .skipped, .renamed, .replaced]
    let items = results.map { entry in
      JSON.object {
        Field("line", entry.line)
        Field("name", entry.name)
        Field("result", entry.result.rawValue)
        Field("oldName", entry.oldName)
      }
    }
    let rows = all.map { [$0.rawValue, String(count($0))] }
    let notable = results.filter { $0.result != .added }.map { entry in
      let names =
        entry.oldName.map { "\(printable($0)) -> \(printable(entry.name))" } ?? printable(entry.name)
      return "line \(entry.line): \(entry.result.rawValue) \(names)"
    }
    return Outcome(
      json: .object(
        all.map { ($0.rawValue, .integer(count($0))) } + [
          ("dryRun", .boolean(isDryRun)), ("items", .array(items)),
        ]),
      lines: notable + columns(rows) + (isDryRun ? ["nothing was stored: this was a dry run"] : []))
  }
}

extension ItemLine {
  /// The items that have its name, or its service and account.
  fileprivate func others(in transaction: inout WriteTransaction) throws -> [Item] {
    var found = try transaction.items(matching: Query(name: name))
    guard item.kind == .genericPassword else { return found }
    var attributes = Attributes()
    attributes[.account] = item.attributes[.account]
    let service = item.attributes[.service] ?? ""
    for other in try transaction.items(matching: Query(.genericPassword, where: attributes))
    where (other.attributes[.service] ?? "") == service
      && other.attributes[.account] == item.attributes[.account]
      && !found.contains(where: { $0.id == other.id })
    {
      found.append(other)
    }
    return found
  }

  /// NAME-2, NAME-3 …; an account that still exists with the service gets the same number.
  fileprivate mutating func findFreeName(in transaction: inout WriteTransaction) throws {
    let (base, account) = (name, item.attributes[.account])
    for number in 2...10_000 {
      let suffix = "-\(number)"
      guard (base + suffix).utf8.count <= Names.longest else { break }
      rename(to: base + suffix)
      if try others(in: &transaction).isEmpty { return }
      if let account, account != base, try transaction.items(matching: Query(name: name)).isEmpty {
        item.attributes[.account] = account + suffix
        if try others(in: &transaction).isEmpty { return }
        item.attributes[.account] = account
      }
    }
    throw duplicate("no free name was found for it")
  }

  fileprivate func add(to transaction: inout WriteTransaction) throws {
    do {
      guard item.kind == .otp else {
        _ = try transaction.add(item, secret: secret.copy())
        return
      }
      if let suite { return try add(suite, to: &transaction) }
      let uri = try secret.expose { (text) throws(OTPError) in try OTPAuthURI(parsing: text) }
      _ = try transaction.addOTP(uri, named: name, role: role, window: window, adjusting: adjust)
    } catch let error as VaultError where error.code != .locked {
      throw CommandError(error).inLine(number)
    }
  }

  private func add(_ suite: OCRASuite, to transaction: inout WriteTransaction) throws(VaultError) {
    var new = NewOCRACredential(suite, name: name, role: role)
    (new.counter, new.window) = (item.state.counter, window)
    _ = try transaction.addOCRA(new, key: secret.copy(), adjusting: adjust)
  }

  /// What a line says besides the parameters of a credential.
  private func adjust(_ new: inout NewItem) {
    for (_, attribute) in Self.attributes {
      if let text = item.attributes[attribute] { new.attributes[attribute] = text }
    }
    (new.access, new.audit, new.expires) = (item.access, item.audit, item.expires)
    new.state.needsResync = item.state.needsResync
  }

  fileprivate var replacingGuarded: CommandError {
    CommandError(
      .refused, "a PIN guards the item with its name, and the line would replace it by one without a PIN",
      hint: "nothing was imported; try --on-duplicate skip or rename, or delete the item first"
    ).inLine(number)
  }

  fileprivate func duplicate(_ why: String) -> CommandError {
    CommandError(
      .alreadyExists, why, hint: "nothing was imported; try --on-duplicate skip, rename or replace"
    ).inLine(number)
  }
}

extension CommandError {
  /// The same error with the line it is about.
  fileprivate func inLine(_ number: Int) -> CommandError {
    CommandError(
      exit, "line \(number): \(message)", hint: hint ?? "nothing was imported", code: code)
  }
}

extension Command {
  /// All lines, or an error that counts those that cannot be read; each of them is named before.
  fileprivate func readLines() throws(CommandError) -> [ItemLine] {
    let file = try openLines()
    defer { if file != world.standardInput { close(file) } }
    let reader = ItemLineReader(descriptor: file)
    var lines: [ItemLine] = []
    var failures: [CommandError] = []
    while true {
      let number = reader.line
      do throws(CommandError) {
        guard let line = try reader.next() else { break }
        lines.append(line)
      } catch {
        guard error.exit == .malformed else { throw error }
        failures.append(error.inLine(max(number, reader.line)))
        try reader.skipLine()
      }
    }
    guard let first = failures.first else { return lines }
    for failure in failures.prefix(Self.mostNamed) where failures.count > 1 { messages.note(failure.message) }
    guard failures.count > 1 else { throw first }
    throw .malformed(
      "\(failures.count) lines cannot be read; the first is \(first.message)",
      hint: "nothing was imported; mend the lines and import again")
  }

  private func openLines() throws(CommandError) -> Int32 {
    guard let path = self[Import.file] else {
      guard isatty(world.standardInput) != 1 else {
        throw .usage("the items are missing", hint: "name a FILE, or give them on standard input")
      }
      return world.standardInput
    }
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard file >= 0 else { throw .io("opening the file with the items", errno: errno) }
    var status = stat()
    if unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 {
      let advice = OwnFile.isOurs(path) ? ": chmod 600 it" : ""
      messages.note("warning: others may read \(path), which holds secrets\(advice)")
    }
    return file
  }

  private static let mostNamed = 20
}
