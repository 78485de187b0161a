import VaultKit

/// `vaultctl verify`: the report goes to standard output also when it is a bad one.
func runVerify(_ command: Command) throws -> Outcome {
  let core = try command.vault.opened(checkingRows: false)
  if try canUnlock(command, core) { try command.vault.unlock(core) }
  let progress = command.progress("verifying")
  defer { progress.finish() }
  let report = try core.verify { progress.update(done: $0.done, of: $0.total) }
  return Outcome(json: json(report), lines: lines(report), failure: failure(report))
}

/// Locked secrets are verified only when the passcode was given: nobody is asked for a check.
private func canUnlock(_ command: Command, _ core: VaultCore) throws -> Bool {
  guard !core.isUnlocked else { return false }
  let given = !command.secrets.willAsk(.passcode)
  if !given { command.messages.note("the vault is locked: its secrets are not opened without --passcode-fd") }
  return given
}

private func json(_ report: VerifyReport) -> JSON {
  .object([
    ("sound", .boolean(report.problems.isEmpty && report.newer.isEmpty)),
    ("items", .integer(Int64(report.items))),
    ("secrets", .integer(Int64(report.secrets))), ("auditEntries", .unsigned(report.auditEntries)),
    ("auditChainChecked", .boolean(report.isAuditChainChecked)),
    ("problems", .array(report.problems.map { .string($0) })),
    ("newer", .array(report.newer.map { .string($0) })),
  ])
}

private func lines(_ report: VerifyReport) -> [String] {
  let found =
    report.problems.map { "problem: " + printable($0) } + report.newer.map { "newer: " + printable($0) }
  return [
    "items          \(report.items)", "secrets opened \(report.secrets)",
    "audit entries  \(report.auditEntries), \(chain(report))",
  ] + (found.isEmpty ? ["everything is sound"] : found)
}

private func chain(_ report: VerifyReport) -> String {
  if report.isAuditChainChecked { return "chain checked" }
  return report.hasNewerEntries
    ? "chain not checked, a newer version made an entry" : "chain not checked, it needs the passcode"
}

extension VerifyReport {
  /// Whether a newer version made entries of the log.
  var hasNewerEntries: Bool { newer.contains { $0.hasPrefix("audit") } }
}

/// Damage decides, where there is some.
private func failure(_ report: VerifyReport) -> CommandError? {
  guard !report.problems.isEmpty else { return report.newer.isEmpty ? nil : newer(report.newer.count) }
  let count = report.problems.count
  return CommandError(
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
