import DeviceKeys
import VaultFormat
import Glibc
import VaultKeys

/// A restore over a vault. The old vault stays whole at its path until the new one is complete; then both change names
/// in one step. The old vault and its device key are kept beside it.
///
/// Call ``init(of:by:protector:oldProtector:environment:)``, then ``point(showing:)``, then ``losses(passphrase:over:)``
/// or ``run(passphrase:over:note:publishing:progress:)``. A person can be asked in between, because no lock is held.
package struct VaultReplacement: Sendable {
  private let path: String
  private let backup: BackupFile
  private let protector: any Protector
  private let oldProtector: (any Protector)?
  private let environment: VaultEnvironment
  private let old: VaultOutline

  /// Checks that the vault and the backup are the same vault, and that nothing is in the way.
  ///
  /// - Parameters:
  ///   - protector: Who keeps the new device key.
  ///   - oldProtector: Who keeps the present one; `nil` for the protector that the header names.
  /// - Throws: ``VaultError/Code/policy`` for another vault, ``VaultError/Code/fileExists`` if a file that a restore
  ///   would write exists, ``VaultError/Code/vaultMissing``.
  package init(
    of path: String, by backup: BackupFile, protector: any Protector, oldProtector: (any Protector)?,
    environment: VaultEnvironment
  ) throws(VaultError) {
    (self.path, self.backup, self.protector) = (path, backup, protector)
    (self.oldProtector, self.environment) = (oldProtector, environment)
    old = try Self.outline(at: path)
    guard try old.vault == backup.outline().vault else {
      throw VaultError(.policy, "the vault there is another one than the backup's", hint: .restoreElsewhere)
    }
    try left.refuseTaken()
    try refuseTakenKey()
  }

  /// The items, counters and attempts of the vault that is replaced. A vault that does not open is not replaced, whatever
  /// keeps its key.
  ///
  /// - Parameter show: Shows the old vault its passcode or its recovery code: unlocks it, or returns whether it showed the code.
  package func point(showing show: (VaultCore) throws -> Bool = { _ in false }) throws -> RestorePoint {
    let core: VaultCore
    do throws(VaultError) { core = try openedOld() } catch { throw Self.mustBeMoved(error, path) }
    let isAgreed = try show(core)
    // After the exchange, another file has the name: the note of such a key would no longer count.
    _ = try? core.removeLeftKey()
    let point: RestorePoint
    do throws(VaultError) { point = try core.restorePoint(isAgreed: isAgreed) } catch {
      throw Self.mustBeMoved(error, path)
    }
    // The opening may have moved the vault's key to the named file.
    try refuseTakenKey()
    return point
  }

  /// What the vault that is to be replaced shows without a key. A file there that is none is not replaced either.
  package static func outline(at path: String) throws(VaultError) -> VaultOutline {
    do throws(VaultError) { return try VaultOutline(at: path) } catch {
      throw error.code == .damaged ? mustBeMoved(error, path) : error
    }
  }

  private static func mustBeMoved(_ error: VaultError, _ path: String) -> VaultError {
    VaultError(
      error.code, error.message,
      hint:
        "its counters and attempts cannot be taken over; to restore without them, move \(path) away first",
      underlying: error.underlying)
  }

  /// What this restore would take from the vault that is replaced. Changes nothing.
  package func losses(
    passphrase: consuming Passcode, over point: RestorePoint
  ) throws(VaultError) -> RestoreLosses {
    try VaultCore.losses(
      byRestoring: backup, passphrase: passphrase, over: point, environment: environment)
  }

  /// Replaces the vault. All vaults are closed when this returns.
  ///
  /// - Parameters:
  ///   - note: Called with a message about each step that completes an earlier, interrupted restore.
  ///   - publishing: Called directly before the two vaults exchange their names. If it throws, the vault is unchanged.
  /// - Throws: ``VaultError/Code/locked`` if neither the passcode nor the recovery code of the old vault was shown;
  ///   ``VaultError/Code/busy`` if another program uses the vault or has changed it since `point`;
  ///   ``VaultError/Code/authenticationFailed`` for a wrong passphrase; ``VaultError/Code/unsupported`` if the file
  ///   system cannot exchange two names. The vault is then unchanged.
  package func run(
    passphrase: consuming Passcode, over point: RestorePoint, note: (String) -> Void = { _ in },
    publishing: () throws(VaultError) -> Void = {},
    progress: (VerifyProgress) throws(VaultError) -> Void = { _ in }
  ) throws(VaultError) -> BackupReport {
    guard point.isAgreed else {
      throw VaultError(
        .locked, "the vault that is to be replaced is locked", hint: "show its passcode or its recovery code")
    }
    // No other restore runs while this lock is held.
    let keys = DeviceKeys(protector, of: old.vault)
    let lock = try keys.lock()
    defer { lock?.keep() }
    try left.settle(lock, keys, note: note)
    try left.refuseTaken()
    try refuseChanges(since: point.sequence)
    let made: Made
    let oldKey: DeviceKeyID
    var isAttempted = false
    do throws(VaultError) {
      made = try restored(passphrase, over: point, progress: progress)
      oldKey = try exchange(made.path, since: point.sequence) { () throws(VaultError) in
        // The last moment at which everything can be undone.
        try publishing()
        isAttempted = true
      }
    } catch {
      // The new vault is removed if it is not in its place. An exchange that failed can appear after a crash: the key then stays.
      try? left.settle(lock, isAttempted ? nil : keys) { _ in }
      throw error
    }
    try finish(made, over: oldKey, keys: keys)
    return made.report
  }

  /// Where the old vault goes.
  package var aside: String { RestoreFiles(path: path).aside }

  // MARK: Steps

  private struct Made {
    let report: BackupReport
    let key: DeviceKeyID
    let path: String
  }

  private var left: InterruptedRestore { InterruptedRestore(path: path, vault: old.vault) }

  /// The restored vault is closed when this returns.
  private func restored(
    _ passphrase: consuming Passcode, over point: RestorePoint,
    progress: (VerifyProgress) throws(VaultError) -> Void
  ) throws(VaultError) -> Made {
    let restored = try VaultCore.restore(
      from: backup, passphrase: passphrase, to: path, isBeside: true, protector: protector, newer: point,
      environment: environment, progress: progress)
    return Made(
      report: restored.report, key: try restored.core.status().deviceKey, path: restored.path)
  }

  /// Exchanges the old vault and the new one, whose names change in one step, when nobody has the old one open and it is
  /// as it was. From the last look at it to the exchange nobody can open it, so nothing has to be undone: a program that
  /// waits to open it sees then that its name leads to another file.
  ///
  /// - Parameter attempting: Called directly before the names are exchanged.
  /// - Returns: The device key of the old vault.
  private func exchange(
    _ new: String, since sequence: UInt64, attempting: () throws(VaultError) -> Void
  ) throws(VaultError) -> DeviceKeyID {
    // Before the last look at its commits: what is written after that leaves another stamp.
    let stamp = try VaultNames.stamp(of: path)
    let key = try refuseChanges(since: sequence)
    guard let hold = try VaultNames.Hold(vault: path) else { throw inUse }
    guard try !VaultNames.isInUse(vault: path), try VaultNames.stampNow(of: path) == stamp else {
      throw inUse
    }
    try attempting()
    try VaultNames.exchange(path, with: new)
    // Longer than any program waits between two tries.
    usleep(20_000)
    hold.keep()
    return key
  }

  /// The new vault is at the path: from here on nothing is undone, whatever fails.
  private func finish(_ made: Made, over oldKey: DeviceKeyID, keys: DeviceKeys) throws(VaultError) {
    do throws(VaultError) {
      try VaultNames.keep(made.path, as: aside)
      try keys.promoteRestored(made.key, over: oldKey)
    } catch {
      let place = (try? VaultNames.exists(made.path)) == false ? aside : made.path
      throw VaultError(
        error.code, error.message,
        hint: "the restored vault is in its place and opens; the old vault is \(place)",
        underlying: error.underlying)
    }
  }

  /// When the named file holds the old device key, that key moves to a file beside it: no other file may be there.
  private func refuseTakenKey() throws(VaultError) {
    guard let files = protector as? FileProtector, files.namedKey == old.deviceKey,
      let keyAside = files.pathBeforeRestore, try VaultNames.exists(keyAside)
    else { return }
    throw VaultNames.taken(keyAside)
  }

  private func openedOld() throws(VaultError) -> VaultCore {
    try VaultCore.open(at: path, protector: oldProtector, environment: environment)
  }

  /// What others did to the old vault meanwhile must not be lost silently.
  ///
  /// - Returns: Its device key.
  @discardableResult
  private func refuseChanges(since sequence: UInt64) throws(VaultError) -> DeviceKeyID {
    let status = try openedOld().status()
    guard status.sequence == sequence, try !VaultNames.isInUse(vault: path) else { throw inUse }
    return status.deviceKey
  }

  private var inUse: VaultError {
    VaultError(
      .busy, "another program is using the vault that is to be replaced: \(path)",
      hint: "end it, or lock the vault if it is an agent, and try again; the vault was not changed")
  }
}
