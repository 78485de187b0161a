import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import TextPreparation
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// The counters and attempts that a restore over this vault must not set back, and its items.
  ///
  /// - Parameter isAgreed: Whether the recovery code of the vault was shown.
  package func restorePoint(isAgreed: Bool = false) throws(VaultError) -> RestorePoint {
    var transaction = try beginReading()
    var states: [ItemID: ItemState] = [:]
    var items: [RestoredItem] = []
    // If an item does not open, its state may still open.
    var walk = ItemWalk()
    while let found = try transaction.nextRow(&walk) {
      switch found {
      case .item(let item): items.append(RestoredItem(item))
      case .damaged(let id, _): items.append(RestoredItem(damaged: id))
      }
    }
    for item in items where item.kind?.mayHaveState ?? true {
      do throws(VaultError) { states[item.id] = try transaction.state(of: item.id) } catch {
        guard error.isUnreadable || error.code == .itemNotFound else { throw error }
      }
    }
    return RestorePoint(
      vault: transaction.store.vault, items: items, states: states,
      failures: try transaction.store.vaultStateIfSound() ?? VaultState(),
      sequence: try transaction.status().sequence,
      recoveryHalf: transaction.store.keys.header.recoveryHalf,
      isAgreed: isAgreed || transaction.store.keys.isUnlocked,
      shownPasscode: transaction.store.keys.isUnlocked
        ? transaction.store.keys.header.passcodeDerivation : nil)
  }

  /// Makes a vault from a backup, with the same items and a new device key. Its counters must be resynchronized
  /// before use.
  ///
  /// - Parameters:
  ///   - backup: The backup.
  ///   - path: A path that does not exist, or the vault that this one will replace.
  ///   - isBeside: Makes it as ``RestoreFiles/beside(_:)`` says, next to what is at the path.
  ///   - newer: The restore point of the replaced vault. The larger value of each counter and each number of attempts
  ///     stays.
  ///   - publishing: Called directly before the new file gets its name. If it throws, nothing is made.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for a wrong passphrase, ``VaultError/Code/vaultExists``. If
  ///   the naming of the new file fails, the device key and the file remain.
  package static func restore(
    from backup: BackupFile, passphrase: consuming Passcode, to path: String, isBeside: Bool = false,
    protector: any Protector, newer: RestorePoint? = nil, environment: VaultEnvironment = .system,
    publishing: () throws(VaultError) -> Void = {},
    progress: (VerifyProgress) throws(VaultError) -> Void = { _ in }
  ) throws(VaultError) -> RestoredCore {
    var source = try openedBackup(backup, passphrase: passphrase, environment: environment)
    let vault = source.vault
    guard newer == nil || newer!.vault == vault else {
      throw VaultError(
        .policy, "the vault there is another one than the backup's", hint: "restore to another path")
    }
    var pending = try PendingDeviceKey(
      for: path, DeviceKeys(protector, of: vault), random: environment.random)
    let change = try source.restoredKeys(for: pending.key, kind: protector.kind, over: newer)
    let made = isBeside ? RestoreFiles(path: path).beside(pending.id) : path
    var report = try write(
      &source, to: made, isBeside: isBeside, change: change, newer: newer, pending: &pending,
      publishing: publishing,
      progress: progress)
    report.recoveryCode = .of(change.header, from: source.keys.header, over: newer)
    let core: VaultCore
    do throws(VaultError) {
      core = try VaultCore.open(at: made, protector: protector, environment: environment)
    } catch {
      guard !isBeside, error.code == .io else { throw error }
      throw VaultError(
        .unconfirmed, "the vault was restored to \(made), and could not be opened then: \(error.message)",
        hint: error.advice, underlying: error.underlying)
    }
    core.noteState()
    return RestoredCore(core: core, report: report, path: made)
  }

  /// Makes the file. Its place is there before its device key, and names the key until the file has its name: if this process is
  /// killed, the next restore to the same path knows which key to delete.
  private static func write(
    _ source: inout SealedStore, to path: String, isBeside: Bool, change: KeyChange, newer: RestorePoint?,
    pending: inout PendingDeviceKey, publishing: () throws(VaultError) -> Void,
    progress: (VerifyProgress) throws(VaultError) -> Void
  ) throws(VaultError) -> BackupReport {
    let place = try NewVaultPlace.prepared(path, isBeside: isBeside)
    do throws(VaultError) {
      pending.deleteLeft(by: place.left, beside: path)
      try place.note(pending.name, at: path)
      try pending.store()
      let report = try source.writeRestored(
        in: place, change: change, newer: newer,
        publishing: { () throws(VaultError) in
          try publishing()
          pending.willBeNamed()
        }, progress: progress)
      place.finish()
      return report
    } catch {
      pending.abandon()
      place.abandon()
      throw error
    }
  }

  /// What a restore over the vault at `point` would take from it.
  package static func losses(
    byRestoring backup: BackupFile, passphrase: consuming Passcode, over point: RestorePoint,
    environment: VaultEnvironment = .system
  ) throws(VaultError) -> RestoreLosses {
    var source = try openedBackup(backup, passphrase: passphrase, environment: environment)
    var kept: [ItemID: RestoredItem.State] = [:]
    var walk = ItemWalk()
    while let item = try walk.next(in: &source) {
      if item.reasonToStay == nil { kept[item.id] = RestoredItem.State(item) }
    }
    return RestoreLosses(of: point, keeping: kept)
  }

  /// ``restore(from:passphrase:to:isBeside:protector:newer:environment:publishing:progress:)`` over nothing, from what is at a path.
  package static func restore(
    from backup: String, passphrase: consuming Passcode, to path: String, protector: any Protector,
    newer: RestorePoint? = nil, environment: VaultEnvironment = .system,
    publishing: () throws(VaultError) -> Void = {},
    progress: (VerifyProgress) throws(VaultError) -> Void = { _ in }
  ) throws(VaultError) -> RestoredCore {
    try restore(
      from: BackupFile(reading: backup, beside: path), passphrase: passphrase, to: path,
      protector: protector, newer: newer, environment: environment, publishing: publishing,
      progress: progress)
  }

  /// Opens the backup with its passphrase and compares its rows with their sum.
  private static func openedBackup(
    _ backup: BackupFile, passphrase: consuming Passcode, environment: VaultEnvironment
  ) throws(VaultError) -> SealedStore {
    var source = try openedBackup(backup, unchecked: passphrase, environment: environment)
    let head = try source.head()
    do throws(VaultError) { try source.checkSum(head) } catch { throw error.inBackup(at: backup.path) }
    return source
  }

  /// The same without the comparison.
  static func openedBackup(
    _ backup: BackupFile, unchecked passphrase: consuming Passcode, environment: VaultEnvironment
  ) throws(VaultError) -> SealedStore {
    try openBackup(backup, environment: environment) { (header, slots, derivation) throws(VaultError) in
      let prepared = try derivation.prepare(for: .passphrase, in: environment)
      return try passphrase.typed.firstRight { (form) throws(VaultError) in
        let key = HKDF.derive(from: prepared.key(from: form), label: Labels.passphrase)
        return try KeyRing(
          header: header, slots: slots, passphrase: key, derivation, environment: environment)
      }
    }
  }
}

