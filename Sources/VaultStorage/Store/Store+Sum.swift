extension Store {
  /// Lends what each row of `item`, `material`, `state`, `blind` and `former` adds to the sum, in this order, each ascending.
  package mutating func forEachSummed<E: StorageFailure>(_ body: (SummedRow) throws(E) -> Void) throws(E) {
    let hasFormer = try E.from(hasFormer())
    for table in SummedRow.Table.allCases where table != .former || hasFormer {
      try forEachSummed(of: table, body)
    }
  }

  /// The same of one table. The file has it.
  package mutating func forEachSummed<E: StorageFailure>(
    of table: SummedRow.Table, _ body: (SummedRow) throws(E) -> Void
  ) throws(E) {
    var failure = BodyFailure<E>()
    func summed(_ row: borrowing Cursor) throws(StorageError) -> SummedRow { try SummedRow(table, row) }
    try E.from(
      walk(table.query, as: summed, by: { $0.key }) { row throws(StorageError) in
        failure.isAbsent(after: { () throws(E) in try body(row) })
      })
    try failure.rethrow()
  }
}

extension SummedRow.Table {
  fileprivate var query: Query {
    switch self {
    case .item: .sumItems
    case .material: .sumMaterials
    case .state: .sumStates
    case .blind: .sumBlinds
    case .former: .sumFormer
    }
  }
}

extension SummedRow {
  /// What ascends: of `blind` value and row, of `former` row and version, of the other tables the row alone.
  fileprivate var key: BlindPair {
    switch table {
    case .blind: BlindPair(value: Bytes16(tags), row: row)
    case .former:
      BlindPair(value: Bytes16(high: UInt64(bitPattern: row) ^ 1 << 63, low: version), row: 0)
    case .item, .material, .state: BlindPair(value: Bytes16(high: 0, low: 0), row: row)
    }
  }
}
