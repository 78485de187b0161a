import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys

/// The life of an open vault: backup, new keys, purge. `Vault+Places.swift` has the calls that need no open vault.
///
/// They do what `vaultctl` does, and return the same values. They run on the executor of the vault, so other calls on
/// the same ``Vault`` wait; other processes continue to read and write, except for the moments of a commit.
extension Vault {
  // MARK: Backup

  /// Writes a backup: a vault that a passphrase opens, without the device key. Where a passcode is set, the vault
  /// must be unlocked.
  ///
  /// Items of this device only, tokens, consents, items that do not open, and the audit log are left out
  /// (``BackupReport/leftOut``). The file can be on any file system. It appears complete, with mode 0600 where modes exist, and was opened
  /// once with the passphrase when this returns. A person chooses the passphrase as if the backup were public: it is derived with 256 MiB.
  ///
  /// - Parameters:
  ///   - path: A path where nothing is, in a directory that exists.
  ///   - passphrase: What opens the backup.
  ///   - progress: Is called between the steps, on the thread that does the work.
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/vaultExists``, ``VaultError/Code/io``.
  public func backUp(
    to path: VaultPath, passphrase: consuming Passcode,
    progress: @Sendable (VerifyProgress) -> Void = { _ in }
  ) throws(VaultError) -> BackupReport {
    try core.backUp(to: path.path, passphrase: passphrase, progress: progress)
  }

  // MARK: New keys

  /// Makes a new device key. The old one no longer opens the vault file as it is now. Rewrites no item.
  ///
  /// A person who has the old key with an old copy of the file still has the other keys of the vault:
  /// ``rotateEpoch(passcode:dropDamaged:progress:)`` replaces those.
  ///
  /// - Parameter protector: Who keeps the new key; `nil` for the present protector.
  /// - Returns: Whether the old key was deleted, or the file that still needs it.
  /// - Throws: The `deviceKey…` codes, ``VaultError/Code/io``, ``VaultError/Code/readOnly``, ``VaultError/Code/fileExists`` for a file
  ///   that has the name of this call's lock, with nothing changed.
  @discardableResult
  public func rotateDeviceKey(to protector: (any Protector)? = nil) throws(VaultError) -> ReplacedKey {
    try core.rotateDeviceKey(to: protector)
  }

  /// Replaces every key of the vault, and seals again what they seal. Completes a rotation that is under way first,
  /// whoever began it, because an attacker may know its keys.
  ///
  /// Other processes continue to use the vault meanwhile, but other calls on this ``Vault`` wait until the end: a
  /// program that has other work calls ``beginRotation(passcode:progress:)`` and ``continueRotation()`` in its place.
  /// The secrets of the items themselves stay the same.
  ///
  /// - Parameters:
  ///   - passcode: Required if a passcode is set.
  ///   - dropDamaged: Whether items and audit entries that do not open are removed. The log names them.
  ///   - progress: Is called between the steps, on the thread that does the work.
  /// - Throws: ``VaultError/Code/locked`` without a passcode that is set; ``VaultError/Code/authenticationFailed``,
  ///   ``VaultError/Code/passcodeDelay``. ``VaultError/Code/damaged`` if a part does not open, and
  ///   ``VaultError/Code/newerFormat`` if a newer version made it: nothing was changed, or, if the part appeared
  ///   later, the rotation is paused and both generations stay in force. ``damagedParts(progress:)`` lists the parts.
  @discardableResult
  public func rotateEpoch(
    passcode: consuming Passcode? = nil, dropDamaged: Bool = false,
    progress: @Sendable (VerifyProgress) -> Void = { _ in }
  ) throws(VaultError) -> RotationReport {
    var parts: [DamagedPart] = []
    try core.rotateEpoch(
      passcode: passcode, dropDamaged: dropDamaged, isAnew: true, progress: progress,
      damaged: { parts.append($0) })
    return try report(parts)
  }

