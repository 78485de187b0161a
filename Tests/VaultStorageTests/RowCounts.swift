import VaultStorage

/// How many rows there are.
struct RowCounts: Equatable {
  var items = 0
  var materials = 0
  var states = 0
  var blinds = 0
  var former = 0

  /// The rows that the sum covers.
  var summed: Int { items + materials + states + blinds + former }
}

extension Store {
  /// Reads all rows, as a comparison with the sum does.
  mutating func counts() throws(StorageError) -> RowCounts {
    var counts = RowCounts()
    try forEachSummed { row throws(StorageError) in
      switch row.table {
      case .item: counts.items += 1
      case .material: counts.materials += 1
      case .state: counts.states += 1
      case .blind: counts.blinds += 1
      case .former: counts.former += 1
      }
    }
    return counts
  }
}
