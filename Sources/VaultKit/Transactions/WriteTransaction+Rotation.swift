import SealedStorage
import VaultFormat
import SecretMemory
import VaultCrypto
import VaultStorage

extension WriteTransaction {
  /// The result of a batch.
  struct Moving {
    /// How many items or entries were sealed for the current generation.
    var moved = 0
    /// The parts that do not open.
    var damaged: [DamagedPart] = []
    var isLast = false
  }

  /// Writes prepared items of a rotation, and records the progress.
  ///
  /// - Parameter dropDamaged: Whether to remove parts that do not open.
  /// - Returns: `nil` if another process was faster; then nothing is written.
  mutating func write(_ batch: PreparedMove, dropDamaged: Bool) throws(VaultError) -> Moving? {
    guard store.keys.previous != nil, store.keys.current.generation == batch.generation,
      head.rotation.position == batch.from,
      head.rotation.phase == .items || head.rotation.phase == .itemsLeft
    else { return nil }
    // Another process may have written since the rows were read, and so may this transaction, which ended due tokens first.
    let isUnchanged = head.sequence == batch.sequence && !changes.isDirty
    var result = Moving()
    var damaged = batch.damaged
    if isUnchanged {
      try apply(batch.items)
      result.moved = batch.items.count
    } else {
      for item in batch.items {
        if let part = try applyIfPresent(item, count: &result.moved) { damaged.append((item.row, part)) }
      }
    }
    try settle(damaged, isUnchanged: isUnchanged, dropDamaged: dropDamaged, result: &result)
    head.rotation.position = batch.last
    result.isLast = batch.isLast
    if result.isLast { try endItems(&result) }
    changes.isDirty = true
    return result
  }

  /// Seals an item's parts for the current generation.
  mutating func move(_ old: ItemRow) throws(VaultError) -> ItemRow {
    let item = try store.moved(old)
    try apply([item])
    return item.new
  }

  /// Starts again with the first item if one was left behind, so that the caller learns which.
  mutating func restartMoving() {
    guard store.keys.previous != nil, [.itemsLeft, .paused].contains(head.rotation.phase) else { return }
    head.rotation = RotationState()
    changes.isDirty = true
  }

  /// A rotation that is paused may have waited for the removal of a row of the old generation, or of its secret.
  mutating func resumeRotation(after row: ItemRow) {
    guard store.isOld(row), head.rotation.phase == .paused else { return }
    head.rotation = RotationState()
  }

  /// Applies an item whose row still exists after another process has written. Prepares a changed item again.
  private mutating func applyIfPresent(_ item: MovedItem, count: inout Int) throws(VaultError)
    -> DamagedPart?
  {
    let number = item.row
    let (row, material, state) = (
      try store.rows.item(row: number), try store.rows.material(row: number),
      try store.rows.state(row: number)
    )
    guard let row, store.isOld(row) else { return nil }
    do throws(VaultError) {
      try apply([item.isMade(from: row, material, state) ? item : try store.moved(row)])
      count += 1
      return nil
    } catch {
      guard error.isUnreadable, !changes.isHalfDone else { throw error }
      return store.damaged(row, error: error)
    }
  }

  /// Seals an item for the current generation if all of its parts open.
  ///
  /// - Returns: The part that does not open; `nil` if the item is sealed.
  private mutating func moveIfSound(_ row: ItemRow) throws(VaultError) -> DamagedPart? {
    do throws(VaultError) {
      _ = try move(row)
      return nil
    } catch {
      guard error.isUnreadable, !changes.isHalfDone else { throw error }
      return store.damaged(row, error: error)
    }
  }

