import DeviceKeys
import VaultFormat
import VaultKeys

/// The life of a vault that is not open: open or create, restore, recover. These calls run on a queue of their own, so
/// they block no actor.
extension Vault {
  /// Opens the vault at a path, or creates one where there was none. Safe in many processes and tasks at once: one
  /// creates, the others wait and open the same vault. If the creating process is killed, another one creates.
  ///
  /// Creates only when the directory of the path exists, and neither the vault nor a file that belongs to one is
  /// there: `-wal`, `-shm`, `-journal`, `.restoring…`, `.before-restore`. So a vault that was being restored, or whose
  /// directory is on a disk that is not mounted, does not lead to a new, empty vault. A mount point is a directory also
  /// while nothing is mounted: give the vault a directory of its own on the disk, such as `/mnt/disk/vaults`.
  ///
  /// With a ``FileProtector`` for a named file, a process that is killed while it creates can leave its key in that
  /// file. As in ``create(at:protector:passcode:)``, nobody takes such a key over, and the calls after it throw
  /// ``VaultError/Code/vaultExists`` until a person has removed it. The standard protector has no such state.
  ///
  /// - Parameters:
  ///   - path: The vault file.
  ///   - protector: Who keeps the device key; `nil` for the one that the vault's header names, and for a new vault a
  ///     file outside its directory.
  ///   - passcode: The passcode of a new vault. A vault that is there is unlocked with it; the attempt counts.
  /// - Throws: ``VaultError/Code/vaultMissing`` when there is no vault and none may be created;
  ///   ``VaultError/Code/busy`` when another process does not finish creating one within ten seconds; what
  ///   ``open(at:protector:)``, ``unlock(with:)-(Passcode)`` and ``create(at:protector:passcode:)`` throw, among them
  ///   ``VaultError/Code/policy`` for a passcode and a vault that has none.
  public static func openOrCreate(
    at path: VaultPath, protector: (any Protector)? = nil, passcode: consuming Passcode? = nil
  ) async throws(VaultError) -> OpenedOrCreatedVault {
    try await openOrCreate(at: path, protector: protector, passcode: passcode, environment: .system)
  }

  /// Makes a vault from a backup, with the same items and a new device key. If it has a passcode, the vault accepts it after
  /// ``BackupReport/passcodeDelay``, and judges no phrase and no PIN before it was right once.
  ///
  /// One-time-password counters give no code before they are set or resynchronized, because their server may be ahead
  /// (``BackupReport/needsResync``). Items of this device only are not in a backup.
  ///
  /// - Parameters:
  ///   - backup: A file that ``backUp(to:passphrase:progress:)`` wrote, or a pipe that brings one: it is read once, whatever its mode, owner
  ///     and file system.
  ///   - passphrase: The passphrase of the backup.
  ///   - path: A path where nothing is. Missing directories are made with mode 0700.
  ///   - protector: Who keeps the new device key; `nil` for a file outside the vault's directory.
  ///   - progress: Is called between the steps, on the thread that does the work.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for a wrong passphrase; ``VaultError/Code/malformed`` for a
  ///   vault that is no backup; ``VaultError/Code/vaultExists``, ``VaultError/Code/vaultMissing`` for a missing
  ///   backup, ``VaultError/Code/damaged``, ``VaultError/Code/newerFormat``, ``VaultError/Code/io``, the `deviceKey…`
  ///   codes.
  public static func restore(
    from backup: VaultPath, passphrase: consuming Passcode, to path: VaultPath,
    protector: (any Protector)? = nil, progress: @Sendable (VerifyProgress) -> Void = { _ in }
  ) async throws(VaultError) -> RestoredVault {
    try await restore(
      from: backup, passphrase: passphrase, to: path, protector: protector, environment: .system,
      progress: progress)
  }

  /// Replaces a vault with one that is restored from its own backup. The larger counters and attempts of the two stay.
  ///
  /// The old vault stays at its path until the new one is complete; then both change names in one step. It is kept
  /// as ``RestoredVault/oldVault``, with its device key. No program may have the vault open, this one included.
  ///
  /// - Parameters:
  ///   - backup: A backup of this vault.
  ///   - passphrase: The passphrase of the backup.
  ///   - path: The vault. Look at ``droppedItems(byRestoring:passphrase:over:protector:)`` first: items that only it
  ///     has are dropped.
  ///   - proof: The passcode of that vault, or its recovery code; `nil` if it has no passcode.
  ///   - protector: Who keeps the present and the new device key; `nil` for the protector that the header names.
  ///   - progress: Is called between the steps, on the thread that does the work.
  /// - Throws: ``VaultError/Code/locked`` without a proof that is needed; what ``unlock(with:)-(Passcode)`` and
  ///   ``checkRecoveryCode(_:)`` throw; ``VaultError/Code/policy`` if the vault is another one than the backup's;
  ///   ``VaultError/Code/fileExists``
  ///   if the vault of an earlier restore is still there; ``VaultError/Code/busy`` if a program uses the vault;
  ///   ``VaultError/Code/unsupported`` if the file system cannot exchange two names; as
  ///   ``restore(from:passphrase:to:protector:progress:)``. The vault is then unchanged.
  public static func restore(
    from backup: VaultPath, passphrase: consuming Passcode, replacing path: VaultPath,
    showing proof: consuming OwnerProof? = nil, protector: (any Protector)? = nil,
    progress: @Sendable (VerifyProgress) -> Void = { _ in }
  ) async throws(VaultError) -> RestoredVault {
    try await restore(
      from: backup, passphrase: passphrase, replacing: path, showing: proof, protector: protector,
      environment: .system, progress: progress)
  }

