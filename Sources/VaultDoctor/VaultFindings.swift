package import VaultKit
import CommandLineKit
import Glibc
import VaultWords

/// What is well and what is weak in a vault that is open.
package enum VaultFindings {
  /// That it opens, and whether it can be written.
  package static func opening(_ core: VaultCore) -> [Finding] {
    let opens = Finding("vault", .ok, "it opens with its device key")
    guard core.isReadOnly else { return [opens] }
    guard !core.lacksRoom else {
      return [opens, Finding("vault", .warning, "the disk is full: it can only be read", "free some space")]
    }
    return [
      opens,
      Finding("vault", .warning, "it can only be read here", "counters and writes need write permission"),
    ]
  }

  /// The finding about a passcode that was not measured.
  package static func passcode(isSet: Bool) -> Finding {
    guard isSet else {
      return Finding(
        "passcode", .warning, "no passcode: whoever has the vault and its device key reads everything",
        "set one with 'vaultctl passcode set'")
    }
    return Finding(
      "passcode", .ok, "a passcode is set; whether it can be guessed was not looked at",
      "give --passcode-fd N or --passcode-file PATH to see it")
  }

  /// The finding about a passcode that was given.
  package static func passcode(_ strength: SecretStrength) -> Finding {
    strength.isGuessable
      ? Finding(
        "passcode", .warning, "the passcode can be guessed, \(strength.words)",
        "choose six random words: 'vaultctl passcode change'")
      : Finding("passcode", .ok, "the passcode is hard to guess, \(strength.words)")
  }

  /// What guards the vault besides the passcode.
  package static func protection(_ outline: VaultOutline) -> [Finding] {
    let memory = outline.hasPasscode ? derivationMemory : nil
    return [memory, recoveryCode(outline), protector(outline), collection(outline)].compactMap(\.self)
  }

  /// The work memory of a derivation is 64 MiB; what the limit does not hold can be swapped out.
  private static var derivationMemory: Finding? {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0, geteuid() != 0,
      limit.rlim_cur < 65 << 20
    else { return nil }
    return Finding(
      "derivation", .warning,
      "the 64 MiB that a passcode is derived in cannot be locked: they may reach swap",
      "raise 'ulimit -l' above 66560 KiB, or encrypt the swap")
  }

  private static func recoveryCode(_ outline: VaultOutline) -> Finding {
    outline.hasRecoveryCode
      ? Finding("recoveryCode", .ok, "a recovery code was made")
      : Finding(
        "recoveryCode", .warning,
        "no recovery code: if the device key is lost, only backups are left",
        "make one with 'vaultctl recovery-code new', or keep a copy of the device key elsewhere")
  }

  private static func protector(_ outline: VaultOutline) -> Finding {
    outline.protector == .file
      ? Finding("protector", .ok, "the device key is a file: whoever reads your files has it")
      : Finding("protector", .ok, "the device key is kept by \(outline.protector.word)")
  }

  private static func collection(_ outline: VaultOutline) -> Finding? {
    guard outline.protector == .secretService else { return nil }
    return Finding(
      "deviceKey", .ok, "the Secret Service keeps the device key: whoever can unlock its collection has it")
  }

  /// Where the file of the device key is, seen from the vault.
  package static func keyPlace(_ key: String, vault: String) -> Finding {
    let folder = vault.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let keyFolder = key.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return folder == keyFolder
      ? Finding(
        "deviceKey", .warning,
        "the device key lies in the folder of the vault: a copy of the folder is a copy of both",
        "move it elsewhere and name it with --device-key or $VAULTCTL_DEVICE_KEY")
      : Finding("deviceKey", .ok, "the device key lies apart from the vault: \(key)")
  }

  /// Files that an interrupted restore has left beside the vault.
  package static func interruptedRestore(at path: String, vault: VaultID) throws(VaultError) -> [Finding] {
    let left = InterruptedRestore(path: path, vault: vault)
    return try left.leftovers().map { leftover in
      switch leftover {
      case .unused(let file, _):
        Finding(
          "interruptedRestore", .warning, "a restore is under way, or was interrupted: it has left \(file)",
          "the vault is unchanged; the next 'vaultctl restore' removes that file and its device key")
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

  /// Files beside the vault that a killed command has not completed. No command reads them.
  package static func unfinished(beside path: String) throws(VaultError) -> [Finding] {
    try VaultNames.unfinished(beside: path).map { left in
      Finding(
        "unfinished", .warning,
        "an interrupted backup, restore or init of \(left.name) has left \(left.file)",
        "no command reads that file; the next one that makes \(left.name) removes it, or delete both it and \(left.name).lock"
      )
    }
  }

  /// A file that is not the one that this machine saw last, a clock that was set back or differs from the recorded time, a
  /// rotation that is not complete, and counts near their end.
  package static func progress(of core: VaultCore) throws -> [Finding] {
    [
      missing(core), witness(core), try clockSetBack(core), try recordedTime(core), try rotation(core),
      try nearEnd(core),
    ].compactMap(\.self)
  }

  private static func missing(_ core: VaultCore) -> Finding? {
    guard let commit = core.missingCommit else { return nil }
    return Finding(
      "missingCommit", .warning,
      "commit \(commit), which was made on this machine, is not in the vault file: an older state was put back, or another "
        + "machine wrote to a file without it. What was changed here since the two went apart is not in this file",
      "before the next change, keep this file and look for the other: 'vaultctl --vault OTHER ls' shows its items, "
        + "'export' and 'import' bring them together. Let one machine at a time write: docs/guides/one-writer.md"
    )
  }

  private static func witness(_ core: VaultCore) -> Finding? {
    guard core.ignoresWitness else { return nil }
    return Finding(
      "witness", .warning,
      "what is remembered beside the device key (KEY.seen) cannot be true of this vault, and was ignored: an older state of the "
        + "vault would not be noticed",
      "the next change of the vault replaces it; see who can write to that folder")
  }

  private static func nearEnd(_ core: VaultCore) throws -> Finding? {
    let counts = try core.countsNearEnd()
    guard !counts.isEmpty else { return nil }
    return Finding(
      "counts", .problem, "near its end: " + counts.joined(separator: ", "),
      "'vaultctl vault rotate epoch' begins the numbers of commits and of changes of keys again; for others, export the items and "
        + "import them into a new vault")
  }

  /// The newest entry of the audit is from the future where the clock was set back.
  private static func clockSetBack(_ core: VaultCore) throws -> Finding? {
    // An entry that does not open is a matter of 'vault check'.
    let newest = try core.auditEntries(from: core.status().auditSequence, damaged: { _, _ in }).last?.time
    let now = core.environment.clock.now()
    guard let newest, newest.seconds > now.seconds + 60 else { return nil }
    return Finding(
      "clockSetBack", .warning,
      "the newest entry of the audit is \(Durations.text(seconds: newest.seconds - now.seconds)) in the future: the "
        + "clock was set back", "set the clock: codes that follow the time are wrong, and tokens are refused")
  }

  /// The recorded time and the clock are more than a day apart.
  private static func recordedTime(_ core: VaultCore) throws -> Finding? {
    let clocks = try core.clocks()
    let seconds = Int64(clamping: clocks.lead.magnitude / 1000)
    guard seconds > 86400 else { return nil }
    let (recorded, text) = (Instants.text(seconds: clocks.recorded.seconds), Durations.text(seconds: seconds))
    return clocks.lead < 0
      ? Finding(
        "recordedTime", .warning,
        "the recorded time of the vault, \(recorded), is \(text) ahead of the clock: items expire by it",
        "if the clock is right, 'vaultctl vault clock --reset' sets it back")
      : Finding(
        "recordedTime", .warning,
        "the clock is \(text) ahead of the recorded time of the vault, \(recorded): what has expired is kept until two boots, or two "
          + "days, agree", "set the clock if it is wrong; 'vaultctl vault clock' shows both")
  }

  /// Keys of two epochs are in force.
  private static func rotation(_ core: VaultCore) throws -> Finding? {
    let status = try core.status()
    guard status.isRotating else { return nil }
    return status.isRotationPaused
      ? Finding(
        "rotation", .problem, "a rotation of the epoch is paused: something in the vault does not open",
        "'vaultctl vault rotate epoch' names it; with --drop-damaged it removes it and completes the rotation"
      )
      : Finding(
        "rotation", .warning, "a rotation of the epoch is under way, or was interrupted",
        "'vaultctl vault rotate epoch' completes it; each command that unlocks the vault continues it")
  }

  /// What `verify` finds with the keys that are open: also damaged secrets, missing entries of the audit, and damaged pages.
  ///
  /// - Parameter progress: Gets how much was looked at, of how much.
  package static func contents(of core: VaultCore, progress: (Int, Int) -> Void) throws -> Finding {
    let report = try core.verify { progress($0.done, $0.total) }
    let found = report.problems + report.newer
    guard !found.isEmpty else {
      let rest = report.lockedSecrets > 0 ? "; the secrets that the passcode guards were not opened" : ""
      return Finding(
        "contents", .ok,
        "what was looked at is whole: \(report.items) items, \(report.secrets) secrets, "
          + "\(report.auditEntries) entries of the audit\(rest)")
    }
    let parts =
      found.count == 1
      ? "1 part does not open or is missing" : "\(found.count) parts do not open or are missing"
    return Finding(
      "contents", .problem,
      "\(parts): " + found.prefix(3).joined(separator: "; ") + (found.count > 3 ? "; …" : ""),
      "'vaultctl vault check' names each; " + contentsAdvice(report))
  }

  private static func contentsAdvice(_ report: VerifyReport) -> String {
    if report.problems.isEmpty { return "use the newer version of this program" }
    if report.isOnlyAuditDamaged { return AuditWords.wayOut }
    let items =
      "restore a backup, or let 'vaultctl vault rotate epoch --drop-damaged' remove the items that do not open"
    return report.auditProblems.isEmpty ? items : "\(items); \(AuditWords.wayOut)"
  }

  /// What does not open: items, those behind a PIN that does not, and the vault's own state.
  private static func damage(of core: VaultCore) throws -> [Finding] {
    let damage = try core.damage()
    var findings: [Finding] = []
    if let state = damage.state {
      findings.append(
        Finding("ownState", .problem, state.message, state.advice?.toolSentence))
    }
    if !damage.items.isEmpty {
      findings.append(
        Finding(
          "damaged", .problem, "items that do not open: \(damage.items.count)",
          "'vaultctl vault check' names them; restore a backup, or remove each with 'vaultctl rm --id ID'"))
    }
    let behind = damage.behindDamagedPIN
    if !behind.isEmpty {
      let names = behind.prefix(3).map { $0.name ?? $0.id.hexadecimal }.joined(separator: ", ")
      findings.append(
        Finding(
          "behindDamagedPIN", .problem,
          "items behind a PIN that does not open or is missing: \(names)"
            + (behind.count > 3 ? " and \(behind.count - 3) more" : ""),
          "restore a backup, which has the PIN; no command removes the PIN while they are there"))
    }
    return findings
  }

  /// Counters that may be behind, credentials that are weak, items that do not open, and those that have expired.
  ///
  /// - Parameter progress: Gets how many items were seen.
  package static func items(of core: VaultCore, progress: (Int) -> Void) throws -> [Finding] {
    let (behind, expired, weak, refused) = try core.read { transaction in
      try transaction.readTime()
      let moment = transaction.expiryMoment
      var (expired, refused) = (0, 0)
      var credentials: [ItemID] = []
      var weak: [String] = []
      var seen = 0
      var walk = ItemWalk(keepingPages: false)
      while let item = try transaction.nextReadable(&walk) {
        if item.isInTrash { continue }
        if item.isCountingProver { credentials.append(item.id) }
        if moment.hasExpired(item) {
          if item.expiry == .warn { expired += 1 } else { refused += 1 }
        }
        if let weakness = item.weakness {
          weak.append("'\(item.name ?? item.id.hexadecimal)' has \(weakness)")
        }
        seen += 1
        if seen % 1024 == 0 { progress(seen) }
      }
      var behind = 0
      for id in credentials {
        do { behind += try transaction.state(of: id).needsResync ? 1 : 0 } catch let error as VaultError
          where error.isUnreadable
        {}
      }
      return (behind, expired, weak, refused)
    }
    var findings: [Finding] = []
    if behind > 0 {
      findings.append(
        Finding(
          "counters", .warning, "\(behind) counters may be behind their servers, after a copy or a restore",
          "ask each server for its counter and set it: 'vaultctl otp counter NAME --set N'"))
    }
    findings += weak.map {
      Finding(
        "weak", .warning, "the credential \($0): its codes can be guessed, or its secret found from them",
        "ask the service for a new secret, or protect the account in another way as well")
    }
    findings += try damage(of: core)
    if expired > 0 {
      findings.append(
        Finding(
          "expired", .warning, "\(expired) passwords have expired, and are given with a warning",
          "'vaultctl ls' marks them: store a new secret with 'vaultctl edit NAME --password', or remove the expiry with "
            + "'vaultctl edit NAME --no-expiry'"))
    }
    if refused > 0 {
      findings.append(
        Finding(
          "expired", .warning, "\(refused) items have expired, and are refused",
          "'vaultctl ls' marks them: remove the expiry with 'vaultctl edit NAME --no-expiry', or delete them"
        ))
    }
    return findings
  }
}
