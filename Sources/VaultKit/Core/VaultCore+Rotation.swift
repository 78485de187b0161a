import SecretMemory
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// A new device key: slots only, no item is touched. The old key is forgotten after the new one has opened the vault.
  ///
  /// - Parameter protector: Who keeps the new key; `nil` for the present one.
  /// - Returns: What became of the key before: it stays where a file beside the vault names it.
  /// - Throws: The `deviceKey…` codes with nothing changed; ``VaultError/Code/busy`` during a rotation of the epoch.
  @discardableResult
  package func rotateDeviceKey(to protector: (any Protector)? = nil) throws(VaultError) -> ReplacedKey {
    let old = currentProtector
    let new = protector ?? old
    let (vault, path) = try reading { transaction throws(VaultError) in
      (transaction.session.vault, transaction.session.store.path)
    }
    let keys = DeviceKeys(new, of: vault)
    var pending = try PendingDeviceKey(for: path, keys, environment)
    let lock = try keys.lock()
    defer { lock?.keep() }
    try rehearse { transaction throws(VaultError) in
      _ = try transaction.replaceDeviceKey(with: pending.key, keptBy: new.kind)
    }
    try pending.store()
    var before = pending.id
    do throws(VaultError) {
      try writing { transaction throws(VaultError) in
        before = try transaction.replaceDeviceKey(with: pending.key, keptBy: new.kind)
        pending.willBeNamed()
      }
    } catch {
      pending.abandon()
      throw error
    }
    setProtector(new)
    return try retire(before, keptBy: old, for: pending.id, keptBy: new)
  }

  /// A new generation of all stored keys. Rows are moved in batches; both generations stay readable meanwhile, and
  /// after a kill the next call goes on where this one stopped.
  ///
  /// - Parameter passcode: Needed where one is set.
  package func rotateEpoch(
    passcode: consuming Passcode? = nil, progress: (VerifyProgress) -> Void = { _ in }
  ) throws(VaultError) {
    var keys: PasscodeKeys?
    if let typed = consume passcode { keys = try verified(typed) }
    guard keys != nil || !hasPasscode else {
      throw VaultError(.locked, "the vault is locked", hint: "rotating the epoch needs the passcode")
    }
    try beginEpoch(keys)
    try moveRows(progress)
    try endEpoch()
  }

  /// Moves one batch of a rotation that was interrupted, where the open keys can; the last batch ends it.
  package func resumeRotation() throws(VaultError) {
    guard isRotating, isUnlocked, !isReadOnly else { return }
    var last: Int64? = 0
    while let from = last {
      let step = try writing { transaction throws(VaultError) in
        try transaction.moveItems(after: from, limit: Self.batch)
      }
      if step.moved > 0 { return }
      last = step.last
    }
    try moveRows { _ in }
    try endEpoch()
  }

  /// Whether a rotation of the epoch is under way.
  package var isRotating: Bool { withSession { $0.keys.previous != nil } }

  /// Everything deleted before becomes unreadable with the vault and device key as they are afterwards, if the old
  /// device key is really gone: a new epoch, a new device key, a file written anew.
  package func purge(
    passcode: consuming Passcode? = nil, progress: (VerifyProgress) -> Void = { _ in }
  ) throws(VaultError) {
    try rotateEpoch(passcode: passcode, progress: progress)
    try rotateDeviceKey()
    try writing { transaction throws(VaultError) in try transaction.log(AuditOperation(rawValue: 23)) }
    try withSessionThrowing { session throws(VaultError) in
      do throws(StorageError) {
        try session.store.vacuum()
        guard try session.store.checkpoint(truncate: true) else { throw .busy }
      } catch .busy { throw Self.halfPurged } catch { throw VaultError(error) }
    }
  }

  private static var halfPurged: VaultError {
    VaultError(
      .busy,
      "epoch and device key are rotated, but another process reads an older state of the vault: "
        + "what was deleted is still in the file or its log",
      hint: "when that process has ended, run 'vaultctl purge' again")
  }

  /// Begins a new epoch and moves nothing, as a process that is killed at once does.
  package func beginRotationForTesting(passcode: consuming Passcode? = nil) throws(VaultError) {
    var keys: PasscodeKeys?
    if let typed = consume passcode { keys = try verified(typed) }
    try beginEpoch(keys)
  }

  // MARK: Steps

  private static let batch = 500

  private func beginEpoch(_ keys: PasscodeKeys?) throws(VaultError) {
    guard !isRotating else { return }
    let (vault, id) = try reading { transaction throws(VaultError) in
      (transaction.session.vault, transaction.session.keys.header.deviceKey)
    }
    let key = try DeviceKeys(currentProtector, of: vault).load(id)
    try writing { transaction throws(VaultError) in
      guard transaction.session.keys.previous == nil else { return }
      try transaction.session.refuseShut()
      guard transaction.session.keys.header.deviceKey == key.id,
        try transaction.session.keys.header.passcodeDerivation() == keys?.derivation
      else {
        throw VaultError(.busy, "the vault's keys were changed by another process", hint: "try again")
      }
      let change = KeyChange(
        header: transaction.session.keys.header, slots: transaction.session.keys.slots,
        keys: transaction.session.keys.current, random: transaction.session.environment.random)
      let next = try change.nextEpoch(key, keys)
      let row = try transaction.set(next)
      let random = transaction.session.environment.random
      var ring = try KeyRing(header: row, slots: next.slots, deviceKey: key, random: random)
      if let keys { try ring.unlock(with: keys, random: random) }
      transaction.session.keys = ring
      transaction.head!.seals = 0
      try transaction.log(.rotated, detail: "epoch \(next.header.generation) begun")
    }
  }

  private func moveRows(_ progress: (VerifyProgress) -> Void) throws(VaultError) {
    let total = try status().itemCount
    var done = 0
    var last: Int64? = 0
    while let from = last {
      last = try writing { transaction throws(VaultError) in
        try transaction.moveItems(after: from, limit: Self.batch).last
      }
      done += Self.batch
      progress(VerifyProgress(done: min(done, total), total: total))
    }
    var sequence: UInt64? = 0
    while let from = sequence {
      sequence = try writing { transaction throws(VaultError) in
        try transaction.moveAudit(after: from, limit: Self.batch * 4)
      }
    }
  }

  private func endEpoch() throws(VaultError) {
    try writing { transaction throws(VaultError) in
      guard transaction.session.keys.previous != nil else { return }
      try transaction.moveVaultState()
      var change = KeyChange(
        header: transaction.session.keys.header, slots: transaction.session.keys.slots,
        keys: transaction.session.keys.current, random: transaction.session.environment.random)
      change.dropPreviousGeneration()
      try transaction.set(change)
      try transaction.log(.rotated, detail: "epoch \(change.header.generation) done")
    }
  }
}

extension Transaction where Mode == Writing {
  /// Header and slots for a new device key.
  ///
  /// - Returns: The key before, which the header lists as replaced.
  fileprivate mutating func replaceDeviceKey(
    with key: borrowing DeviceKey, keptBy kind: ProtectorKind
  ) throws(VaultError) -> DeviceKeyID {
    let before = session.keys.header.deviceKey
    try changeKeys(.rotated) { change, transaction throws(VaultError) in
      guard transaction.session.keys.current.deviceRoot != nil else {
        throw VaultError(.policy, "this needs the vault's own device key, not the recovery code")
      }
      try change.replaceDeviceKey(with: key)
      change.header.protector = kind
    }
    return before
  }
}
