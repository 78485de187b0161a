import SealedStorage
import VaultFormat
import VaultKeys
import VaultCrypto
import VaultStorage

extension Transaction where Mode == Writing {
  /// Removes damaged items and log entries, and marks them in `parts`. A part that opens again by now stays, and so does
  /// one that only needs a repair; the vault's own state is rebuilt.
  mutating func removeDamaged(_ parts: inout [DamagedPart]) throws(VaultError) {
    var rows: [ItemRow] = []
    for index in parts.indices where parts[index].remedy == .removal {
      if let sequence = parts[index].auditSequence {
        try removeEntry(sequence)
        parts[index].isRemoved = true
      } else if let number = parts[index].row {
        let row = try stored { () throws(StorageError) in try session.store.item(row: number) }
        guard let row, try session.damage(of: row)?.remedy == .removal else { continue }
        rows.append(row)
        parts[index].isRemoved = true
      }
    }
    if !rows.isEmpty { try removeUnreadable(rows) }
    try repairVaultState()
  }

  /// Rebuilds the vault's own state when it is damaged: the caller has shown the passcode or the recovery code.
  mutating func repairVaultState() throws(VaultError) {
    do throws(VaultError) {
      _ = try session.vaultState()
      return
    } catch { guard error.code == .damaged else { throw error } }
    if let old = try stored({ () throws(StorageError) in try session.store.state(row: 0) }) {
      let generation = try? RecordSeal.generation(of: old.body)
      let keys = generation.flatMap { session.keys.keys(of: $0) } ?? session.keys.current
      try stored { () throws(StorageError) in _ = try session.store.deleteState(row: 0) }
      head!.sum -= keys.summand.state(0, old.body)
      try uncountRow()
    }
    try setVaultState(VaultState(), replacing: nil)
    try log(.rotated, detail: "the vault's own state did not open and was rebuilt")
  }

  /// Removes items that do not open, and logs each. Their other rows are found by the row number; S is corrected with
  /// the stored tags.
  mutating func removeUnreadable(_ rows: [ItemRow]) throws(VaultError) {
    let index = try blinds(of: Set(rows.map(\.row)))
    for row in rows {
      let summand = summed(row).summand
      changes.underWay += 1
      if let material = try stored({ () throws(StorageError) in try session.store.material(row: row.row) }) {
        try stored { () throws(StorageError) in _ = try session.store.deleteMaterial(row: row.row) }
        head!.sum -= summand.material(row.row, material)
        try uncountRow()
      }
      if let state = try stored({ () throws(StorageError) in try session.store.state(row: row.row) }) {
        try stored { () throws(StorageError) in _ = try session.store.deleteState(row: row.row) }
        head!.sum -= summand.state(row.row, state.body)
        try uncountRow()
      }
      for value in index[row.row] ?? [] {
        try stored { () throws(StorageError) in _ = try session.store.deleteBlind(value: value, row: row.row)
        }
        head!.sum -= summand.blind(row.row, value)
        try uncountRow()
      }
      try removeRow(row, summand)
      try log(
        AuditNote(
          operation: .itemDeleted, item: ItemID(row.id), kind: ItemKind(rawValue: row.kind),
          detail: "it did not open"))
      changes.underWay -= 1
    }
  }

  /// Removes rows that belong to no item, then recomputes S and the counts from the rows that are left. Logged when
  /// they differ: something else changed, added or deleted rows.
  mutating func countAnew() throws(VaultError) {
    changes.underWay += 1
    let (items, last, foreign) = try rowsOfNoItem()
    for row in foreign {
      try stored { () throws(StorageError) in
        switch row.table {
        case .item: break
        case .material: _ = try session.store.deleteMaterial(row: row.row)
        case .state: _ = try session.store.deleteState(row: row.row)
        case .blind: _ = try session.store.deleteBlind(value: row.tags, row: row.row)
        }
      }
    }
    let (sum, rows) = try counted()
    let next = max(head!.nextRow, last < .max ? last + 1 : last)
    changes.underWay -= 1
    guard
      !foreign.isEmpty || sum != head!.sum || rows != head!.summedRows || items != head!.itemCount
        || next != head!.nextRow
    else { return }
    (head!.sum, head!.summedRows, head!.itemCount, head!.nextRow) = (sum, rows, items, next)
    changes.isDirty = true
    changes.needsCleaning = true
    try log(.rotated, detail: "something else had changed rows: S was recomputed")
  }

  /// How many items there are, the number of the last row, and the rows that belong to no item: rows without an item, and
  /// index rows that its attributes do not give.
  private mutating func rowsOfNoItem() throws(VaultError) -> (
    items: UInt64, last: Int64, foreign: [SummedRow]
  ) {
    var expected: [Int64: Set<[UInt8]>] = [:]
    let index = session.keys.current.blindIndex
    try session.forEachItem { item throws(VaultError) in
      expected[item.row] = Set(index.values(of: item.attributes))
      return true
    }
    var foreign: [SummedRow] = []
    try session.store.forEachSummed { row throws(VaultError) in
      let isForeign =
        switch row.table {
        case .item: false
        case .material: expected[row.row] == nil
        case .state: row.row != 0 && expected[row.row] == nil
        case .blind: expected[row.row]?.contains(row.tags) != true
        }
      if isForeign { foreign.append(row) }
    }
    return (UInt64(expected.count), expected.keys.max() ?? 0, foreign)
  }

  private mutating func counted() throws(VaultError) -> (sum: Sum256, rows: UInt64) {
    var (sum, rows) = (Sum256(), UInt64(0))
    let keys = session.keys.current
    var isOld = false
    try session.store.forEachSummed { row throws(VaultError) in
      isOld = isOld || row.generation != keys.generation
      sum += keys.summand.value(row.table.rawValue, row.row, row.tags[...])
      rows += 1
    }
    guard !isOld else { throw VaultError(.damaged, "a row of the vault has keys of another generation") }
    return (sum, rows)
  }

  /// The keys under which a row was summed. When its column names no generation in force, its seal may.
  private func summed(_ row: ItemRow) -> GenerationKeys {
    let sealed = try? RecordSeal.generation(of: row.meta)
    return session.keys.keys(of: row.generation) ?? sealed.flatMap { session.keys.keys(of: $0) }
      ?? session.keys.current
  }

  /// The index rows of items whose attributes do not open. Reads the whole index.
  private mutating func blinds(of rows: Set<Int64>) throws(VaultError) -> [Int64: [[UInt8]]] {
    var found: [Int64: [[UInt8]]] = [:]
    try session.store.forEachBlind { value, row throws(VaultError) in
      if rows.contains(row) { found[row, default: []].append(value) }
      return true
    }
    return found
  }
}
