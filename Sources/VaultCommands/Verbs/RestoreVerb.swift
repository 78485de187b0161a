import Glibc
import VaultKit

/// `vaultctl restore FILE`: makes a vault from a backup, over nothing or in the place of the same vault.
func runRestore(_ command: Command) throws -> Outcome {
  let path = try command.places.vault
  let backup = command.invocation.argument("FILE")!
  guard FilePlace.exists(backup) else { throw CommandError.io("opening the backup", errno: ENOENT) }
  let isReplacing = FilePlace.exists(path)
  // Over a vault its device key stays where that one's is: never from a strong place to a weaker one by itself.
  let kind = isReplacing ? try VaultCore.outline(at: path).protector : .file
  let restore = Restore(
    backup: backup, path: path, protector: try command.places.newProtector(kind), command: command)
  let report = isReplacing ? try restore.inPlaceOfOld() : try restore.overNothing()
  let outline = try VaultCore.outline(at: path)
  if report.needsResync > 0 {
    command.messages.note(
      "\(report.needsResync == 1 ? "1 counter gives" : "\(report.needsResync) counters give") no code before "
        + "'vaultctl otp counter NAME --set N', with N from the server"
    )
  }
  tell(command, report.recoveryCode)
  command.messages.note("the device key is a new one: keep a copy of it elsewhere")
  return outcome(
    path, command.places.keyPath(of: outline), isReplacing ? restore.aside : nil,
    isReplacing && outline.protector == .file ? restore.keyAside : nil, report)
}

/// What became of the recovery code.
private func tell(_ command: Command, _ code: RestoredRecoveryCode?) {
  switch code {
  case .valid: command.messages.note("the recovery code of the backup is valid again")
  case .revoked:
    command.messages.note(
      "vault and backup did not have the same recovery code: none works from now on; make one with "
        + "'vaultctl recovery-code new'")
  case .kept, nil: break
  }
}

private struct Restore {
  let backup: String
  let path: String
  let protector: any Protector
  let command: Command

  /// Where the old vault goes.
  var aside: String { path + ".before-restore" }
  /// Where the new one is made while the old one is still in its place.
  private var beside: String { path + ".restoring" }

  /// Where the old device key goes, if it was a named file.
  var keyAside: String? { (protector as? FileProtector)?.pathBeforeRestore }

  func overNothing() throws -> BackupReport {
    try restored(to: path, newer: nil, passphrase()).report
  }

  /// The old vault is whole and in its place until the new one is: then both change names at once.
  func inPlaceOfOld() throws -> BackupReport {
    guard try VaultCore.outline(at: path).vault == VaultCore.outline(at: backup).vault else {
      throw CommandError(
        .refused, "the vault there is another one than the backup's",
        hint: "restore to another path with --vault PATH")
    }
    let left = InterruptedRestore(path: path, vault: try VaultCore.outline(at: path).vault)
    try left.refuseTaken()
    if let keyAside, FilePlace.exists(keyAside) { throw FilePlace.taken(keyAside) }
    let passphrase = try passphrase()
    let (point, sequence) = try pointOfOld()
    // Nobody removes the new key as one that no vault needs before the new vault is in its place.
    let lock = try protector.lock(left.vault)
    defer { lock?.keep() }
    if try left.remove(lock, keysIn: protector) {
      command.messages.note("what an interrupted restore had left beside the vault was removed")
    }
    var made: (report: BackupReport, key: DeviceKeyID, vault: VaultID)?
    do {
      made = try restored(to: beside, newer: point, passphrase)
      try refuseChanges(since: sequence)
      try FilePlace.exchange(path, for: beside, aside: aside)
    } catch {
      FilePlace.remove(vault: beside)
      if let made { try? protector.deleteKey(made.key, of: made.vault) }
      throw error
    }
    try (protector as? FileProtector)?.promoteRestoredKey(made!.key, of: made!.vault)
    return made!.report
  }

  private func passphrase() throws -> Passcode { try Passcode(command.secrets.secret(.passphrase)) }

  /// The restored vault is closed when this returns.
  private func restored(
    to place: String, newer: RestorePoint?, _ passphrase: consuming Passcode
  ) throws -> (report: BackupReport, key: DeviceKeyID, vault: VaultID) {
    let progress = command.progress("restoring")
    defer { progress.finish() }
    let restored = try VaultCore.restore(
      from: backup, passphrase: passphrase, to: place, protector: protector, newer: newer,
      environment: command.vaultWorld
    ) { progress.update(done: $0.done, of: $0.total) }
    let status = try restored.core.status()
    return (restored.report, status.deviceKey, status.vault)
  }

  /// Counters and attempts of the old vault, which is closed again when this returns.
  private func pointOfOld() throws -> (RestorePoint, sequence: UInt64) {
    do {
      let old = try openedOld()
      return (try old.restorePoint(), try old.status().sequence)
    } catch {
      var error = CommandError(describing: error)
      error.hint =
        "its counters and attempts cannot be taken over; to do without them move \(printable(path)) away, and restore"
      throw error
    }
  }

  private func openedOld() throws(VaultError) -> VaultCore {
    try VaultCore.open(
      at: path, protector: command.places.deviceKey.map { FileProtector(file: $0) },
      environment: command.vaultWorld)
  }

  /// What others did to the old vault meanwhile must not be lost silently.
  private func refuseChanges(since sequence: UInt64) throws {
    let isChanged = try openedOld().status().sequence != sequence
    guard !isChanged, !FilePlace.isInUse(vault: path) else {
      throw VaultError(
        .busy, "another program is using the vault that is to be replaced",
        hint: "end it and try again; nothing was changed")
    }
  }
}

private func outcome(
  _ path: String, _ keyPath: String?, _ aside: String?, _ keyAside: String?, _ report: BackupReport
) -> Outcome {
  var fields: [(String, JSON)] = [("path", .string(path))]
  var lines = ["vault        " + printable(path)]
  if let keyPath {
    fields.append(("deviceKey", .string(keyPath)))
    lines.append("device key   " + printable(keyPath))
  }
  if let aside {
    fields.append(("oldVault", .string(aside)))
    lines.append("old vault    " + printable(aside))
  }
  if let keyAside {
    fields.append(("oldDeviceKey", .string(keyAside)))
    lines.append("old key      " + printable(keyAside))
  }
  fields += [
    ("items", .integer(Int64(report.items))), ("countersBehind", .integer(Int64(report.needsResync))),
  ]
  if let code = report.recoveryCode { fields.append(("recoveryCode", .string(code.rawValue))) }
  return Outcome(
    json: .object(fields),
    lines: lines + ["items        \(report.items)", "needs resync \(report.needsResync)"])
}
