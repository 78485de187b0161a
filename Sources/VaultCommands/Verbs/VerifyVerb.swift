import CommandLineKit
import TextFormats
import VaultKit

/// `vaultctl verify`: the report goes to standard output also when it is a bad one.
func runVerify(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened(checkingRows: false)
  // A check does not ask for the passcode: without it, the report says what stayed locked.
  if !core.isUnlocked, !command.secrets.willAsk(.passcode) { try command.vault.unlock(core) }
  let progress = command.progress("verifying")
  defer { progress.finish() }
  let report = try core.verify { progress.update(done: $0.done, of: $0.total) }
  return Outcome(
    json: json(report), lines: lines(report),
    failure: failure(report, mustBeComplete: command.invocation.has("complete")))
}

private func json(_ report: VerifyReport) -> JSON {
  .object([
    ("sound", .boolean(report.problems.isEmpty && report.newer.isEmpty)),
    ("complete", .boolean(report.isComplete)), ("items", .integer(Int64(report.items))),
    ("secrets", .integer(Int64(report.secrets))),
    ("lockedSecrets", .integer(Int64(report.lockedSecrets))),
    ("guardedSecrets", .integer(Int64(report.guardedSecrets))),
    ("auditEntries", .unsigned(report.auditEntries)),
    ("auditChainChecked", .boolean(report.isAuditChainChecked)),
    ("problems", .array(report.problems.map { .string($0) })),
    ("newer", .array(report.newer.map { .string($0) })),
  ])
}

private func lines(_ report: VerifyReport) -> [String] {
  let found =
    report.problems.map { "problem: " + printable($0) } + report.newer.map { "newer: " + printable($0) }
  let verdict = report.isComplete ? "everything is sound" : "what was looked at is sound"
  return [
    "items          \(report.items)", "secrets opened \(report.secrets)",
    "audit entries  \(report.auditEntries)" + (report.isAuditChainChecked ? ", chain checked" : ""),
  ] + unseen(report).map { "not looked at: " + $0 } + (found.isEmpty ? [verdict] : found)
}

/// What was not looked at, a line each. Parts of a newer version have lines of their own.
private func unseen(_ report: VerifyReport) -> [String] {
  var lines: [String] = []
  if report.lockedSecrets > 0 {
    lines.append("\(secrets(report.lockedSecrets)) that the passcode guards; \(passcodeHint)")
  }
  if report.guardedSecrets > 0 {
    lines.append("\(secrets(report.guardedSecrets)) behind an access rule; 'item get' opens them one by one")
  }
  if !report.isAuditChainChecked {
    let reason = report.unreadableEntries > 0 ? "some of its entries do not open" : passcodeHint
    lines.append("the chain of the audit; \(reason)")
  }
  return lines
}

private let passcodeHint = "give --passcode-fd N or --passcode-file PATH"

private func secrets(_ count: Int) -> String { count == 1 ? "1 secret" : "\(count) secrets" }

/// Damage decides, where there is some; then what a newer version made.
private func failure(_ report: VerifyReport, mustBeComplete: Bool) -> CommandError? {
  if !report.problems.isEmpty { return damaged(report.problems.count) }
  if !report.newer.isEmpty { return newer(report.newer.count) }
  return mustBeComplete && !report.isComplete ? incomplete(report) : nil
}

private func damaged(_ count: Int) -> CommandError {
  CommandError(
    .damaged, "the vault is damaged: \(count) problem\(count == 1 ? "" : "s") found",
    hint: "keep this file, and restore the vault from a backup")
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
  let needsPasscode = report.lockedSecrets > 0 || !report.isAuditChainChecked
  return CommandError(
    .interactionNotAllowed, "not everything was looked at; no damage was found",
    hint: needsPasscode
      ? passcodeHint : "'vaultctl item get' opens the secrets behind access rules, one by one",
    code: "incomplete")
}
