import AuthenticatorKit
import CommandLineKit
import Glibc
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl import FORMAT [FILE]`: reads and judges everything, then stores it in one transaction.
enum Import: VaultVerb {
  /// What happens to a line whose name an item has already.
  static let words = ["import"]
  static let summary = "Import items from another program or vault, all of them or none."
  static let file = Argument("FILE", .path, "The file; else standard input.", isRequired: false)
  static let arguments = [Export.format, file]
  static let dryRun = Flag("dry-run", "Report what would be done, and change nothing.")
  static let onDuplicate = Setting(
    "on-duplicate",
    .choice(["skip": Importing.Duplicates.skip, "rename": .rename, "replace": .replace, "fail": .fail]), "",
    "What to do with a line whose name an item of the vault has already.", defaultValue: "fail")
  static let ownOptions: [any OptionKey] = [dryRun, onDuplicate, ItemOptions.allowWeak]
  static let standardInput = StandardInput.data("items, one JSON object on each line")
  static let needs = VaultNeed.unlocked
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .malformed, .refused, .unsupported]
  static let notes = [
    "All lines are read and checked first, and stored in one step: after an error nothing was imported. Each "
      + "line that cannot be read is named with its number and the reason.",
    "A line has kind (password or otp), name, and secret, secretBase64 or, for otp, uri; also service, "
      + "for otp suite (with a secret in place of uri) and its counter, "
      + "account, label, comment, tags (a list), accessible, thisDeviceOnly, access (as --access of 'add' takes it, "
      + "without application-password), audit, expires (Unix seconds, or a date in quotation marks as --expires takes it), expiry (as --expiry takes it, of a password), role, window, needsResync, "
      + "exhausted (the last code of the counter was made). A password can have notes, urls (a list) and fields (a list of name, value and hidden), "
      + "which are sealed, and then needs no secret; and former, a list of at most five former versions, the oldest first, each with until (Unix seconds) and what it kept. "
      + "trashUntil (as expires) puts the item into the trash until then. ofEntry (true) says that a credential is the one-time code of the password in the line before, with its name and trashUntil. created "
      + "and modified are ignored. Any other key is an error.",
    "skip leaves the line out; rename appends -2, -3 ... to its name; replace puts a password into the trash, or deletes a "
      + "credential, and stores the line; an entry keeps its one-time code, until a line with ofEntry replaces it. replace never "
      + "replaces an item of another kind (8), one behind a PIN, or one that a server has activated (9). Each line that was not "
      + "just added is listed with the item that has, or had, its name.",
    "A line for the trash takes no name. It is a duplicate only of an item in the trash with its kind, name and end; replace deletes that for good. It stays there "
      + "for 30 days at most, by the clock of this vault (a warning), and one whose time is over is skipped, and listed. A one-time code goes where the entry of its line before goes.",
    "A line that has expired by the clock, or by the recorded time ('vaultctl vault clock'), is stored like any other, with a warning, and "
      + "also counted as expired. A credential whose counter is behind that of the one that it replaces, or not ahead of another one with its secret, gives no code (17) "
      + "before 'vaultctl otp counter NAME --set N'. A verifier goes on where another one with its secret is.",
    "A uri is read as by 'vaultctl otp add': an unknown parameter refuses its line, and a weak credential needs --allow-weak.",
    "Items of the same service and account are no duplicates. Lines never replace each other: the second line of a name is "
      + "renamed, or with fail refused (8). Nothing but the name is ever changed.",
    "With --json: added, skipped, renamed, replaced, expired, trash and former (how many lines went into the trash, how many former versions came), dryRun, and items with line, name and result, id where it was stored, "
      + "trash (true) for a line of the trash, oldName where it was renamed, duplicateOf (id, name, kind, service and account of the item, or line and name of the "
      + "line, that had the name), and warnings.",
  ]
  static let examples = [
    "vaultctl import jsonl items.jsonl --on-duplicate skip --dry-run",
    "vaultctl import jsonl items.jsonl --on-duplicate rename",
  ]
  static let allowedInBatch = false

  static func run(_ command: Command) throws -> Outcome {
    // Where there is no vault, nothing is read.
    _ = try command.vault.opened()
    guard let path = command[file] else { return try run(command, reading: command.standardLines()) }
    let lines = HostFile.readable(path: path, doing: "opening \(printable(path))")
    return try command.world.host.lend(lines) { descriptor throws(CommandError) in
      command.warnIfExposed(descriptor, at: path)
      do { return try run(command, reading: descriptor) } catch { throw CommandError(describing: error) }
    }
  }

  /// Whether the vault is unlocked: for the new items, or for those whose used codes are looked at.
  private static func use(of lines: ImportLines, in core: VaultCore) throws -> Use {
    guard !lines.needUnlock else { return .unlocked }
    guard lines.haveCredentials else { return .free }
    var transaction = try core.beginReading()
    let known = try transaction.items(matching: Query(.otp), damaged: { _, _ in })
    return known.allSatisfy { $0.access.accessibility == .afterFirstUnlock } ? .free : .unlocked
  }

  private static func run(_ command: Command, reading descriptor: Int32) throws -> Outcome {
    let lines = try ImportLines(
      descriptor, allowingWeak: command[ItemOptions.allowWeak], endedBy: command.world.interruption,
      note: command.messages.note)
    let isDryRun = command[dryRun]
    // The result of a line that was just added is shown by --json alone.
    var importing = Importing(
      lines.names, onDuplicate: command[onDuplicate] ?? .fail, keepingAll: command.isJSON)
    let progress = command.progress("importing")
    defer { progress.finish() }
    do {
      importing = try command.vault.write(for: use(of: lines, in: command.vault.opened())) { transaction in
        var importing = importing
        var done = 0
        try lines.forEach { line in
          try importing.store(line, in: &transaction)
          done += 1
          if done % 256 == 0 { progress.update(done: done, of: lines.count) }
        }
        try transaction.log(.imported, detail: "\(importing.count) items")
        if isDryRun { throw DryRun(importing: importing) }
        return importing
      }
    } catch let end as DryRun {
      importing = end.importing
    }
    progress.finish()
    for entry in importing.entries {
      for warning in entry.warnings { command.messages.note("warning: line \(entry.line): \(warning)") }
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

extension Command {
  /// Standard input, which must not be a terminal.
  fileprivate func standardLines() throws(CommandError) -> Int32 {
    guard isatty(world.standardInput) != 1 else {
      throw .usage("the items are missing", hint: "name a FILE, or give them on standard input")
    }
    return world.standardInput
  }

  fileprivate func warnIfExposed(_ file: Int32, at path: String) {
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0
    else { return }
    let advice = world.host.isOwn(path) ? ": chmod 600 it" : ""
    messages.warn("others may read \(path), which holds secrets\(advice)")
  }
}