  /// Removes damaged parts or leaves them behind. Always leaves parts behind that a newer version made.
  private mutating func settle(
    _ damaged: [(row: Int64, part: DamagedPart)], isUnchanged: Bool, dropDamaged: Bool, result: inout Moving
  ) throws(VaultError) {
    var left: [(row: ItemRow, part: DamagedPart)] = []
    for (number, part) in damaged {
      guard let row = try store.rows.item(row: number), store.isOld(row) else { continue }
      // What did not open may have left the file meanwhile, such as the secret of a token that ended.
      if isUnchanged {
        left.append((row, part))
      } else if let present = try moveIfSound(row) {
        left.append((row, present))
      } else {
        result.moved += 1
      }
    }
    let removable = left.filter { dropDamaged && $0.part.remedy == .removal }.map(\.row)
    // A PIN that does not open stays while items that open are behind it.
    let needing = try store.items(needing: removable)
    var rows: [ItemRow] = []
    for (row, var part) in left {
      if let items = needing[row.row] { part = part.needed(by: items.map { $0.name ?? $0.id.hexadecimal }) }
      part.isRemoved = dropDamaged && part.remedy == .removal
      if part.isRemoved { rows.append(row) } else { head.rotation.phase = .itemsLeft }
      result.damaged.append(part)
    }
    if !rows.isEmpty { try removeUnreadable(rows) }
  }

  /// Ends the part of the rotation that moves items: the log is next, or the rotation waits.
  private mutating func endItems(_ result: inout Moving) throws(VaultError) {
    var isPaused = false
    if head.rotation.phase == .itemsLeft {
      for number in try store.oldRows() {
        // It may open by now, as the row of a token does that has ended.
        guard let row = try store.rows.item(row: number) else { continue }
        if try moveIfSound(row) == nil { result.moved += 1 } else { isPaused = true }
      }
    }
    head.rotation = RotationState(phase: isPaused ? .paused : .audit, position: 0)
  }

  // MARK: The log

  /// Seals up to `limit` audit entries for the current generation. Their MACs stay, because they cover only the
  /// content.
  ///
  /// - Returns: `nil` when no entry is left.
  mutating func moveAudit(limit: Int, dropDamaged: Bool) throws(VaultError) -> Moving? {
    guard store.keys.previous != nil, head.rotation.phase == .audit else { return nil }
    let from = head.rotation.position
    var rows = try store.rows.auditEntries(from: from + 1, limit: limit)
    // As for items: no vault has an entry of such a number.
    rows.removeAll { $0.sequence >= Head.greatest }
    guard !rows.isEmpty else { return nil }
    var result = Moving(isLast: rows.count < limit)
    changes.isDirty = true
    for row in rows {
      if var part = try moveEntry(row) {
        part.isRemoved = dropDamaged && part.remedy != .newerVersion
        result.damaged.append(part)
        // The entry and the rotation stay unchanged.
        guard part.isRemoved else {
          head.rotation = RotationState(phase: .paused)
          return result
        }
        try removeEntry(row.sequence)
      }
      result.moved += 1
      head.rotation.position = row.sequence
    }
    return result
  }

  /// Whether every entry of the log has a seal of the current generation. Entries that are logged during a rotation
  /// have one, so only the first entry that was not moved must be checked.
  mutating func isLogMoved() throws(VaultError) -> Bool {
    let from = head.rotation.position + 1
    let next = try store.rows.auditEntries(from: from, limit: 1)
    guard let row = next.first, row.sequence < Head.greatest else { return true }
    return (try? RecordSeal.generation(of: row.body)) == store.keys.current.generation
  }

  /// Removes an entry of the log that does not open. The chain shows the gap.
  mutating func removeEntry(_ sequence: UInt64) throws(VaultError) {
    let isThere = try store.rows.deleteAudit(sequence: sequence)
    guard isThere else { return }
    changes.isDirty = true
    try log(.rotated, detail: "audit entry \(sequence) did not open and was removed")
  }

  private mutating func moveEntry(_ row: AuditRow) throws(VaultError) -> DamagedPart? {
    let current = store.keys.current
    let record: [UInt8]
    do throws(VaultError) {
      let generation = try GenerationKeys.generation(of: row.body)
      guard generation != current.generation else { return nil }
      record = try store.open(row).record
    } catch {
      guard error.isUnreadable else { throw error }
      return .audit(row.sequence, error: error)
    }
    let body = try current.sealEntry(
      record, sequence: row.sequence, in: store.vault, random: store.environment.random)
    _ = try store.rows.updateAudit(AuditRow(sequence: row.sequence, body: body, mac: row.mac))
    changes.seals += 1
    changes.isDirty = true
    return nil
  }

  /// Seals the vault's own state for the current generation.
  mutating func moveVaultState() throws(VaultError) {
    let (state, row) = try store.vaultState()
    try setVaultState(state, replacing: row)
  }
}
