extension Store {
  // MARK: - Material

  /// A value that is not a blob reads as empty. No seal is empty, so it opens nothing.
  package mutating func material(row number: Int64) throws(StorageError) -> MaterialRow? {
    try first(.material, number, as: MaterialRow.init)
  }

  /// Inserts the row, or replaces it.
  package mutating func setMaterial(_ material: MaterialRow, row number: Int64) throws(StorageError) {
    try change(.setMaterial, number, material.keys, material.secret)
  }

  /// - Returns: False when there was none.
  @discardableResult
  package mutating func deleteMaterial(row number: Int64) throws(StorageError) -> Bool {
    try change(.deleteMaterial, number) > 0
  }

  // MARK: - State

  /// An impossible value reads as 0 or empty. No seal is empty, so it opens nothing.
  package mutating func state(row number: Int64) throws(StorageError) -> StateRow? {
    try first(.state, number, as: StateRow.init)
  }

  /// Lends the states from row `first` on, in ascending row, until `body` returns false. Allocates nothing. Values read as in
  /// ``state(row:)``.
  package mutating func scanStates(
    from first: Int64, _ body: (_ row: Int64, _ revision: UInt64, _ state: RawSpan) -> Bool
  ) throws(StorageError) {
    try run(.scanStates, first) { row throws(StorageError) in
      var order = Ascending<Int64>()
      try row.forEachLentRow { row throws(StorageError) in
        let number: Int64 = try row.integer(0)
        try order.next(number)
        let revision: UInt64 = (try? row.integer(1)) ?? 0
        return try row.withBlob(2) { body(number, revision, $0) }
      }
    }
  }

  /// Inserts the row, or replaces it.
  package mutating func setState(_ state: StateRow, row number: Int64) throws(StorageError) {
    try change(.setState, number, state.revision, state.body)
  }

  /// - Returns: False when there was none.
  @discardableResult
  package mutating func deleteState(row number: Int64) throws(StorageError) -> Bool {
    try change(.deleteState, number) > 0
  }

  // MARK: - Blind index

  /// Adds the pair. Does nothing when it is there already.
  ///
  /// - Returns: False when it was there.
  @discardableResult
  package mutating func insertBlind(value: [UInt8], row number: Int64) throws(StorageError) -> Bool {
    try change(.insertBlind, value, number) > 0
  }

  /// - Returns: False when there was none.
  @discardableResult
  package mutating func deleteBlind(value: [UInt8], row number: Int64) throws(StorageError) -> Bool {
    try change(.deleteBlind, value, number) > 0
  }

  /// Whether a row has `value`. Other rows may have it too.
  package mutating func hasBlind(value: [UInt8], row number: Int64) throws(StorageError) -> Bool {
    try run(.blind, value, number) { row throws(StorageError) in try row.step() }
  }

  /// The rows that have `value`, ascending.
  package mutating func rows(blind value: [UInt8]) throws(StorageError) -> [Int64] {
    try rows(.rowsOfBlind, value, as: Int64.init(firstColumn:), by: \.self)
  }

  /// Lends every pair in ascending value, then row, until `body` returns false.
  package mutating func forEachBlind<E: StorageFailure>(
    _ body: (_ value: [UInt8], _ row: Int64) throws(E) -> Bool
  ) throws(E) {
    try walk(.blinds, as: BlindPair.init, by: \.self) { pair throws(E) in
      try body(pair.value.bytes, pair.row)
    }
  }
}
