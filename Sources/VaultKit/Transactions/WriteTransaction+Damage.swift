import SealedStorage
import VaultFormat
import VaultKeys
import VaultCrypto
import VaultStorage

extension WriteTransaction {
  /// Removes damaged items and log entries, and marks them in `parts`. A part that opens by now stays, and so does a
  /// part that only needs a repair. The vault's own state is rebuilt.
  mutating func removeDamaged(_ parts: inout [DamagedPart]) throws(VaultError) {
    var rows: [ItemRow] = []
    for index in parts.indices where parts[index].remedy == .removal {
      if let sequence = parts[index].auditSequence {
        let found = try store.rows.auditEntries(from: sequence, limit: 1).first
        guard let row = found, row.sequence == sequence, (try? store.open(row)) == nil else { continue }
        try removeEntry(sequence)
        parts[index].isRemoved = true
      } else if let number = parts[index].row {
        let row = try store.rows.item(row: number)
        guard let row, try store.damage(of: row)?.remedy == .removal else { continue }
        rows.append(row)
        parts[index].isRemoved = true
      }
    }
    if !rows.isEmpty { try removeUnreadable(rows) }
    try repairVaultState()
  }

  /// Rebuilds the vault's own state if it is damaged. The caller has verified the passcode or the recovery code.
  mutating func repairVaultState() throws(VaultError) {
    do throws(VaultError) {
      _ = try store.vaultState()
      return
    } catch { guard error.code == .damaged else { throw error } }
    try rebuildVaultState()
    try log(.rotated, detail: "the vault's own state did not open and was rebuilt")
  }

  /// Removes items that do not open, and logs each. Their other rows are found by the row number; S is corrected with
  /// the stored tags.
  mutating func removeUnreadable(_ rows: [ItemRow]) throws(VaultError) {
    let index = try blinds(of: Set(rows.map(\.row)))
    for row in rows {
      if ItemKind(rawValue: row.kind).rules.relations.guardsOthers {
        changes.removedPINs.insert(ItemID(row.id))
      }
      if (try? store.open(row)) == nil { changes.removedUnknown = true }
      let keys = summed(row)
      var before = ItemRows(row.row, under: keys, item: row)
      before.material = try store.rows.material(row: row.row)
      before.state = try store.rows.state(row: row.row)
      before.index = index[row.row] ?? []
      before.former = try store.formerRows(of: row)
      let note = AuditNote(
        operation: .itemDeleted, item: ItemID(row.id), kind: ItemKind(rawValue: row.kind),
        detail: "it did not open")
      try replace(before, with: ItemRows(row.row, under: keys), noting: note, isRepair: true)
    }
  }

  /// Removes an item that does not open, at the wish of a person.
  mutating func removeUnreadable(_ row: ItemRow) throws(VaultError) {
    let (sum, rows, items) = (head.sum, head.summedRows, head.itemCount)
    try removeUnreadable([row])
    // If the rows that are left are those that the head row had counted, something else had added this one.
    guard let now = try? counted(), now.sum == sum, now.rows == rows else { return }
    (head.sum, head.summedRows, head.itemCount) = (sum, rows, items)
  }

  /// Removes rows whose numbers or index values no vault has, whatever their seals say, and what the log does not have: entries
  /// and segments after its last. The first step of a repair, because they may be in the way of the next entry.
  ///
  /// - Throws: ``VaultError/Code/damaged`` where one of them can be the PIN of items that open. The caller changes nothing then.
  mutating func removeImpossible() throws(VaultError) {
    let removed = try store.rows.deleteImpossible(
      from: Head.greatest, afterEntry: head.nextAudit - 1, afterSegment: head.segment)
    if removed.items > 0 { try refuseMissingPINs() }
    guard removed.all > 0 else { return }
    changes.isDirty = true
    changes.needsCleaning = true
    try log(.rotated, detail: "\(removed.all) rows that no vault can have were removed")
  }

  /// A row that does not open, and was just removed, can have been the PIN that no other row is.
  private mutating func refuseMissingPINs() throws(VaultError) {
    let behind = try store.items(behind: store.missingPINs()).map { $0.item.name ?? $0.item.id.hexadecimal }
    guard behind.isEmpty else {
      let row = DamagedPart.unreadableRow("a row has a number that no vault has").needed(by: behind)
      throw .refusal("the vault stays as it is", needed: [row])
    }
  }

