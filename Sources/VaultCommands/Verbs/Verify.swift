import CommandLineKit
import SecretMemory
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl vault check`: the report goes to standard output also when it is a bad one.
enum Verify: VaultVerb {
  static let words = ["vault", "check"]
  static let summary = "Read the whole vault file, compare the checksums, and report damage."
  static let complete = Flag(
    "complete", "Fail (6) when something was not looked at, such as secrets that stay locked.")
  static let backup = Setting(
    "backup", .pathOrStream, "FILE",
    "Verify a backup instead, with its passphrase: a file or a pipe; - is standard input.")
  static let ownOptions: [any OptionKey] = [complete, backup]
  static let channels = [SecretChannel.passcode, .passphrase]
  static let ownExits: [ExitCode] = [.unsupported]
  static let asks: String? = "for the passphrase of a backup, and nothing else"
  static let notes = [
    "verify does not ask for the passcode. Without the passcode, where one is set, it does not open the secrets that the "
      + "passcode guards, and does not check the chain of the audit. It never opens secrets behind an access rule. The report has a line for each of "
      + "these, and says that everything is sound only when there is no such line.",
    "The exit code of --complete is 6, interaction needed: verify would have to ask for the passcode, or for what an access rule "
      + "demands. Damage (10) and parts of a newer version (15) come first. A vault that has items behind access rules is never "
      + "verified completely.",
    "A backup is read once, whatever its mode, its owner and its file system. It needs no vault and no device key here; the secrets that its "
      + "passcode guards are not looked at.",
    "Where the file lacks the last commit that was made on this machine, verify names the commit and does not say that everything "
      + "is sound: an older state was put back, or another machine wrote to a file without it. --complete then fails (6).",
    "An audit that is damaged, or that has a gap, stays so, and verify exits with 10 from then on: a vault that is restored from a "
      + "new backup has an audit of its own.",
    "What a newer version of this program made does not open here, and is not called damaged. The exit code is 15 when verify "
      + "finds only such parts, and 10 when something is damaged.",
    "With --json: sound (nothing that was looked at is damaged), complete (everything was looked at), items, secrets and "
      + "auditEntries (how many were opened), lockedSecrets and guardedSecrets (how many were not opened, without the passcode or "
      + "behind an access rule), auditChainChecked, missingCommit (its number, or null), countsNearEnd, and problems and newer, a line for each part.",
  ]
  static let examples = [
    "vaultctl vault check --json",
    "vaultctl vault check",
  ]

  static func run(_ command: Command) throws -> Outcome {
    if let path = command[backup] { return try command.verify(backup: path) }
    let core = try command.vault.opened(checkingRows: false)
    // A check does not ask for the passcode: without it, the report says what stayed locked.
    if !core.isUnlocked, !command.secrets.willAsk(.passcode) { try command.vault.unlock(core) }
    let progress = command.progress("verifying")
    defer { progress.finish() }
    let report = try core.verify { progress.update(done: $0.done, of: $0.total) }
    return Outcome(
      json: json(report), lines: lines(report),
      failure: failure(report, mustBeComplete: command[complete]))
  }
}

extension Command {
  fileprivate func verify(backup path: String) throws -> Outcome {
    let backup = try backup(path, beside: "/var/tmp/vault")
    let passphrase = SharedSecret(try secrets.secret(.passphrase))
    let progress = progress("verifying")
    defer { progress.finish() }
    let report = try VaultCore.verify(
      backup, passphrase: Passcode(passphrase.copy()), environment: vaultWorld
    ) { progress.update(done: $0.done, of: $0.total) }
    return Outcome(
      json: json(report), lines: lines(report),
      failure: failure(report, mustBeComplete: self[Verify.complete], of: "the backup"))
  }
}

private func json(_ report: VerifyReport) -> JSON {
  .object {
    Field("sound", report.problems.isEmpty && report.newer.isEmpty)
    Field("complete", report.isComplete)
    Field("items", report.items)
    Field("secrets", report.secrets)
    Field("lockedSecrets", report.lockedSecrets)
    Field("guardedSecrets", report.guardedSecrets)
    Field("auditEntries", report.auditEntries)
    Field("auditChainChecked", report.isAuditChainChecked)
    Field("missingCommit", report.missingCommit)
    Field("countsNearEnd", .array(report.countsNearEnd.map { .string($0) }))
    Field("problems", .array(report.problems.map { .string($0) }))
    Field("newer", .array(report.newer.map { .string($0) }))
  }
}

private func lines(_ report: VerifyReport) -> [String] {
  let found =
    report.problems.map { "problem: " + printableSentence($0) }
    + report.newer.map { "newer: " + printableSentence($0) }
  let verdict = report.isComplete ? "everything is sound" : "what was looked at is sound"
  let ends = report.countsNearEnd.map { "near its end: \($0); 'vaultctl vault doctor' says what to do" }
  return [
    "items          \(report.items)", "secrets opened \(report.secrets)",
    "audit entries  \(report.auditEntries)" + (report.isAuditChainChecked ? ", chain checked" : ""),
  ] + unseen(report).map { "not looked at: " + $0 } + ends + (found.isEmpty ? [verdict] : found)
}

/// What was not looked at, a line each. Parts of a newer version have lines of their own.
private func unseen(_ report: VerifyReport) -> [String] {
  var lines: [String] = []
  if report.lockedSecrets > 0 {
    lines.append("\(secrets(report.lockedSecrets)) that the passcode guards; \(passcodeHint)")
  }
  if report.guardedSecrets > 0 {
    lines.append("\(secrets(report.guardedSecrets)) behind an access rule; 'get' opens them one by one")
  }
  if !report.isAuditChainChecked {
    let reason = report.unreadableEntries > 0 ? "some of its entries do not open" : passcodeHint
    lines.append("the chain of the audit; \(reason)")
  }
  if let commit = report.missingCommit {
    lines.append(
      "commit \(commit) of this machine, which is not in the file; 'vaultctl vault doctor' explains")
  }
  return lines
}

private let passcodeHint = "give --passcode-fd N or --passcode-file PATH"

private func secrets(_ count: Int) -> String { count == 1 ? "1 secret" : "\(count) secrets" }

/// Damage decides, where there is some; then what a newer version made.
private func failure(
  _ report: VerifyReport, mustBeComplete: Bool, of file: String = "the vault"
) -> CommandError? {
  if !report.problems.isEmpty { return damaged(report, file) }
  if !report.newer.isEmpty { return newer(report.newer.count) }
  return mustBeComplete && !report.isComplete ? incomplete(report) : nil
}

private func damaged(_ report: VerifyReport, _ file: String) -> CommandError {
  let count = report.problems.count
  return CommandError(
    .damaged, "\(file) is damaged: \(count) problem\(count == 1 ? "" : "s") found",
    hint: file == "the backup"
      ? "use another backup"
      : report.isOnlyAuditDamaged
        ? AuditWords.wayOut : "keep this file, and restore the vault from a backup")
}

private func newer(_ count: Int) -> CommandError {
  CommandError(
    .unsupported,
    "a newer version of this program made \(count) part\(count == 1 ? "" : "s") of the vault, which this version does not open; "
      + "no damage was found",
    hint: "verify the vault with that version", code: VaultError.Code.newerFormat.rawValue)
}

/// The rest needs something that a person types, and `verify` does not ask.
private func incomplete(_ report: VerifyReport) -> CommandError {
  if let commit = report.missingCommit {
    return CommandError(
      .interactionNotAllowed, "commit \(commit) of this machine is not in the file; no damage was found",
      hint: "'vaultctl vault doctor' explains", code: "incomplete")
  }
  let needsPasscode = report.lockedSecrets > 0 || !report.isAuditChainChecked
  return CommandError(
    .interactionNotAllowed, "not everything was looked at; no damage was found",
    hint: needsPasscode
      ? passcodeHint : "'vaultctl get' opens the secrets behind access rules, one by one",
    code: "incomplete")
}
