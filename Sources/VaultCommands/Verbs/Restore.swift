import CommandLineKit
import Glibc
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl restore FILE`: makes a vault from a backup, over nothing or in the place of the same vault.
enum Restore: VaultVerb {
  static let words = ["restore"]
  static let summary = "Restore a vault from a backup."
  static let file = Argument("FILE", .pathOrStream, "The backup: a file or a pipe; - is standard input.")
  static let arguments = [file]
  static let protector = ItemOptions.protector(
    "What keeps the device key.", defaultValue: "the protector of the vault that is replaced, else file")
  static let replace = Flag("replace", "Replace the vault that is there with the restored one.")
  static let ownOptions: [any OptionKey] = [protector, replace]
  static let channels = [SecretChannel.passphrase, .passcode, .recovery]
  static let passcodeCase: String? =
    "with --replace, where the vault that is replaced has one; its recovery code serves too"
  static let runsIn = RunPlace.client
  static let audited = Audited.always
  static let ownExits: [ExitCode] = [.alreadyExists, .refused, .malformed, .unsupported]
  static let notes = [
    "FILE is read once, whatever its mode, its owner, its links and its file system, and may be a pipe: <(ssh HOST cat monday.vault). "
      + "What was read is in a file without a name beside the vault until the command ends.",
    "The vault gets a new device key. HOTP credentials give no code (17) before 'vaultctl otp counter NAME --set N'.",
    "When the same vault is already there, nothing is changed without --replace (9): the items that only that vault has, and "
      + "that a restore would drop, are listed, and those that have changed since the backup. Another vault is never replaced "
      + "(9).",
    "A vault that does not open here is never replaced, whatever --device-key names: move it away first.",
    "With --replace the larger counters and attempts stay, and the old file is kept as PATH.before-restore. It stays at PATH "
      + "until the new one is complete; then both change names in one step (15 when the file system cannot do that).",
    "The old device key stays too, for the old file: under its own name, or beside a key file that --device-key names as "
      + "KEY.before-restore. 'vaultctl vault doctor' lists what is left.",
    "A signal that can be caught leaves what was at PATH and nothing else, or comes too late and changes nothing: then the exit code is "
      + "that of the restore. Where a restore was ended by SIGKILL or with the machine, the old vault or the new one is at PATH, and there can be "
      + "PATH.restoring-KEYID: either a new vault that was not used, which the next restore removes "
      + "with its device key, or the old vault, which the next restore renames to PATH.before-restore. No other device key is "
      + "deleted.",
    "The recovery code of the backup is valid again when no vault was at PATH, or when the vault there has the same code. When "
      + "it has another code or none, no recovery code works afterwards: make one with 'vaultctl recovery-code new'.",
    "A restored vault accepts its passcode after a minute at the earliest, as after five wrong ones, and judges no PIN and no "
      + "phrase before the passcode was right once. The recovery code ends the delay. With --replace there is no delay "
      + "if the passcode is still that of the backup: it was not changed or set again since.",
    "What is damaged in the backup is named, the rest is restored, and the exit code is 10: an item that does not open is left out, one "
      + "whose secret alone is damaged is restored without a usable secret. Secrets that the passcode guards are not looked at: "
      + "'vaultctl vault check' does, with the passcode.",
    "With --json: path, deviceKey, items (how many), leftOut, damaged and behindDamagedPIN with id and name, stateRenewed, countersBehind (how many), passcodeDelay in seconds where there is one, and "
      + "recoveryCode (valid, kept or revoked) where there was one; with --replace also oldVault, oldDeviceKey where a file keeps it, dropped and changed; without it, over "
      + "a vault, only wouldDrop and wouldChange. They list id, name and kind.",
  ]
  static let examples = [
    "vaultctl restore monday.vault --replace --passphrase-file phrase",
    "vaultctl restore - --replace --passphrase-file phrase < monday.vault",
  ]
  static let allowedInBatch = false
  static let commitSignals = CommitSignals.ignored

  static func run(_ command: Command) throws -> Outcome {
    let path = try command.places.vault
    let named = command.required(file)
    let isReplacing = try FilePlace.exists(path)
    if !isReplacing { try FilePlace.refuseSideFile(path) }
    // Over a vault its device key stays where that one's is: never from a strong place to a weaker one by itself.
    let backup = try command.backup(named, beside: path)
    let kind = isReplacing ? try VaultReplacement.outline(at: path).protector : .file
    let restore = Restoration(
      backup: backup, path: path,
      protector: try command.places.newProtector(command[protector], else: kind), command: command)
    guard isReplacing else { return try done(restore.overNothing(), restore: restore, isReplacing: false) }
    switch try restore.inPlaceOfOld() {
    case .refused(let losses): return refusal(path, losses)
    case .done(let report): return try done(report, restore: restore, isReplacing: true)
    }
  }
}

extension Command {
  /// Shows a vault that is to be replaced its recovery code, if that was given, or else its passcode.
  ///
  /// - Returns: Whether it was the recovery code.
  fileprivate func showsOwner(to old: VaultCore) throws -> Bool {
    guard old.hasPasscode else { return false }
    if let code = try secrets.given(.recovery) {
      try old.checkRecoveryCode(RecoveryCode(text: code))
      return true
    }
    _ = try vault.checkedPasscode(of: old, to: "replace the vault that is there")
    return false
  }
}

/// What became of the recovery code.
private func tell(_ command: Command, code: RestoredRecoveryCode?) {
  switch code {
  case .valid: command.messages.note("the recovery code of the backup is valid again")
  case .revoked:
    command.messages.note(
      "the vault and the backup did not have the same recovery code: none works from now on; make one with "
        + "'vaultctl recovery-code new'")
  case .kept, nil: break
  }
}

private struct Restoration {
  let backup: BackupFile
  let path: String
  let protector: any Protector
  let command: Command

  enum Result {
    /// Nothing was done; this would have been lost.
    case refused(RestoreLosses)
    case done(BackupReport)
  }

  private var files: RestoreFiles { RestoreFiles(path: path) }
  /// Where the old vault goes.
  var aside: String { files.aside }
  /// The file that holds the old vault's device key, when the caller named a key file.
  var oldKey: String? {
    guard let old = try? VaultCore.outline(at: aside) else { return nil }
    return (protector as? FileProtector)?.holder(of: old.deviceKey, old.vault)
  }

  func overNothing() throws -> BackupReport {
    let passphrase = try passphrase()
    return try showingProgress { progress in
      try VaultCore.restore(
        from: backup, passphrase: Passcode(passphrase.copy()), to: path, protector: protector,
        environment: command.vaultWorld, publishing: command.world.interruption.hold, progress: progress
      ).report
    }
  }

  /// The old vault stays whole at the path until the new one is complete; then both change names in one step.
  func inPlaceOfOld() throws -> Result {
    let replacement = try VaultReplacement(
      of: path, by: backup, protector: protector,
      oldProtector: command.places.deviceKey.map { FileProtector(file: $0) },
      environment: command.vaultWorld)
    let passphrase = try passphrase()
    let point = try replacement.point { old in
      try command[Restore.replace] && command.showsOwner(to: old)
    }
    guard command[Restore.replace] else {
      return .refused(try replacement.losses(passphrase: Passcode(passphrase.copy()), over: point))
    }
    return .done(
      try showingProgress { progress in
        try replacement.run(
          passphrase: Passcode(passphrase.copy()), over: point, note: command.messages.note,
          publishing: command.world.interruption.hold, progress: progress)
      })
  }

  /// A signal leaves neither a part of the new vault nor its key.
  private func showingProgress<R>(
    _ body: ((VerifyProgress) throws(VaultError) -> Void) throws -> R
  ) throws -> R {
    let progress = command.progress("restoring")
    defer { progress.finish() }
    command.world.interruption.watch()
    return try body { step throws(VaultError) in
      try command.world.interruption.check()
      progress.update(done: step.done, of: step.total)
    }
  }

  private func passphrase() throws -> SharedSecret {
    SharedSecret(try command.secrets.secret(.passphrase))
  }
}

// MARK: What is printed

private func refusal(_ path: String, _ losses: RestoreLosses) -> Outcome {
  var what =
    switch losses.dropped.count {
    case 0: "no item would be dropped"
    case 1: "1 item that only it has would be dropped"
    case let count: "\(count) items that only it has would be dropped"
    }
  if !losses.changed.isEmpty { what += ", \(losses.changed.count) would become as in the backup" }
  return Outcome(
    json: .object {
      Field("wouldDrop", json(losses.dropped))
      Field("wouldChange", json(losses.changed))
    },
    lines: losses.dropped.map { "would drop   " + shown($0) }
      + losses.changed.map { "would change " + shown($0) },
    failure: CommandError(
      .refused, "there is a vault already: \(printable(path)); \(what)",
      hint: "nothing was changed; to put the backup in its place give --replace"))
}

private func done(_ report: BackupReport, restore: Restoration, isReplacing: Bool) throws -> Outcome {
  let outline = try VaultCore.outline(at: restore.path)
  if report.needsResync > 0 {
    restore.command.messages.note(
      "\(report.needsResync == 1 ? "1 counter gives" : "\(report.needsResync) counters give") no code before "
        + "'vaultctl otp counter NAME --set N', with N from the server"
    )
  }
  let delay = report.passcodeDelay.map { $0.components.seconds }
  if let delay {
    restore.command.messages.note(
      "the passcode is accepted in \(delay < 120 ? "\(delay) s" : "\(delay / 60) min"), because the vault was restored; the "
        + "recovery code ends the delay")
  }
  tell(restore.command, code: report.recoveryCode)
  restore.command.messages.note("the device key is a new one: keep a copy of it elsewhere")
  var fields: [(String, JSON)] = [("path", .string(restore.path))]
  var lines = ["vault        " + printable(restore.path)]
  func add(_ name: String, title: String, path: String?) {
    guard let path else { return }
    fields.append((name, .string(path)))
    lines.append(title + printable(path))
  }
  add("deviceKey", title: "device key   ", path: restore.command.places.keyPath(of: outline))
  if isReplacing {
    add("oldVault", title: "old vault    ", path: restore.aside)
    if outline.protector == .file { add("oldDeviceKey", title: "old key      ", path: restore.oldKey) }
    fields += [("dropped", json(report.dropped)), ("changed", json(report.changed))]
    lines +=
      report.dropped.map { "dropped      " + shown($0) } + report.changed.map { "changed      " + shown($0) }
  }
  fields += [
    ("items", .integer(Int64(report.items))), ("countersBehind", .integer(Int64(report.needsResync))),
  ]
  let leftOut = report.leftOut.map { item in
    JSON.object {
      Field("id", item.id.hexadecimal)
      Field("name", item.name)
    }
  }
  fields += [
    ("leftOut", .array(leftOut)), ("damaged", .array(report.damaged.map(\.identification))),
    ("behindDamagedPIN", .array(report.behindDamagedPIN.map(\.identification))),
    ("stateRenewed", .boolean(report.isStateRenewed)),
  ]
  lines += report.leftOut.map {
    "left out     \($0.name.map(printable) ?? $0.id.hexadecimal) (\($0.reason.words))"
  }
  lines += report.unusable.map { "damaged      " + $0 }
  if let delay { fields.append(("passcodeDelay", .integer(delay))) }
  if let code = report.recoveryCode { fields.append(("recoveryCode", .string(code.rawValue))) }
  return Outcome(
    json: .object(fields),
    lines: lines + ["items        \(report.items)", "needs resync \(report.needsResync)"],
    failure: report.damage(
      in: "the restored vault", hint: "keep the backup; an older backup may have what is missing"))
}

private func json(_ items: [RestoredItem]) -> JSON {
  .array(
    items.map { item in
      .object {
        Field("id", item.id.hexadecimal)
        Field("name", item.name)
        Field("kind", item.kind?.word)
      }
    })
}

private func shown(_ item: RestoredItem) -> String {
  "\(printable(item.name ?? item.id.hexadecimal)) (\(item.kind?.word ?? "damaged"))"
}