extension NewVaultPlace {
  /// ``prepare(_:makingFolders:)`` with the errors of a vault.
  fileprivate static func prepared(_ path: String, isBeside: Bool) throws(VaultError) -> NewVaultPlace {
    do throws(StorageError) { return try prepare(path, isSideFile: isBeside) } catch {
      throw VaultError(error, at: path)
    }
  }

  /// ``note(_:)`` with the errors of a vault.
  fileprivate func note(_ text: String, at path: String) throws(VaultError) {
    do throws(StorageError) { try note(text) } catch { throw VaultError(error, at: path) }
  }
}

extension SealedStore {
  /// The slots of a restored vault, with new roots for this device. The next unlock makes the keys of this device
  /// that need the passcode.
  ///
  /// - Parameter newer: The vault that is replaced. A recovery code that was replaced or removed there has no effect.
  fileprivate func restoredKeys(
    for key: borrowing DeviceKey, kind: ProtectorKind, over newer: RestorePoint?
  ) throws(VaultError) -> KeyChange {
    var change = try thisDeviceChange()
    change.header.makeVault()
    change.header.protector = kind
    // Each vault from one backup, and the backup's source, continue with different numbers, so that keys of one are
    // not accepted in another. A number that is near its end begins again.
    if change.header.config >= Head.nearEnd { change.header.config = 0 }
    change.header.config +=
      1
      + (try environment.random.newBytes(5))
      .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    change.slots.removeAll { $0.opener == SlotOpener.passphrase.rawValue }
    try change.setDeviceKey(key)
    if let newer, let half = change.header.recoveryHalf, newer.recoveryHalf != half {
      change.revokeRecovery()
    }
    try change.putRecovery()
    return change
  }

