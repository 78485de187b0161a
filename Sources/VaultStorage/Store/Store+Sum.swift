extension Store {
  /// Lends what each row of `item`, `material`, `state` and `blind` adds to the sum, in this order, each ascending.
  package mutating func forEachSummed<E: StorageFailure>(_ body: (SummedRow) throws(E) -> Void) throws(E) {
    var failure = BodyFailure<E>()
    for table in SummedRow.Table.allCases {
      func summed(_ row: borrowing Cursor) throws(StorageError) -> SummedRow { try SummedRow(table, row) }
      try E.from(
        walk(table.query, as: summed, by: { $0.key }) { row throws(StorageError) in
          failure.isAbsent(after: { () throws(E) in try body(row) })
        })
      try failure.rethrow()
    }
  }

  /// The numbers of rows. Reads them all, because SQLite's own count would follow a damaged page without end.
  package mutating func counts() throws(StorageError) -> RowCounts {
    var counts = RowCounts(items: 0, materials: 0, states: 0, blinds: 0)
    try forEachSummed { row throws(StorageError) in
      switch row.table {
      case .item: counts.items += 1
      case .material: counts.materials += 1
      case .state: counts.states += 1
      case .blind: counts.blinds += 1
      }
    }
    return counts
  }
}

extension SummedRow.Table {
  fileprivate var query: Query {
    switch self {
    case .item: .sumItems
    case .material: .sumMaterials
    case .state: .sumStates
    case .blind: .sumBlinds
    }
  }
}

extension SummedRow {
  /// What ascends: of `blind` value and row, of the other tables the row alone.
  fileprivate var key: BlindPair {
    BlindPair(value: table == .blind ? Bytes16(tags) : Bytes16(high: 0, low: 0), row: row)
  }
}
