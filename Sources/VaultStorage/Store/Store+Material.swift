extension Store {
  // MARK: - Material

  /// A value that is not a blob reads as empty. No seal is empty, so it opens nothing.
  package mutating func material(row number: Int64) throws(StorageError) -> MaterialRow? {
    try run(.material) { row throws(StorageError) in
      try row.bind(number, at: 1)
      return try row.step() ? MaterialRow(keys: try row.blobBytes(0), secret: try row.blobBytes(1)) : nil
    }
  }

  /// Inserts the row, or replaces it.
  package mutating func setMaterial(_ material: MaterialRow, row number: Int64) throws(StorageError) {
    try change(.setMaterial) { row throws(StorageError) in
      try row.bind(number, at: 1)
      try row.bind(material.keys, at: 2)
      try row.bind(material.secret, at: 3)
    }
  }

  /// - Returns: False when there was none.
  @discardableResult
  package mutating func deleteMaterial(row number: Int64) throws(StorageError) -> Bool {
    try change(.deleteMaterial) { row throws(StorageError) in try row.bind(number, at: 1) } > 0
  }

  // MARK: - State

  /// An impossible value reads as 0 or empty. No seal is empty, so it opens nothing.
  package mutating func state(row number: Int64) throws(StorageError) -> StateRow? {
    try run(.state) { row throws(StorageError) in
      try row.bind(number, at: 1)
      guard try row.step() else { return nil }
      return StateRow(revision: (try? row.integer(0)) ?? 0, body: try row.blobBytes(1))
    }
  }

  /// Inserts the row, or replaces it.
  package mutating func setState(_ state: StateRow, row number: Int64) throws(StorageError) {
    try change(.setState) { row throws(StorageError) in
      try row.bind(number, at: 1)
      try row.bind(state.revision, at: 2)
      try row.bind(state.body, at: 3)
    }
  }

  /// - Returns: False when there was none.
  @discardableResult
  package mutating func deleteState(row number: Int64) throws(StorageError) -> Bool {
    try change(.deleteState) { row throws(StorageError) in try row.bind(number, at: 1) } > 0
  }

  // MARK: - Blind index

  /// Adds the pair. Does nothing when it is there already.
  ///
  /// - Returns: False when it was there.
  @discardableResult
  package mutating func insertBlind(value: [UInt8], row number: Int64) throws(StorageError) -> Bool {
    try change(.insertBlind) { row throws(StorageError) in
      try row.bind(value, at: 1)
      try row.bind(number, at: 2)
    } > 0
  }

  /// - Returns: False when there was none.
  @discardableResult
  package mutating func deleteBlind(value: [UInt8], row number: Int64) throws(StorageError) -> Bool {
    try change(.deleteBlind) { row throws(StorageError) in
      try row.bind(value, at: 1)
      try row.bind(number, at: 2)
    } > 0
  }

  /// Whether a row has `value`. Other rows may have it too.
  package mutating func hasBlind(value: [UInt8], row number: Int64) throws(StorageError) -> Bool {
    try run(.blind) { row throws(StorageError) in
      try row.bind(value, at: 1)
      try row.bind(number, at: 2)
      return try row.step()
    }
  }

  /// The rows that have `value`, ascending.
  package mutating func rows(blind value: [UInt8]) throws(StorageError) -> [Int64] {
    try run(.rowsOfBlind) { row throws(StorageError) in
      try row.bind(value, at: 1)
      return try row.ascendingIntegers()
    }
  }

  /// Lends every pair in ascending value, then row, until `body` returns false.
  package mutating func forEachBlind<E: StorageFailure>(
    _ body: (_ value: [UInt8], _ row: Int64) throws(E) -> Bool
  ) throws(E) {
    try run(.blinds) { row throws(E) in
      var order = Ascending<BlindPair>()
      while try E.from({ () throws(StorageError) in try row.step() }) {
        let pair = try E.from { () throws(StorageError) in
          BlindPair(value: try row.bytes16(0), row: try row.integer(1))
        }
        try E.from { () throws(StorageError) in try order.next(pair) }
        guard try body(pair.value.bytes, pair.row) else { return }
      }
    }
  }
}
