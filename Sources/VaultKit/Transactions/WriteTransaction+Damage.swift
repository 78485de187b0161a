import VaultCrypto
import VaultStorage

extension Transaction where Mode == Writing {
  /// Removes items and entries of the log that are damaged, and says so in `parts`. What opens again by now stays, and so does
  /// what needs a repair alone; the vault's own state is made anew.
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

  /// Makes the vault's own state anew where it is damaged: whoever may do that has shown the passcode or the recovery code.
  mutating func repairVaultState() throws(VaultError) {
    do throws(VaultError) {
      _ = try session.vaultState()
      return
    } catch { guard error.code == .damaged else { throw error } }
    if let old = try stored({ () throws(StorageError) in try session.store.state(row: 0) }) {
      let generation = try? RecordSeal.generation(of: old.body)
      let keys = generation.flatMap { session.keys.keys(of: $0) } ?? session.keys.current
      try stored { () throws(StorageError) in _ = try session.store.deleteState(row: 0) }
      head!.sum -= Summand(key: keys).state(0, old.body)
      try uncountRow()
    }
    try setVaultState(VaultState(), replacing: nil)
    try log(.rotated, detail: "the vault's own state did not open and was made anew")
  }

  /// Removes items that do not open, and logs each. What belongs to them is found by the number of their row; S is corrected
  /// by the tags that are stored.
  mutating func removeUnreadable(_ rows: [ItemRow]) throws(VaultError) {
    let index = try blinds(of: Set(rows.map(\.row)))
    for row in rows {
      let summand = Summand(key: summed(row))
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

  /// Makes S and the counts those of the rows that there are, after what belongs to no item was removed. Logged where they
  /// were others: rows were changed, added or deleted by something else.
  mutating func countAnew() throws(VaultError) {
    changes.underWay += 1
    let (items, foreign) = try rowsOfNoItem()
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
    changes.underWay -= 1
    guard !foreign.isEmpty || sum != head!.sum || rows != head!.summedRows || items != head!.itemCount
    else { return }
    (head!.sum, head!.summedRows, head!.itemCount) = (sum, rows, items)
    changes.isDirty = true
    changes.needsCleaning = true
    try log(.rotated, detail: "rows had been changed by something else: S was made anew")
  }

  /// How many items there are, and the rows that belong to none of them: without an item, or not what its attributes say.
  private mutating func rowsOfNoItem() throws(VaultError) -> (items: UInt64, foreign: [SummedRow]) {
    var expected: [Int64: Set<[UInt8]>] = [:]
    let index = BlindIndex(key: session.keys.current)
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
    return (UInt64(expected.count), foreign)
  }

  private mutating func counted() throws(VaultError) -> (sum: Sum256, rows: UInt64) {
    var (sum, rows) = (Sum256(), UInt64(0))
    let keys = session.keys.current
    var isOld = false
    try session.store.forEachSummed { row throws(VaultError) in
      isOld = isOld || row.generation != keys.generation
      sum += Summand(key: keys).value(row.table.rawValue, row.row, row.tags[...])
      rows += 1
    }
    guard !isOld else { throw VaultError(.damaged, "a row of the vault has keys of another generation") }
    return (sum, rows)
  }

  /// The keys under which a row was summed. One whose column names no generation in force may name it in its seal.
  private func summed(_ row: ItemRow) -> GenerationKeys {
    let sealed = try? RecordSeal.generation(of: row.meta)
    return session.keys.keys(of: row.generation) ?? sealed.flatMap { session.keys.keys(of: $0) }
      ?? session.keys.current
  }

  /// The index rows of some items; the attributes that would tell them do not open. Reads the whole index.
  private mutating func blinds(of rows: Set<Int64>) throws(VaultError) -> [Int64: [[UInt8]]] {
    var found: [Int64: [[UInt8]]] = [:]
    try session.store.forEachBlind { value, row throws(VaultError) in
      if rows.contains(row) { found[row, default: []].append(value) }
      return true
    }
    return found
  }
}
