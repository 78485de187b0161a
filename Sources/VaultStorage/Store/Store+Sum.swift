extension Store {
  /// Lends what each row of `item`, `material`, `state` and `blind` adds to the sum, in this order, each ascending.
  package mutating func forEachSummed<E: StorageFailure>(_ body: (SummedRow) throws(E) -> Void) throws(E) {
    for table in SummedRow.Table.allCases {
      try run(table.query) { row throws(E) in
        var rows = Ascending<Int64>()
        var pairs = Ascending<BlindPair>()
        while let summed = try E.from({ () throws(StorageError) in try SummedRow(table, next: row) }) {
          try E.from { () throws(StorageError) in
            if table == .blind {
              try pairs.next(BlindPair(value: Bytes16(summed.tags), row: summed.row))
            } else {
              try rows.next(summed.row)
            }
          }
          try body(summed)
        }
      }
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
