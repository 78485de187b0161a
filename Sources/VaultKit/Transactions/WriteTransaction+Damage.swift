import VaultCrypto
import VaultStorage

extension Transaction where Mode == Writing {
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
          detail: "damaged: it did not open"))
      changes.underWay -= 1
    }
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
