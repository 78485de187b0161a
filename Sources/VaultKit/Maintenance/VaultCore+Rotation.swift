import DeviceKeys
import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// Makes a new device key. Rewrites slots, but no item. Deletes the old key after the new one has opened the vault.
  ///
  /// - Parameter protector: Who keeps the new key; `nil` for the present one.
  /// - Returns: Whether the old key was deleted. It stays if a file beside the vault names it.
  /// - Throws: The `deviceKey…` codes with nothing changed.
  @discardableResult
  package func rotateDeviceKey(to protector: (any Protector)? = nil) throws(VaultError) -> ReplacedKey {
    let transaction = try beginReading()
    let (vault, path, header) = (
      transaction.store.vault, transaction.store.rows.path, transaction.store.keys.header
    )
    transaction.end()
    let old = try keeper(of: header)
    let new = protector ?? old
    let keys = DeviceKeys(new, of: vault)
    var pending = try PendingDeviceKey(for: path, keys, random: environment.random)
    let lock = try keys.lock()
    defer { lock?.keep() }
    var rehearsal = try beginWriting()
    _ = try rehearsal.replaceDeviceKey(with: pending.key, keptBy: new.kind)
    try rehearsal.rehearse()
    let before = try naming(&pending, keptBy: [new, old]) { pending throws(VaultError) in
      var transaction = try beginWriting()
      guard transaction.store.keys.header.protector == old.kind else {
        throw VaultError(.busy, "the vault's keys were changed by another process", hint: "try again")
      }
      let before = try transaction.replaceDeviceKey(with: pending.key, keptBy: new.kind)
      pending.willBeNamed()
      try transaction.commit()
      return before
    }
    setProtector(new)
    return try retire(before, keptBy: old, for: new)
  }

  /// Makes a new generation of all stored keys. Opens every part of the vault before it changes anything. Moves rows
  /// in batches; during this time both generations stay readable. If interrupted, the next call continues where this
  /// one stopped.
  ///
  /// - Parameters:
  ///   - passcode: Required if a passcode is set.
  ///   - dropDamaged: Whether items and entries of the log that do not open are removed, and logged. S and the counts
  ///     are then recomputed from the rows that are left, and that is logged too.
  ///   - isAnew: Whether to complete a rotation that was under way and make another one: an attacker may know the keys
  ///     of the first.
  ///   - damaged: Called with each part that does not open.
  /// - Throws: ``VaultError/Code/damaged`` if a part does not open and may not be removed. If it is found before the
  ///   first change, nothing is changed. If it is found later, the rotation pauses, with two generations in force.
  ///   ``VaultError/Code/newerFormat``, in the same way, for a part that a newer version of this program made. Such a
  ///   part is never removed.
  package func rotateEpoch(
    passcode: consuming Passcode? = nil, dropDamaged: Bool = false, isAnew: Bool = false,
    progress: (VerifyProgress) -> Void = { _ in }, damaged: (DamagedPart) -> Void = { _ in }
  ) throws(VaultError) {
    let validity = CallValidity(self)
    // Also the verification of the passcode writes to the log.
    if dropDamaged { try beginWriting(repairing: true).commit() }
    let keys = try keysToRotate(passcode)
    var forward = RotationProgress(restFirst: isAnew ? try rotationPhase() != nil : false)
    // An attacker who had the device key and the passcode may have begun the present rotation, with known keys.
    var race = KeyRace()
    while race.mayTry() {
      let isOwn = try rotate(
        with: keys, for: validity, dropDamaged: dropDamaged, progress: { progress(forward.next($0)) },
        damaged: damaged)
      if isOwn || !isAnew { return }
      forward.endRest()
    }
    throw KeyRace.lost
  }

  /// Rotates, and continues if another process makes new keys in the meantime. The session then loses the keys that
  /// the passcode opened, and this opens them again with `keys`, unless the vault was locked meanwhile.
  ///
  /// - Returns: Whether this has begun the rotation. Another one may have been under way in the file.
  private func rotate(
    with keys: PasscodeKeys?, for validity: CallValidity, dropDamaged: Bool,
    progress: (VerifyProgress) -> Void, damaged: (DamagedPart) -> Void
  ) throws(VaultError) -> Bool {
    var race = KeyRace()
    while race.mayTry() {
      do throws(VaultError) {
        return try rotateOnce(
          with: keys, for: validity, dropDamaged: dropDamaged, progress: progress, damaged: damaged)
      } catch {
        guard error.code == .locked, session.latch.locks == validity.locks, let keys,
          try opened(with: keys, for: validity)
        else { throw error }
      }
    }
    throw KeyRace.lost
  }

  private func rotateOnce(
    with keys: PasscodeKeys?, for validity: CallValidity, dropDamaged: Bool,
    progress: (VerifyProgress) -> Void,
    damaged: (DamagedPart) -> Void
  ) throws(VaultError) -> Bool {
    var begun: GenerationKeys?
    if try rotationPhase() == nil {
      try prepareEpoch(dropDamaged: dropDamaged, progress: progress, told: damaged)
      begun = try beginEpoch(keys, for: validity)
    }
    let isOwn = begun != nil
    // The keys that everything is to have in the end.
    let next =
      if let begun { begun } else {
        try keysUnderWay(dropDamaged: dropDamaged)
      }
    withStore { try? $0.rows.letLogGrow(true) }
    defer { withStore { try? $0.rows.letLogGrow(false) } }
    repeat {
      var left: [DamagedPart] = []
      func note(_ part: DamagedPart) {
        if !part.isRemoved { left.append(part) }
        damaged(part)
      }
      try moveItems(dropDamaged: dropDamaged, progress: progress, told: note)
      try moveAudit(dropDamaged: dropDamaged, told: note)
      guard try rotationPhase() != .paused else { throw Self.paused(left) }
      // The rotation is not ended if another process has started again with the first row.
    } while try !endEpoch(next)
    if dropDamaged { try finishRepair(told: damaged) }
    return isOwn
  }

  /// Moves one batch of an interrupted rotation, as far as the open keys allow; the last batch ends the rotation.
  /// Parts that do not open are left behind, and the rotation then waits for an explicit call.
  package func resumeRotation() throws(VaultError) {
    guard isRotating, isUnlocked, !isReadOnly else { return }
    while true {
      switch try rotationPhase() {
      case .paused: return
      case .items, .itemsLeft:
        var transaction = try beginReading()
        let batch = try transaction.store.prepareMove(limit: environment.rotation.itemsAlong)
        transaction.end()
        guard let batch else { continue }
        var change = try beginWriting()
        let done = try change.write(batch, dropDamaged: false)
        try change.commit()
        if let done, done.moved > 0 { return }
      case .audit:
        var change = try beginWriting()
        let done = try change.moveAudit(limit: environment.rotation.entries, dropDamaged: false)
        try change.commit()
        guard let done else {
          _ = try endEpoch()
          return
        }
        guard done.isLast else { return }
      case nil: return
      }
    }
  }

  /// Whether a rotation of the epoch is under way now, whichever process began it.
  package var isRotating: Bool { withPresentKeys { $0.previous != nil } }

  /// Makes a new epoch and a new device key, and rewrites the file. Everything that was deleted before can then no
  /// longer be read with the new file and key, provided that no copy of the old device key exists.
  ///
  /// - Throws: As ``rotateEpoch(passcode:dropDamaged:progress:damaged:)``.
  package func purge(
    passcode: consuming Passcode? = nil, dropDamaged: Bool = false,
    progress: (VerifyProgress) -> Void = { _ in }, damaged: (DamagedPart) -> Void = { _ in }
  ) throws(VaultError) {
    try rotateEpoch(
      passcode: passcode, dropDamaged: dropDamaged, isAnew: true, progress: progress, damaged: damaged)
    try rotateDeviceKey()
    var transaction = try beginWriting()
    try transaction.log(AuditOperation(rawValue: 23))
    try transaction.commit()
    var held = HeldStore(of: session)
    do throws(VaultError) {
      try held.store.rows.vacuum()
      guard try held.store.rows.checkpoint(truncate: true) else { throw Self.halfPurged }
    } catch { throw error.code == .busy ? Self.halfPurged : error }
  }

  private static var halfPurged: VaultError {
    VaultError(
      .busy,
      "epoch and device key are rotated, but another process reads an older state of the vault: "
        + "what was deleted is still in the file or its log", hint: .purgeAgain)
  }

  /// Ends a rotation before its items and its log are moved, like a process that another process has overtaken.
  ///
  /// - Returns: Whether it was ended.
  package func endRotationTooEarlyForTesting() throws(VaultError) -> Bool {
    var transaction = try beginWriting()
    transaction.head.rotation = RotationState(phase: .audit)
    transaction.changes.isDirty = true
    try transaction.commit()
    return try endEpoch()
  }

  // MARK: Steps

  /// - Returns: The keys of the new generation; `nil` if a rotation is under way, and nothing was begun.
  func beginEpoch(_ keys: PasscodeKeys?, for validity: CallValidity) throws(VaultError) -> GenerationKeys? {
    let present = try beginReading()
    let (vault, id) = (present.store.vault, present.store.keys.header.deviceKey)
    present.end()
    let key = try DeviceKeys(currentProtector, of: vault).load(id)
    var transaction = try beginWriting()
    guard transaction.store.keys.previous == nil else { return nil }
    try transaction.store.refuseShut()
    // What follows opens what the passcode guards, which a lock meanwhile has shut.
    guard transaction.store.locks == validity.locks else { throw SealedStore.lockedMeanwhile }
    guard transaction.store.keys.header.deviceKey == key.id,
      transaction.store.keys.header.passcodeDerivation == keys?.derivation
    else {
      throw VaultError(.busy, "the vault's keys were changed by another process", hint: "try again")
    }
    // Unlocking checks the present form of what the change below authenticates. These keys may differ from the keys
    // that were unlocked before.
    if let keys { try transaction.store.unlock(with: keys, at: validity.locks) }
    // They are sealed for the keys that end here.
    try transaction.forgetAllFormer()
    let next = try transaction.store.keyChange.nextEpoch(with: key, passcode: keys)
    let row = try transaction.set(next)
    let ring = try KeyRing(header: row, slots: next.slots, deviceKey: key, environment: environment)
    if let keys { try ring.unlock(with: keys, random: environment.random) }
    let made = ring.current
    transaction.store.hold(ring, at: validity.locks, madeBy: .session)
    // Seals made earlier in this transaction use the keys of the old generation, so they do not count.
    transaction.head.seals = 0
    transaction.head.rotation = RotationState()
    transaction.changes.seals = next.seals
    try transaction.log(.rotated, detail: "epoch \(next.header.generation) begun")
    try transaction.commit()
    return made
  }

  static func paused(_ found: [DamagedPart]) -> VaultError {
    let newer = found.filter { $0.remedy == .newerVersion }
    guard newer.isEmpty else { return .refusal("the rotation is paused", newer: newer) }
    let needed = found.filter { $0.remedy == .needed }
    guard needed.isEmpty else { return .refusal("the rotation is paused", needed: needed) }
    return VaultError(
      .damaged,
      "the rotation is paused" + (found.isEmpty ? "" : ": \(VaultError.named(found))"), hint: .resumeRotation)
  }

  func rotationPhase() throws(VaultError) -> RotationState.Phase? {
    var transaction = try beginReading()
    guard transaction.store.keys.previous != nil else { return nil }
    return try transaction.store.head().rotation.phase
  }

  /// Opens and seals rows while other processes may write, then writes them in one transaction, and so on.
  private func moveItems(
    dropDamaged: Bool, progress: (VerifyProgress) -> Void, told: (DamagedPart) -> Void
  ) throws(VaultError) {
    let total = try status().itemCount
    var done = 0
    while true {
      var transaction = try beginReading()
      let batch = try transaction.store.prepareMove(limit: environment.rotation.items)
      transaction.end()
      guard let batch else { return }
      var change = try beginWriting()
      let result = try change.write(batch, dropDamaged: dropDamaged)
      try change.commit()
      guard let result else { continue }
      result.damaged.forEach(told)
      done += result.moved
      progress(VerifyProgress(done: total + min(done, total), total: 2 * total))
    }
  }

  private func moveAudit(dropDamaged: Bool, told: (DamagedPart) -> Void) throws(VaultError) {
    while true {
      var transaction = try beginWriting()
      let result = try transaction.moveAudit(limit: environment.rotation.entries, dropDamaged: dropDamaged)
      try transaction.commit()
      guard let result else { return }
      result.damaged.forEach(told)
    }
  }

  /// The keys of the rotation that is under way, which begins with the first item again if one was left behind.
  private func keysUnderWay(dropDamaged: Bool) throws(VaultError) -> GenerationKeys {
    var transaction = try beginWriting()
    if dropDamaged { try transaction.repairVaultState() }
    transaction.restartMoving()
    let keys = transaction.store.keys.current
    try transaction.commit()
    return keys
  }

  /// Drops the old generation once nothing uses it. `false` if something still does: a part that does not open, or
  /// rows of a next rotation, which another process has begun after it ended this one.
  ///
  /// - Parameter next: The keys that the generation is to have, or a later one; `nil` for any.
  /// - Throws: ``VaultError/Code/busy`` if it has others: an older state was put back, and the rotation is undone.
  private func endEpoch(_ next: GenerationKeys? = nil) throws(VaultError) -> Bool {
    var transaction = try beginWriting()
    guard next.map(transaction.store.keys.current.isOrFollows) ?? true else {
      throw VaultError(
        .busy, "an older state of the vault was put back meanwhile: its keys are not rotated",
        hint: "rotate again")
    }
    guard transaction.store.keys.previous != nil else { return true }
    guard transaction.head.rotation.phase == .audit, try transaction.isLogMoved() else { return false }
    // Without the keys of the old generation, such a row would never open again.
    guard try transaction.store.oldRows().isEmpty else {
      transaction.head.rotation = RotationState()
      transaction.changes.isDirty = true
      try transaction.commit()
      return false
    }
    try transaction.moveVaultState()
    transaction.head.rotation = RotationState()
    var change = transaction.store.keyChange
    let trust = try change.authenticator(transaction.store.keys.trustKey)
    try change.dropPreviousGeneration(trust: trust)
    try transaction.set(change)
    try transaction.log(.rotated, detail: "epoch \(change.header.generation) done")
    try transaction.commit()
    return true
  }
}

extension WriteTransaction {
  /// Header and slots for a new device key.
  ///
  /// - Returns: The old key, which the header now lists as replaced.
  fileprivate mutating func replaceDeviceKey(
    with key: borrowing DeviceKey, keptBy kind: ProtectorKind
  ) throws(VaultError) -> DeviceKeyID {
    let before = store.keys.header.deviceKey
    var change = try beginKeyChange()
    guard store.keys.current.deviceRoot != nil else {
      throw VaultError(.policy, "this needs the vault's own device key, not the recovery code")
    }
    try change.replaceDeviceKey(with: key, isShared: head.isCopy)
    head.isCopy = false
    change.header.protector = kind
    try write(change, as: .rotated)
    return before
  }
}