  /// Opens every part of the vault, then begins a new epoch and moves nothing. Two generations of keys are in force
  /// until ``continueRotation()`` has returned `false`, in this process or a later one.
  ///
  /// - Parameters:
  ///   - passcode: Required if a passcode is set.
  ///   - progress: Is called between the steps, on the thread that does the work.
  /// - Throws: ``VaultError/Code/policy`` while a rotation is under way (``VaultStatus/isRotating``); as
  ///   ``rotateEpoch(passcode:dropDamaged:progress:)``, with nothing changed.
  public func beginRotation(
    passcode: consuming Passcode? = nil, progress: @Sendable (VerifyProgress) -> Void = { _ in }
  ) throws(VaultError) {
    try core.beginRotation(passcode: passcode, progress: progress)
  }

  /// Moves one batch of the rotation that is under way, at most 4,000 items. The last batch ends it.
  ///
  /// ```swift
  /// try await vault.beginRotation()
  /// while try await vault.continueRotation() {}  // other calls run between the batches
  /// ```
  ///
  /// - Returns: Whether there is more to move; `false` too if no rotation is under way.
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/readOnly``; ``VaultError/Code/damaged`` or
  ///   ``VaultError/Code/newerFormat`` if only parts are left that do not open: the rotation is paused.
  public func continueRotation() throws(VaultError) -> Bool { try core.continueRotation() }

  /// The parts of the vault that do not open, so that a rotation cannot seal them again. Changes nothing.
  public func damagedParts(
    progress: @Sendable (VerifyProgress) -> Void = { _ in }
  ) throws(VaultError) -> [DamagedPart] {
    try core.damagedParts(progress: progress)
  }

  /// Makes a new epoch and a new device key, deletes the keys that were replaced, and rewrites the file: what was
  /// deleted before can no longer be read with the new file and key.
  ///
  /// Copies of the vault, backups, and copies of old device keys elsewhere still open what they did
  /// (``PurgeReport/keptKeys``).
  ///
  /// - Throws: As ``rotateEpoch(passcode:dropDamaged:progress:)``; ``VaultError/Code/busy`` when the keys are replaced,
  ///   but another process reads an older state, so that the file was not rewritten: call it again.
  @discardableResult
  public func purge(
    passcode: consuming Passcode? = nil, dropDamaged: Bool = false,
    progress: @Sendable (VerifyProgress) -> Void = { _ in }
  ) throws(VaultError) -> PurgeReport {
    var parts: [DamagedPart] = []
    try core.purge(
      passcode: passcode, dropDamaged: dropDamaged, progress: progress, damaged: { parts.append($0) })
    var removal = KeyRemoval()
    // The purge is complete. Keys that are left are no reason to say that it failed.
    do throws(VaultError) { removal = try core.deleteReplacedKeys(in: core.currentProtector) } catch {
      removal.failures.append(error)
    }
    return PurgeReport(
      rotation: try report(parts), deletedKeys: removal.removed.map(\.id), keptKeys: removal.failures)
  }

  private func report(_ parts: [DamagedPart]) throws(VaultError) -> RotationReport {
    let status = try core.status()
    return RotationReport(generation: status.generation, items: status.itemCount, dropped: parts)
  }

  // MARK: Passcode

  /// Derives the keys of the same passcode again, with the most expensive Argon2id parameters that take at most
  /// `target` on this machine, and at least those of a new vault.
  ///
  /// - Returns: What a derivation cost before, and costs now. Every machine that opens the vault needs that memory.
  /// - Throws: ``VaultError/Code/authenticationFailed``, ``VaultError/Code/passcodeDelay``, ``VaultError/Code/policy``
  ///   without a passcode.
  @discardableResult
  public func recalibrate(
    _ passcode: borrowing Passcode, target: Duration = .milliseconds(500)
  ) throws(VaultError) -> (before: DerivationCost, now: DerivationCost) {
    try core.recalibrate(passcode, target: target)
  }

  /// Ends the delay after wrong passcodes. Makes the counts of attempts again if they are damaged.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed`` for another vault's code, ``VaultError/Code/policy`` if the
  ///   vault has no recovery code.
  public func endDelay(with code: borrowing RecoveryCode) throws(VaultError) { try core.endDelay(with: code) }
}
