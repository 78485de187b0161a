extension Store {
  /// Lends what each row of `item`, `material`, `state` and `blind` adds to the sum, in this order and ascending.
  package mutating func forEachSummed<E: StorageFailure>(_ body: (SummedRow) throws(E) -> Void) throws(E) {
    for table in SummedRow.Table.allCases {
      try run(table.query) { row throws(E) in
        while let summed = try E.from({ () throws(StorageError) in try SummedRow(table, next: row) }) {
          try body(summed)
        }
      }
    }
  }

  package mutating func counts() throws(StorageError) -> RowCounts {
    try run(.count) { row throws(StorageError) in
      guard try row.step() else { throw row.damage }
      return RowCounts(
        items: try row.integer(0), materials: try row.integer(1), states: try row.integer(2),
        blinds: try row.integer(3))
    }
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
  /// The next row; nil after the last one.
  fileprivate init?(_ table: Table, next row: borrowing Cursor) throws(StorageError) {
    guard try row.step() else { return nil }
    self.table = table
    self.row = try row.integer(0)
    tags = []
    try row.appendLast(16, of: 2, to: &tags)
    if table == .material { try row.appendLast(16, of: 3, to: &tags) }
    if table == .state, self.row == 0 {
      generation = try Self.generation(inSeal: row.bytes(2))
    } else {
      generation = row.isNull(1) ? nil : try row.integer(1)
    }
  }

  /// A seal of suite 2 names its generation after version and suite.
  private static func generation(inSeal seal: [UInt8]) -> UInt32? {
    guard seal.count >= 6 else { return nil }
    return seal[2..<6].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
