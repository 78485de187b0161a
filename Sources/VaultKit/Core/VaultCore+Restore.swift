import SecretMemory
import VaultCrypto
import VaultStorage

/// The counters and attempts of a vault that a restored one takes the place of.
package struct RestorePoint: Sendable {
  package let vault: VaultID
  let states: [ItemID: ItemState]
  let failures: VaultState
  /// The recovery half in force.
  let recoveryHalf: [UInt8]?
}

/// A restored vault and what the restore did.
package struct RestoredVault: Sendable {
  package let core: VaultCore
  package let report: BackupReport
}

extension VaultCore {
  /// What a restore over this vault must not set back.
  package func restorePoint() throws(VaultError) -> RestorePoint {
    try reading { transaction throws(VaultError) in
      var states: [ItemID: ItemState] = [:]
      var ids: [ItemID] = []
      try transaction.forEachItem { item throws(VaultError) in
        if item.kind.hasState { ids.append(item.id) }
        return true
      }
      for id in ids { states[id] = try transaction.state(of: id) }
      return RestorePoint(
        vault: transaction.session.vault, states: states,
        failures: try transaction.session.vaultState().state,
        recoveryHalf: transaction.session.keys.header.recoveryHalf)
    }
  }

  /// Makes a vault from a backup: a new device key, the same items, counters that must be resynchronised first.
  ///
  /// - Parameters:
  ///   - backup: The backup file.
  ///   - path: Where nothing is yet.
  ///   - newer: The point of the vault that this one takes the place of: the larger counters and attempts stay.
  /// - Throws: ``VaultError/Code/authenticationFailed`` for a wrong passphrase, ``VaultError/Code/vaultExists``.
  package static func restore(
    from backup: String, passphrase: consuming Passcode, to path: String, protector: any Protector,
    newer: RestorePoint? = nil, environment: VaultEnvironment = .system,
    progress: (VerifyProgress) -> Void = { _ in }
  ) throws(VaultError) -> RestoredVault {
    var source = try openBackup(backup, environment) { (header, slots, derivation) throws(VaultError) in
      let root = try derivation.derive(from: passphrase.bytes, environment)
      let key = HKDF.derive(from: root, label: Labels.passphrase)
      return try KeyRing(
        header: header, slots: slots, passphrase: key, derivation, random: environment.random)
    }
    let head = try source.head()
    try source.checkSum(head)
    let vault = source.vault
    guard newer == nil || newer!.vault == vault else {
      throw VaultError(
        .policy, "the vault there is another one than the backup's", hint: "restore to another path")
    }
    let key = try DeviceKey.fresh(random: environment.random)
    try protector.refuseFolder(of: path, key: key.id, vault: vault)
    let change = try source.restoredKeys(key, protector.kind, over: newer)
    try protector.storeKey(key, of: vault)
    do throws(VaultError) {
      var report = try source.writeRestored(path, change, newer, progress)
      report.recoveryCode = .of(change.header, from: source.keys.header, over: newer)
      let core = try VaultCore.open(at: path, protector: protector, environment: environment)
      try core.writing { transaction throws(VaultError) in
        try transaction.log(AuditOperation(rawValue: 21), detail: "\(report.items) items")
      }
      return RestoredVault(core: core, report: report)
    } catch {
      forget(key.id, of: vault, namedAt: path, by: protector)
      throw error
    }
  }
}

extension Session {
  /// The slots of a restored vault: new roots for this device. What lies behind the passcode and is this device's is
  /// made at the next unlock.
  ///
  /// - Parameter newer: The vault that makes way. A recovery code that was replaced or removed there stays without effect.
  fileprivate func restoredKeys(
    _ key: borrowing DeviceKey, _ kind: ProtectorKind, over newer: RestorePoint?
  ) throws(VaultError) -> KeyChange {
    var change = try thisDeviceChange()
    change.header.setBackup(made: now, nil)
    change.header.protector = kind
    change.header.config += 1
    change.slots.removeAll { $0.opener == SlotOpener.passphrase.rawValue }
    try change.setDeviceKey(key)
    if let newer, let half = change.header.recoveryHalf, newer.recoveryHalf != half {
      change.revokeRecovery()
    }
    try change.putRecovery()
    return change
  }

  fileprivate mutating func writeRestored(
    _ path: String, _ change: KeyChange, _ newer: RestorePoint?, _ progress: (VerifyProgress) -> Void
  ) throws(VaultError) -> BackupReport {
    var report = BackupReport()
    var copy = VaultCopy(head: try head().forBackup(), keys: change.keys)
    copy.head.config = change.header.config
    var states = RestoredStates(newer: newer)
    _ = try Store.create(at: path) { store throws(VaultError) in
      try copy.writeKeys(change, to: &store)
      try copy.copyItems(from: &self, to: &store, progress, { _ throws(VaultError) in true }) {
        (source, item, row, state) throws(VaultError) in
        try states.restored(&source, item, row, state)
      }
      try copy.setState(try states.restoredVaultState(&self), row: 0, in: &store)
      try copy.beginSegment(in: &store)
      try copy.writeHead(to: &store, vault, environment)
    }
    report.items = Int(clamping: copy.head.itemCount)
    report.needsResync = states.needsResync
    return report
  }
}

/// States on their way into a restored vault: counters never go back, and codes wait for a resynchronisation.
private struct RestoredStates {
  let newer: RestorePoint?
  var needsResync = 0

  mutating func restored(
    _ source: inout Session, _ item: Item, _ row: ItemRow, _ stored: StateRow
  ) throws(VaultError) -> StateRow {
    guard let (before, _) = try source.state(of: row) else { return stored }
    var state = before
    if let later = newer?.states[item.id] {
      state.counter = max(state.counter, later.counter)
      state.failures = max(state.failures, later.failures)
      state.uses = max(state.uses, later.uses)
      state.lastAccepted = [state.lastAccepted, later.lastAccepted].compactMap { $0 }.max()
      state.isBlocked = state.isBlocked || later.isBlocked
    }
    if item.isHOTPProver || item.kind == .pin {
      state.needsResync = true
      needsResync += 1
    }
    return try source.sealed(state.bytes, item: row.id, revision: stored.revision + 1)
  }

  func restoredVaultState(_ source: inout Session) throws(VaultError) -> StateRow {
    var (state, row) = try source.vaultState()
    guard let later = newer?.failures else { return row }
    let biometry = max(state.biometryFailures, later.biometryFailures)
    guard later.failures >= state.failures || biometry != state.biometryFailures else { return row }
    if later.failures >= state.failures { state = later }
    state.biometryFailures = biometry
    return try source.sealed(state.bytes, item: ItemID.zero.stored, revision: row.revision + 1)
  }
}

extension Session {
  fileprivate func sealed(_ bytes: [UInt8], item: Bytes16, revision: UInt64) throws(VaultError) -> StateRow {
    let body = try crypto { () throws(CryptoError) in
      try keys.current.state.seal(
        bytes, aad: AssociatedData.state(vault, item: item, revision: revision), random: environment.random)
    }
    return StateRow(revision: revision, body: body)
  }
}

extension Item {
  /// A credential whose counter a server follows.
  var isHOTPProver: Bool { kind == .otp && attributes[.otpType] == 1 && attributes[.otpRole] == 1 }
}
