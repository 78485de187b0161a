import VaultKit

/// `vaultctl verify`: the report goes to standard output also when it is a bad one.
func runVerify(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened(checkingRows: false)
  if try canUnlock(command, core) { try command.vault.unlock(core) }
  let progress = command.progress("verifying")
  defer { progress.finish() }
  let report = try core.verify { progress.update(done: $0.done, of: $0.total) }
  let isSound = report.problems.isEmpty
  return Outcome(json: json(report, isSound), lines: lines(report), failure: isSound ? nil : failure(report))
}

/// Locked secrets are verified only when the passcode was given: nobody is asked for a check.
private func canUnlock(_ command: Command, _ core: VaultCore) throws -> Bool {
  guard !core.isUnlocked else { return false }
  let given = !command.secrets.willAsk(.passcode)
  if !given { command.messages.note("the vault is locked: its secrets are not opened without --passcode-fd") }
  return given
}

private func json(_ report: VerifyReport, _ isSound: Bool) -> JSON {
  .object([
    ("sound", .boolean(isSound)), ("items", .integer(Int64(report.items))),
    ("secrets", .integer(Int64(report.secrets))), ("auditEntries", .unsigned(report.auditEntries)),
    ("auditChainChecked", .boolean(report.isAuditChainChecked)),
    ("problems", .array(report.problems.map { .string($0) })),
  ])
}

private func lines(_ report: VerifyReport) -> [String] {
  let chain = report.isAuditChainChecked ? "chain checked" : "chain not checked, it needs the passcode"
  return [
    "items          \(report.items)", "secrets opened \(report.secrets)",
    "audit entries  \(report.auditEntries), \(chain)",
  ]
    + (report.problems.isEmpty
      ? ["everything is sound"] : report.problems.map { "problem: " + printable($0) })
}

private func failure(_ report: VerifyReport) -> CommandError {
  let count = report.problems.count
  return CommandError(
    .damaged, "the vault is damaged: \(count) problem\(count == 1 ? "" : "s") found",
    hint: "keep this file, and restore the vault from a backup")
}