  /// Removes rows that belong to no item, then recomputes S and the counts from the rows that are left. Logged when
  /// they differ: something else changed, added or deleted rows.
  mutating func countAnew() throws(VaultError) {
    let operation = changes.begin()
    let (items, last, foreign) = try rowsOfNoItem()
    for row in foreign {
      switch row.table {
      case .item: break
      case .material: _ = try store.rows.deleteMaterial(row: row.row)
      case .state: _ = try store.rows.deleteState(row: row.row)
      case .blind: _ = try store.rows.deleteBlind(value: row.tags, row: row.row)
      case .former: _ = try store.rows.deleteFormer(version: row.version, row: row.row)
      }
    }
    let (sum, rows) = try counted()
    let next = max(head.nextRow, last < .max ? last + 1 : last)
    changes.end(operation)
    guard
      !foreign.isEmpty || sum != head.sum || rows != head.summedRows || items != head.itemCount
        || next != head.nextRow
    else { return }
    (head.sum, head.summedRows, head.itemCount, head.nextRow) = (sum, rows, items, next)
    changes.isDirty = true
    changes.needsCleaning = true
    try log(.rotated, detail: "something else had changed rows: S was recomputed")
  }

  /// How many items there are, the number of the last row, and the rows that belong to no item: rows without an item, secrets
  /// that it does not list, states that do not open where it needs none, and index rows that its attributes do not give.
  private mutating func rowsOfNoItem() throws(VaultError) -> (
    items: UInt64, last: Int64, foreign: [SummedRow]
  ) {
    var expected: [Int64: (index: Set<[UInt8]>, hasSecret: Bool, mayHaveState: Bool, former: Set<UInt64>)] =
      [:]
    let keys = [store.keys.current, store.keys.previous].compactMap { $0 }
    var walk = ItemWalk()
    while let item = try walk.next(in: &store) {
      let index = keys.first { $0.generation == item.generation }?.blindIndex
      expected[item.row] = (
        Set(index?.values(of: item) ?? []), item.hasSecret, item.kind.mayHaveState,
        try store.soundFormer(of: item)
      )
    }
    var foreign: [SummedRow] = []
    var doubtful: [SummedRow] = []
    try store.rows.forEachSummed { row throws(VaultError) in
      let isForeign =
        switch row.table {
        case .item: false
        case .material: expected[row.row]?.hasSecret != true
        case .state: row.row != 0 && expected[row.row] == nil
        case .blind: expected[row.row]?.index.contains(row.tags) != true
        case .former: expected[row.row]?.former.contains(row.version) != true
        }
      if isForeign {
        foreign.append(row)
      } else if row.table == .state, expected[row.row]?.mayHaveState == false {
        doubtful.append(row)
      }
    }
    for row in doubtful {
      guard let item = try store.rows.item(row: row.row) else { continue }
      if try store.state(of: item) == nil { foreign.append(row) }
    }
    return (UInt64(expected.count), expected.keys.max() ?? 0, foreign)
  }

  private mutating func counted() throws(VaultError) -> (sum: Sum256, rows: UInt64) {
    var (sum, rows) = (Sum256(), UInt64(0))
    let keys = [store.keys.current, store.keys.previous].compactMap { $0 }
    var isForeign = false
    try store.rows.forEachSummed { row throws(VaultError) in
      guard let keys = keys.first(where: { $0.generation == row.generation }) else { return isForeign = true }
      sum += keys.summand.value(row.table.rawValue, row.row, row.tags[...])
      rows += 1
    }
    guard !isForeign else {
      throw VaultError(.damaged, "a row of the vault has keys of another generation")
    }
    return (sum, rows)
  }

  /// The keys that a row's part of the sum was made with. If the column of the row names no valid generation, its
  /// seal may.
  private func summed(_ row: ItemRow) -> GenerationKeys {
    store.keys.keys(of: row.generation) ?? store.keys.keys(sealing: row.meta) ?? store.keys.current
  }

  /// The index rows of items whose attributes do not open. Reads the whole index.
  private mutating func blinds(of rows: Set<Int64>) throws(VaultError) -> [Int64: [[UInt8]]] {
    var found: [Int64: [[UInt8]]] = [:]
    try store.rows.forEachBlind { value, row throws(VaultError) in
      if rows.contains(row) { found[row, default: []].append(value) }
      return true
    }
    return found
  }
}
