import SealedStorage
import VaultFormat
import SecretMemory
import VaultCrypto
import VaultStorage

extension Transaction where Mode == Writing {
  /// What became of a batch.
  struct Moving {
    /// How many items were sealed for the current generation.
    var moved = 0
    /// What does not open.
    var damaged: [DamagedPart] = []
    var isLast = false
  }

  /// Writes prepared items of a rotation until the time is up, and records how far it came.
  ///
  /// - Parameters:
  ///   - end: When to stop: other writers wait.
  ///   - dropDamaged: Whether what does not open is removed.
  /// - Returns: `nil` when another process was faster: nothing is written then.
  mutating func write(
    _ batch: PreparedMove, until end: ContinuousClock.Instant, dropDamaged: Bool
  ) throws(VaultError) -> Moving? {
    guard session.keys.previous != nil, session.keys.current.generation == batch.generation,
      head!.rotation.position == batch.from,
      head!.rotation.phase == .items || head!.rotation.phase == .itemsLeft
    else { return nil }
    let isUnchanged = head!.sequence == batch.sequence
    var result = Moving()
    var last = batch.last
    var damaged = batch.damaged
    for (number, item) in batch.items.enumerated() {
      if number % 16 == 0, number > 0, ContinuousClock.now > end {
        last = UInt64(batch.items[number - 1].old.row)
        break
      }
      if isUnchanged {
        try apply(item)
        result.moved += 1
      } else if let part = try applyIfPresent(item, &result.moved) {
        damaged.append((item.old.row, part))
      }
    }
    try settle(damaged.filter { $0.row <= last }, dropDamaged, &result)
    head!.rotation.position = last
    result.isLast = last == batch.last && batch.isLast
    if result.isLast { try endItems() }
    changes.isDirty = true
    return result
  }

  /// Seals an item's parts for the current generation.
  mutating func move(_ old: ItemRow) throws(VaultError) -> ItemRow {
    let item = try session.moved(old)
    try apply(item)
    return item.new
  }

  /// Starts again with the first item when one was left behind, so that the caller is told which.
  mutating func restartMoving() {
    guard session.keys.previous != nil, [.itemsLeft, .paused].contains(head!.rotation.phase) else { return }
    head!.rotation = RotationState()
    changes.isDirty = true
  }

  private mutating func apply(_ item: MovedItem) throws(VaultError) {
    changes.underWay += 1
    let number = item.old.row
    try stored { () throws(StorageError) in
      try session.store.moveItem(item.new)
      if let keys = item.keys { try session.store.setKeys(keys, row: number) }
      if let state = item.newState { try session.store.setState(state, row: number) }
      // S counts the index rows that the attributes give, even when the file has lost one of them.
      for value in item.oldIndex { try session.store.deleteBlind(value: value, row: number) }
      for value in item.newIndex { try session.store.insertBlind(value: value, row: number) }
    }
    head!.sum += item.sum
    changes.seals += item.seals
    changes.isDirty = true
    changes.underWay -= 1
  }

  /// Another process has written since the item was prepared: a changed item is prepared again.
  private mutating func applyIfPresent(_ item: MovedItem, _ count: inout Int) throws(VaultError)
    -> DamagedPart?
  {
    let number = item.old.row
    let (row, material, state) = try stored { () throws(StorageError) in
      (
        try session.store.item(row: number), try session.store.material(row: number),
        try session.store.state(row: number)
      )
    }
    guard let row, row.generation != session.keys.current.generation else { return nil }
    do throws(VaultError) {
      let isSame = row == item.old && material == item.material && state == item.state
      try apply(isSame ? item : try session.moved(row))
      count += 1
      return nil
    } catch {
      guard error.isUnreadable, changes.underWay == 0 else { throw error }
      return session.damaged(row, error)
    }
  }

