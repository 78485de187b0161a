import CommandLineKit
import Glibc
import TextFormats
import VaultKit
import VaultWords

/// `vaultctl doctor`: what is well, what is weak and what is broken, each with what to do.
enum Doctor: VaultVerb {
  static let words = ["doctor"]
  static let summary = "Look for weaknesses of the vault and this machine, and say what to do."
  static let removeOldKeys = Flag(
    "remove-old-keys", "Remove device keys that this vault has replaced, without asking.")
  static let ownOptions: [any OptionKey] = [removeOldKeys]
  static let channels = [SecretChannel.passcode]
  static let notes = [
    "The command asks for nothing. With the passcode it also says whether the passcode can be guessed.",
    "It looks at locked memory, core dumps, swap, the clock, libraries, PAM and its helper, the passcode, the recovery "
      + "code, "
      + "protector and device key, permissions, the file system, counters and expired items.",
    "Warnings do not change the exit code; a vault that cannot be opened does. With --json: warnings and "
      + "problems (how many), and items with check, state (ok, warning or problem), message and hint.",
    "A device key that this vault has replaced is still there when its removal failed. It is listed with its file, and on a "
      + "terminal doctor asks whether to delete it; --remove-old-keys deletes it without asking. Both first open the vault with "
      + "the present key. Copies of the vault file from the time of the deleted key no longer open. A key that "
      + "PATH.before-restore or PATH.restoring-KEYID names stays. While such a file cannot be read, all replaced keys stay. When a "
      + "key that was to be removed stays for that reason or because its removal failed, the exit code is 13.",
    "A device key that no file is known to name is listed and never deleted: a backup that was restored elsewhere has the "
      + "same vault id, and its key is in the same place. So are KEY.before-restore, which a restore leaves beside a named key "
      + "file, and folders of keys of other vault ids, as an 'init' that failed leaves one.",
  ]
  static let example = "vaultctl doctor"
  static let changesFiles = true
  static let changingOption: Flag? = removeOldKeys

  static func run(_ command: Command) throws -> Outcome {
    var findings = MachineFindings.all(command) + PromptFindings.all(command)
    var failure: CommandError?
    do { findings += try vaultFindings(command, failure: &failure) } catch {
      let error = CommandError(describing: error)
      findings.append(Finding("vault", .problem, error.message, CommandError(describing: error).hint))
      failure = error
      // A vault that others can write is not even opened: who can reach it is then the more interesting.
      let vault = try? command.places.vault
      if let vault, unsafe access(vault, F_OK) == 0 { findings += PlaceFindings.all(vault: vault, key: nil) }
      findings += OtherKeys.findings(command, besides: vault.flatMap { try? VaultCore.outline(at: $0).vault })
    }
    func count(_ state: Finding.State) -> JSON { .integer(Int64(findings.count { $0.state == state })) }
    let json = JSON.object {
      Field("warnings", count(.warning))
      Field("problems", count(.problem))
      Field("items", .array(findings.map(\.json)))
    }
    return Outcome(json: json, pieces: findings.flatMap(\.pieces), failure: failure)
  }
}

// MARK: the vault

/// - Parameter failure: Set when something that was asked for could not be done.
private func vaultFindings(_ command: Command, failure: inout CommandError?) throws -> [Finding] {
  let core = try command.vault.opened()
  let outline = try VaultCore.outline(at: command.places.vault)
  var findings = [Finding("vault", .ok, "it opens with its device key")]
  if core.isReadOnly {
    findings.append(
      Finding("vault", .warning, "it can only be read here", "counters and writes need write permission"))
  }
  findings.append(try passcode(command, core: core, outline: outline))
  if outline.hasPasscode, let finding = derivationMemory { findings.append(finding) }
  findings.append(recoveryCode(outline))
  findings.append(protector(outline))
  if let finding = try keyPlace(command, outline: outline) { findings.append(finding) }
  let oldKeys = OldKeys(command: command, core: core).findings()
  findings += oldKeys.findings
  failure = oldKeys.failure
  findings += OtherKeys.findings(command, besides: outline.vault)
  findings += try interruptedRestore(command, outline: outline)
  findings += PlaceFindings.all(vault: try command.places.vault, key: command.places.keyPath(of: outline))
  if let finding = try clockSetBack(core) { findings.append(finding) }
  if let finding = try rotation(core) { findings.append(finding) }
  return try findings + itemFindings(command, core: core)
}