  fileprivate mutating func writeRestored(
    in place: borrowing NewVaultPlace, change: KeyChange, newer: RestorePoint?,
    publishing: () throws(VaultError) -> Void,
    progress: (VerifyProgress) throws(VaultError) -> Void
  ) throws(VaultError) -> BackupReport {
    var report = BackupReport()
    var copy = VaultCopy(head: try head().forBackup(), change: change)
    copy.head.config = change.header.config
    // No witness knows the new device key, so the number of commits begins again.
    copy.head.sequence = VaultCore.firstSequence
    var states = RestoredStates(newer: newer)
    var kept: [ItemID: RestoredItem.State] = [:]
    _ = try VaultRows.create(in: place, publishing: publishing) { rows throws(VaultError) in
      try copy.writeKeys(change, to: &rows)
      let behind = try copy.copyItems(
        from: &self, to: &rows, progress,
        unreadable: { (id, error) throws(VaultError) in
          // The version that made it restores it.
          guard !error.isNewerVersion else { throw error }
          report.leftOut.append((id, nil, .damaged))
        }, damaged: { report.damaged.append($0) },
        { item throws(VaultError) in
          // A program that does not know the item may have put it into the backup.
          if let reason = item.reasonToStay {
            report.leftOut.append((item.id, item.name, reason))
            return false
          }
          if newer != nil { kept[item.id] = RestoredItem.State(item) }
          return true
        }
      ) { (source, item, row, state) throws(VaultError) in
        try states.restored(&source, item: item, row: row, stored: state)
      }
      report.behindDamagedPIN = try items(behind)
      try copy.setState(try states.restoredVaultState(&self), row: 0, in: &rows)
      try copy.keepSegment(of: &self, in: &rows)
      try copy.beginSegment(in: &rows)
      let note = AuditNote(operation: .restored, detail: "\(copy.head.itemCount) items")
      try copy.log(note, to: &rows, vault: vault, environment: environment)
      try copy.writeHead(to: &rows, vault: vault, environment: environment)
    }
    report.items = Int(clamping: copy.head.itemCount)
    let losses = RestoreLosses(of: newer, keeping: kept)
    (report.dropped, report.changed) = (losses.dropped, losses.changed)
    report.needsResync = states.needsResync
    report.passcodeDelay = states.passcodeDelay
    report.isStateRenewed = states.isStateRenewed
    return report
  }
}

/// Changes states for a restored vault: counters never go back, and give no code before a resynchronization.
private struct RestoredStates {
  let newer: RestorePoint?
  var needsResync = 0
  /// How long the passcode is not accepted.
  var passcodeDelay: Duration?
  /// Whether the vault's own state did not open.
  var isStateRenewed = false

  mutating func restored(
    _ source: inout SealedStore, item: Item, row: ItemRow, stored: StateRow
  ) throws(VaultError) -> StateRow {
    guard let (before, _) = try source.state(of: row) else { return stored }
    var state = before
    if let later = newer?.states[item.id] {
      state.keepProgress(of: later, kind: item.kind)
    }
    if item.canBeBehind {
      state.needsResync = true
      needsResync += item.isCountingProver ? 1 : 0
    }
    return try source.keys(of: row.generation).sealState(
      state.bytes, of: row.id, revision: stored.revision + 1, in: source.vault,
      random: source.environment.random)
  }

  /// The larger failures of the two vaults; a new state where that of the backup is damaged. Other restored vaults may have judged passcodes and phrases too: unless the passcode
  /// was shown, its next attempt waits, and no phrase is judged before it.
  mutating func restoredVaultState(_ source: inout SealedStore) throws(VaultError) -> StateRow {
    let stored = try storedState(&source)
    var state = stored?.state ?? VaultState()
    if let later = newer?.failures {
      let biometry = max(state.biometryFailures, later.biometryFailures)
      if later.failures >= state.failures { state = later }
      state.biometryFailures = biometry
    }
    if let derivation = source.keys.header.passcodeDerivation, newer?.shownPasscode != derivation {
      passcodeDelay = .milliseconds(Lockout.restore(&state, clock: source.environment.clock))
      BiometryLockout.lock(&state.biometryFailures)
    }
    if let stored, stored.state.bytes == state.bytes { return stored.row }
    return try source.keys.current.sealState(
      state.bytes, of: ItemID.zero.stored, revision: (stored?.row.revision ?? 0) + 1, in: source.vault,
      random: source.environment.random)
  }

  private mutating func storedState(
    _ source: inout SealedStore
  ) throws(VaultError) -> (state: VaultState, row: StateRow)? {
    do throws(VaultError) { return try source.vaultState() } catch {
      guard error.code == .damaged else { throw error }
      isStateRenewed = true
      return nil
    }
  }
}