  /// The items that a restore over a vault would drop, because the backup does not have them. Changes nothing.
  ///
  /// - Throws: As ``restore(from:passphrase:replacing:showing:protector:progress:)``.
  public static func droppedItems(
    byRestoring backup: VaultPath, passphrase: consuming Passcode, over path: VaultPath,
    protector: (any Protector)? = nil
  ) async throws(VaultError) -> [RestoredItem] {
    try await droppedItems(
      byRestoring: backup, passphrase: passphrase, over: path, protector: protector, environment: .system)
  }

  /// Opens a vault whose device key is lost, and makes a new device key.
  ///
  /// Destroys the items of ``AccessControl/thisDeviceOnly``, because they depended on the lost key. If the key is there,
  /// locked, or cannot be read, it is not lost, and this throws. If `protector` is given, the protector that the header
  /// names is asked too; the key is lost if that one does not exist on this machine.
  ///
  /// - Parameters:
  ///   - path: The vault file.
  ///   - code: The recovery code. It stays valid.
  ///   - protector: Who keeps the new device key; `nil` for the protector that the header names.
  /// - Throws: ``VaultError/Code/policy`` if the device key is not lost, or the vault has no recovery code;
  ///   ``VaultError/Code/deviceKeyLocked``, ``VaultError/Code/deviceKeyUnavailable``;
  ///   ``VaultError/Code/authenticationFailed`` for another vault's code; ``VaultError/Code/vaultMissing``, ``VaultError/Code/damaged``,
  ///   ``VaultError/Code/readOnly``, ``VaultError/Code/io``.
  public static func recover(
    at path: VaultPath, with code: borrowing RecoveryCode, protector: (any Protector)? = nil
  ) async throws(VaultError) -> RecoveredVault {
    try await recover(at: path, with: code, protector: protector, environment: .system)
  }
}

/// The same calls in a world that tests choose.
extension Vault {
  package static func openOrCreate(
    at path: VaultPath, protector: (any Protector)?, passcode: consuming Passcode? = nil,
    environment: VaultEnvironment
  ) async throws(VaultError) -> OpenedOrCreatedVault {
    try await VaultMaker().openOrCreate(
      at: path, protector: protector, passcode: passcode, environment: environment)
  }

  package static func restore(
    from backup: VaultPath, passphrase: consuming Passcode, to path: VaultPath,
    protector: (any Protector)?, environment: VaultEnvironment,
    progress: @Sendable (VerifyProgress) -> Void = { _ in }
  ) async throws(VaultError) -> RestoredVault {
    try await VaultMaker().restore(
      from: backup, passphrase: passphrase, to: path, protector: protector, environment: environment,
      progress: progress)
  }

  package static func restore(
    from backup: VaultPath, passphrase: consuming Passcode, replacing path: VaultPath,
    showing proof: consuming OwnerProof? = nil, protector: (any Protector)?, environment: VaultEnvironment,
    progress: @Sendable (VerifyProgress) -> Void = { _ in }
  ) async throws(VaultError) -> RestoredVault {
    try await VaultMaker().restore(
      from: backup, passphrase: passphrase, replacing: path, showing: proof, protector: protector,
      environment: environment, progress: progress)
  }

  package static func droppedItems(
    byRestoring backup: VaultPath, passphrase: consuming Passcode, over path: VaultPath,
    protector: (any Protector)?, environment: VaultEnvironment
  ) async throws(VaultError) -> [RestoredItem] {
    try await VaultMaker().droppedItems(
      byRestoring: backup, passphrase: passphrase, over: path, protector: protector,
      environment: environment)
  }

  package static func recover(
    at path: VaultPath, with code: borrowing RecoveryCode, protector: (any Protector)?,
    environment: VaultEnvironment
  ) async throws(VaultError) -> RecoveredVault {
    try await VaultMaker().recover(at: path, with: code, protector: protector, environment: environment)
  }
}