  /// Removes what is damaged, or leaves it behind, as what a newer version has made always is.
  private mutating func settle(
    _ damaged: [(row: Int64, part: DamagedPart)], _ dropDamaged: Bool, _ result: inout Moving
  ) throws(VaultError) {
    var rows: [ItemRow] = []
    for (number, var part) in damaged {
      guard let row = try stored({ () throws(StorageError) in try session.store.item(row: number) }),
        row.generation != session.keys.current.generation
      else { continue }
      part.isRemoved = dropDamaged && part.remedy != .newerVersion
      if part.isRemoved { rows.append(row) } else { head!.rotation.phase = .itemsLeft }
      result.damaged.append(part)
    }
    if !rows.isEmpty { try removeUnreadable(rows) }
  }

  /// All items were looked at: the log is next, or the rotation waits.
  private mutating func endItems() throws(VaultError) {
    let isLeft = head!.rotation.phase == .itemsLeft
    let isPaused = isLeft ? try session.hasOldRows() : false
    head!.rotation = RotationState(phase: isPaused ? .paused : .audit, position: 0)
  }

  // MARK: The log

  /// Seals up to `limit` audit entries for the current generation; their MACs stay, they are over the content.
  ///
  /// - Returns: What does not open; `nil` when no entry is left.
  mutating func moveAudit(
    limit: Int, until end: ContinuousClock.Instant, dropDamaged: Bool
  ) throws(VaultError) -> [DamagedPart]? {
    guard session.keys.previous != nil, head!.rotation.phase == .audit else { return nil }
    let from = head!.rotation.position
    let rows = try stored { () throws(StorageError) in
      try session.store.auditEntries(from: from + 1, limit: limit)
    }
    guard !rows.isEmpty else { return nil }
    var damaged: [DamagedPart] = []
    for (number, row) in rows.enumerated() {
      if number % 16 == 0, number > 0, ContinuousClock.now > end { break }
      if var part = try moveEntry(row) {
        part.isRemoved = dropDamaged && part.remedy != .newerVersion
        damaged.append(part)
        // Then this process changes nothing: the entry and the rotation stay as they are.
        guard part.isRemoved else {
          head!.rotation = RotationState(phase: .paused)
          changes.isDirty = true
          return damaged
        }
        try removeEntry(row.sequence)
      }
      head!.rotation.position = row.sequence
    }
    changes.isDirty = true
    return damaged
  }

  /// Whether every entry of the log has a seal of the current generation. What is logged during a rotation has one, so the
  /// first entry that was not moved speaks for those after it.
  mutating func isLogMoved() throws(VaultError) -> Bool {
    let from = head!.rotation.position + 1
    let next = try stored { () throws(StorageError) in try session.store.auditEntries(from: from, limit: 1) }
    guard let row = next.first else { return true }
    return (try? RecordSeal.generation(of: row.body)) == session.keys.current.generation
  }

  /// Removes an entry of the log that does not open. The chain shows the gap.
  mutating func removeEntry(_ sequence: UInt64) throws(VaultError) {
    let isThere = try stored { () throws(StorageError) in
      try session.store.deleteAudit(sequence: sequence)
    }
    guard isThere else { return }
    changes.isDirty = true
    try log(.rotated, detail: "audit entry \(sequence) did not open and was removed")
  }

  private mutating func moveEntry(_ row: AuditRow) throws(VaultError) -> DamagedPart? {
    let current = session.keys.current
    let record: [UInt8]
    do throws(VaultError) {
      let generation = try crypto { () throws(CryptoError) in try RecordSeal.generation(of: row.body) }
      guard generation != current.generation else { return nil }
      record = try session.open(row).record
    } catch {
      guard error.isUnreadable else { throw error }
      return .audit(row.sequence, error)
    }
    let aad = AssociatedData.audit(session.vault, sequence: row.sequence)
    let body = try crypto { () throws(CryptoError) in
      try current.audit.seal(record, aad: aad, random: session.environment.random)
    }
    try stored { () throws(StorageError) in
      _ = try session.store.updateAudit(AuditRow(sequence: row.sequence, body: body, mac: row.mac))
    }
    changes.seals += 1
    changes.isDirty = true
    return nil
  }

  /// Seals the vault's own state for the current generation.
  mutating func moveVaultState() throws(VaultError) {
    let (state, row) = try session.vaultState()
    try setVaultState(state, replacing: row)
  }
}