/// The passcode is not asked for: only one that an option gives is measured.
private func passcode(_ command: Command, core: VaultCore, outline: VaultOutline) throws -> Finding {
  guard outline.hasPasscode else {
    return Finding(
      "passcode", .warning, "no passcode: whoever has the vault and its device key reads everything",
      "set one with 'vaultctl passcode set'")
  }
  guard let passcode = try command.secrets.given(.passcode) else {
    return Finding(
      "passcode", .ok, "a passcode is set; whether it can be guessed was not looked at",
      "give --passcode-fd N or --passcode-file PATH to see it")
  }
  try command.vault.unlock(core)
  let strength = SecretStrength(of: passcode)
  return strength.isGuessable
    ? Finding(
      "passcode", .warning, "the passcode can be guessed, \(strength.words)",
      "choose six random words: 'vaultctl passcode change'")
    : Finding("passcode", .ok, "the passcode is hard to guess, \(strength.words)")
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

private func protector(_ outline: VaultOutline) -> Finding {
  outline.protector == .file
    ? Finding("protector", .ok, "the device key is a file: whoever reads your files has it")
    : Finding("protector", .ok, "the device key is kept by \(outline.protector.word)")
}

/// Keys of two epochs are in force.
private func rotation(_ core: VaultCore) throws -> Finding? {
  let status = try core.status()
  guard status.isRotating else { return nil }
  return status.isRotationPaused
    ? Finding(
      "rotation", .problem, "a rotation of the epoch is paused: something in the vault does not open",
      "'vaultctl rotate epoch' names it; with --drop-damaged it removes it and completes the rotation")
    : Finding(
      "rotation", .warning, "a rotation of the epoch is under way, or was interrupted",
      "'vaultctl rotate epoch' completes it; each command that unlocks the vault continues it")
}

/// The newest entry of the audit is from the future where the clock was set back.
private func clockSetBack(_ core: VaultCore) throws -> Finding? {
  // An entry that does not open is a matter of 'verify'.
  let newest = try core.auditEntries(from: core.status().auditSequence, damaged: { _, _ in }).last?.time
  let now = core.environment.clock.now()
  guard let newest, newest.seconds > now.seconds + 60 else { return nil }
  return Finding(
    "clockSetBack", .warning,
    "the newest entry of the audit is \(Durations.text(seconds: newest.seconds - now.seconds)) in the future: the "
      + "clock was set back", "set the clock: codes that follow the time are wrong, and tokens are refused")
}

private func recoveryCode(_ outline: VaultOutline) -> Finding {
  outline.hasRecoveryCode
    ? Finding("recoveryCode", .ok, "a recovery code was made")
    : Finding(
      "recoveryCode", .warning,
      "no recovery code: if the device key is lost, only backups are left",
      "make one with 'vaultctl recovery-code new', or keep a copy of the device key elsewhere")
}

private func keyPlace(_ command: Command, outline: VaultOutline) throws -> Finding? {
  if outline.protector == .secretService {
    return Finding(
      "deviceKey", .ok, "the Secret Service keeps the device key: whoever can unlock its collection has it")
  }
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

private func interruptedRestore(_ command: Command, outline: VaultOutline) throws -> [Finding] {
  let left = InterruptedRestore(path: try command.places.vault, vault: outline.vault)
  return try left.leftovers().map { leftover in
    switch leftover {
    case .unused(let file):
      Finding(
        "interruptedRestore", .warning, "a restore is under way, or was interrupted: it has left \(file)",
        "the vault is unchanged; the next 'vaultctl restore' removes that file")
    case .old(let file):
      Finding(
        "interruptedRestore", .warning,
        "a restore was interrupted after the restored vault took its place: the old vault is \(file)",
        "the next 'vaultctl restore' renames it to \(left.files.aside); you can also do so yourself")
    case .foreign(let file):
      Finding(
        "filesBeside", .warning,
        "a file beside the vault has a name that a restore uses, but no restore made it: \(file)",
        "move it away: 'vaultctl restore' refuses to begin while it is there")
    }
  }
}

private func itemFindings(_ command: Command, core: VaultCore) throws -> [Finding] {
  let progress = command.progress("looking at items")
  defer { progress.finish() }
  let (behind, expired, damaged) = try core.read { transaction in
    let now = transaction.expiryTime
    var expired = 0
    var damaged = 0
    var credentials: [ItemID] = []
    var seen = 0
    try transaction.forEachItem(keepingPages: false, damaged: { _, _ in damaged += 1 }) {
      item throws(VaultError) in
      if item.kind == .otp, item.attributes[.otpType] == 1 { credentials.append(item.id) }
      if let expires = item.expires, expires <= now { expired += 1 }
      seen += 1
      if seen % 1024 == 0 { progress.update(done: seen, of: 0) }
      return true
    }
    var behind = 0
    for id in credentials {
      do { behind += try transaction.state(of: id).needsResync ? 1 : 0 } catch let error as VaultError
        where error.isUnreadable
      { damaged += 1 }
    }
    return (behind, expired, damaged)
  }
  var findings: [Finding] = []
  if behind > 0 {
    findings.append(
      Finding(
        "counters", .warning, "\(behind) counters may be behind their servers, after a copy or a restore",
        "ask each server for its counter and set it: 'vaultctl otp counter NAME --set N'"))
  }
  if damaged > 0 {
    findings.append(
      Finding(
        "damaged", .problem, "items that do not open: \(damaged)",
        "'vaultctl verify' names them; restore a backup, or remove each with 'vaultctl item rm --id ID'"))
  }
  if expired > 0 {
    findings.append(
      Finding("expired", .warning, "\(expired) items have expired", "store them anew or delete them"))
  }
  return findings
}
