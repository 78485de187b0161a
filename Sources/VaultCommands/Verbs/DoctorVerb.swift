import Glibc
import SecretMemory
import VaultKit

/// `vaultctl doctor`: what is well, what is weak and what is broken, each with what to do.
func runDoctor(_ command: Command) throws -> Outcome {
  var findings = machineFindings(command)
  var failure: CommandError?
  do { findings += try vaultFindings(command) } catch {
    let error = CommandError(describing: error)
    findings.append(Finding("vault", .problem, error.message, error.hint))
    failure = error
  }
  let lines = findings.flatMap { finding in
    ["\(finding.state.mark)  \(finding.check): \(printable(finding.message))"]
      + (finding.hint.map { ["         " + printable($0)] } ?? [])
  }
  return Outcome(json: .object([("items", .array(findings.map(\.json)))]), lines: lines, failure: failure)
}

private struct Finding {
  enum State: String {
    case ok
    case warning
    case problem

    var mark: String { rawValue + String(repeating: " ", count: 7 - rawValue.count) }
  }

  let check: String
  let state: State
  let message: String
  let hint: String?

  init(_ check: String, _ state: State, _ message: String, _ hint: String? = nil) {
    (self.check, self.state, self.message, self.hint) = (check, state, message, hint)
  }

  var json: JSON {
    .object(
      [("check", .string(check)), ("state", .string(state.rawValue)), ("message", .string(message))]
        + JSON.optional("hint", hint.map { .string($0) }))
  }
}

// MARK: the machine

private func machineFindings(_ command: Command) -> [Finding] {
  [memory, coreDumps, bootID(command)]
}

private var memory: Finding {
  switch SecretArena.status.protection {
  case .memfdSecret:
    Finding("memory", .ok, "secrets lie in memory that only this process can read (memfd_secret)")
  case .mlocked: Finding("memory", .ok, "secrets lie in locked memory, out of swap and core dumps")
  case .notLocked:
    Finding(
      "memory", .warning, "the system does not let secrets be locked in memory: they may reach swap",
      "raise 'ulimit -l', or LimitMEMLOCK= of the service")
  }
}

private var coreDumps: Finding {
  var limit = rlimit()
  let isNone = unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 && limit.rlim_cur == 0
  return isNone
    ? Finding("coreDumps", .ok, "this process leaves no core dump")
    : Finding("coreDumps", .warning, "core dumps could not be switched off", "set 'ulimit -c 0'")
}

private func bootID(_ command: Command) -> Finding {
  command.world.vault.clock.bootID() != nil
    ? Finding("clock", .ok, "the boot id can be read")
    : Finding(
      "clock", .warning, "the boot id cannot be read: delays begin anew and tokens are refused", "mount /proc"
    )
}

// MARK: the vault

private func vaultFindings(_ command: Command) throws -> [Finding] {
  let core = try command.vault.opened()
  let outline = try VaultCore.outline(at: command.places.vault)
  var findings = [Finding("vault", .ok, "it opens with its device key")]
  if core.isReadOnly {
    findings.append(
      Finding("vault", .warning, "it can only be read here", "counters and writes need write permission"))
  }
  findings.append(passcode(outline))
  if outline.hasPasscode, let finding = derivationMemory { findings.append(finding) }
  findings.append(recoveryCode(outline))
  if let finding = try keyPlace(command, outline) { findings.append(finding) }
  return try findings + itemFindings(command, core)
}

private func passcode(_ outline: VaultOutline) -> Finding {
  outline.hasPasscode
    ? Finding("passcode", .ok, "a passcode is set")
    : Finding(
      "passcode", .warning, "no passcode: whoever has the vault and its device key reads everything",
      "set one with 'vaultctl passcode set'")
}

/// The work memory of a derivation is 64 MiB; what the limit does not hold can be swapped out.
private var derivationMemory: Finding? {
  var limit = rlimit()
  guard unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0, geteuid() != 0,
    limit.rlim_cur < 65 << 20
  else { return nil }
  return Finding(
    "derivation", .warning, "the 64 MiB that a passcode is derived in cannot be locked: they may reach swap",
    "raise 'ulimit -l' above 66560 KiB, or encrypt the swap")
}

private func recoveryCode(_ outline: VaultOutline) -> Finding {
  outline.hasRecoveryCode
    ? Finding("recoveryCode", .ok, "a recovery code was made")
    : Finding(
      "recoveryCode", .warning,
      "no recovery code: the loss of the device key is the loss of everything but backups",
      "keep a copy of the device key elsewhere")
}

private func keyPlace(_ command: Command, _ outline: VaultOutline) throws -> Finding? {
  guard let key = command.places.keyPath(of: outline) else { return nil }
  let folder = try command.places.vault.split(separator: "/", omittingEmptySubsequences: false).dropLast()
  let keyFolder = key.split(separator: "/", omittingEmptySubsequences: false).dropLast()
  return folder == keyFolder
    ? Finding(
      "deviceKey", .warning,
      "the device key lies in the folder of the vault: a copy of the folder is a copy of both",
      "move it elsewhere and name it with --device-key or $VAULT_DEVICE_KEY")
    : Finding("deviceKey", .ok, "the device key lies apart from the vault: \(key)")
}

private func itemFindings(_ command: Command, _ core: VaultCore) throws -> [Finding] {
  let now = core.environment.clock.now()
  let progress = command.progress("looking at items")
  defer { progress.finish() }
  let (behind, expired) = try core.read { transaction in
    var expired = 0
    var credentials: [ItemID] = []
    var seen = 0
    try transaction.forEachItem { item throws(VaultError) in
      if item.kind == .otp, item.attributes[.otpType] == 1 { credentials.append(item.id) }
      if let expires = item.expires, expires <= now { expired += 1 }
      seen += 1
      if seen % 1024 == 0 { progress.update(done: seen, of: 0) }
      return true
    }
    var behind = 0
    for id in credentials where try transaction.state(of: id).needsResync { behind += 1 }
    return (behind, expired)
  }
  var findings: [Finding] = []
  if behind > 0 {
    findings.append(
      Finding(
        "counters", .warning, "\(behind) counters may be behind their servers, after a copy or a restore",
        "ask each server for its counter and set it: 'vaultctl otp counter NAME --set N'"))
  }
  if expired > 0 {
    findings.append(
      Finding("expired", .warning, "\(expired) items have expired", "store them anew or delete them"))
  }
  return findings
}
