extension Store {
  package mutating func item(row number: Int64) throws(StorageError) -> ItemRow? {
    try item(.itemByRow) { row throws(StorageError) in try row.bind(number, at: 1) }
  }

  package mutating func item(id: Bytes16) throws(StorageError) -> ItemRow? {
    if let recentItem, recentItem.id == id { return recentItem }
    let found = try item(.itemByID) { row throws(StorageError) in try row.bind(id, at: 1) }
    if isInTransaction { recentItem = found }
    return found
  }

  package mutating func item(name: Bytes16) throws(StorageError) -> ItemRow? {
    try item(.itemByName) { row throws(StorageError) in try row.bind(name, at: 1) }
  }

  /// As ``item(name:)``, but faster: lends `meta`. Does not call `body` when there is no such item.
  package mutating func withItem(
    name: Bytes16, _ body: (ItemFields, _ meta: RawSpan) -> Void
  ) throws(StorageError) {
    try run(.itemByName) { row throws(StorageError) in
      try row.bind(name, at: 1)
      guard try row.step() else { return }
      let fields = try ItemFields(row)
      try row.withBlob(11) { body(fields, $0) }
    }
  }

  package mutating func item(primaryKey: Bytes16) throws(StorageError) -> ItemRow? {
    try item(.itemByPrimaryKey) { row throws(StorageError) in try row.bind(primaryKey, at: 1) }
  }

  /// - Throws: ``StorageError/duplicate(_:)`` naming the column that is taken; nothing is written then.
  package mutating func insertItem(_ item: ItemRow) throws(StorageError) {
    recentItem = nil
    try change(.insertItem) { row throws(StorageError) in try row.bind(item) }
  }

  /// Writes all columns of the row `item.row`.
  ///
  /// - Returns: False when there is no such row.
  /// - Throws: ``StorageError/duplicate(_:)`` naming the column that is taken; nothing is written then.
  @discardableResult
  package mutating func updateItem(_ item: ItemRow) throws(StorageError) -> Bool {
    recentItem = nil
    return try change(.updateItem) { row throws(StorageError) in try row.bind(item) } > 0
  }

  /// Deletes the row of `item` only. Material, state and blind values have calls of their own.
  ///
  /// - Returns: False when there was no such row.
  @discardableResult
  package mutating func deleteItem(row number: Int64) throws(StorageError) -> Bool {
    recentItem = nil
    return try change(.deleteItem) { row throws(StorageError) in try row.bind(number, at: 1) } > 0
  }

  /// Lends the items after row `row`, at most `limit`, in ascending row until `body` returns false.
  package mutating func forEachItem<E: StorageFailure>(
    after number: Int64 = .min, limit: Int? = nil, _ body: (ItemRow) throws(E) -> Bool
  ) throws(E) {
    try run(.items) { row throws(E) in
      try E.from { () throws(StorageError) in
        try row.bind(number, at: 1)
        try row.bind(limit ?? -1, at: 2)
      }
      var order = Ascending(after: number)
      while let item = try E.from({ () throws(StorageError) in try row.step() ? try ItemRow(row) : nil }) {
        try E.from { () throws(StorageError) in try order.next(item.row) }
        guard try body(item) else { return }
      }
    }
  }

  /// As ``forEachItem(after:limit:_:)``, but faster: lends `meta`, and allocates nothing.
  package mutating func scanItems(
    after number: Int64 = .min, limit: Int? = nil, _ body: (ItemFields, _ meta: RawSpan) -> Bool
  ) throws(StorageError) {
    try run(.scanItems) { row throws(StorageError) in
      try row.bind(number, at: 1)
      try row.bind(limit ?? -1, at: 2)
      var order = Ascending(after: number)
      try row.forEachLentRow { row throws(StorageError) in
        let fields = try ItemFields(row)
        try order.next(fields.row)
        return try row.withBlob(11) { body(fields, $0) }
      }
    }
  }

  /// Frees the cached pages of the file, for callers that walk once over many rows.
  package mutating func releasePages() { connection.releasePages() }

  /// The rows of the items that expired before `time`, in milliseconds since 1970. Reads the whole table.
  package mutating func expired(before time: Int64) throws(StorageError) -> [Int64] {
    try run(.expiries) { row throws(StorageError) in
      var rows: [Int64] = []
      var order = Ascending<Int64>()
      while try row.step() {
        let number: Int64 = try row.integer(0)
        try order.next(number)
        if row.isInteger(1), try row.integer(1, as: Int64.self) < time { rows.append(number) }
      }
      return rows
    }
  }

  private mutating func item(
    _ query: Query, binding bind: (borrowing Cursor) throws(StorageError) -> Void
  ) throws(StorageError) -> ItemRow? {
    try run(query) { row throws(StorageError) in
      try bind(row)
      return try row.step() ? try ItemRow(row) : nil
    }
  }
}

extension Cursor {
  /// Column 0 of all rows, which ascends.
  func ascendingIntegers() throws(StorageError) -> [Int64] {
    var all: [Int64] = []
    var order = Ascending<Int64>()
    while try step() {
      let number: Int64 = try integer(0)
      try order.next(number)
      all.append(number)
    }
    return all
  }

  fileprivate func bind(_ item: ItemRow) throws(StorageError) {
    try bind(item.row, at: 1)
    try bind(item.id, at: 2)
    try bind(item.kind, at: 3)
    try bind(item.primaryKey, at: 4)
    try bind(item.name, at: 5)
    try bind(item.flags, at: 6)
    try bind(item.class, at: 7)
    try bind(item.generation, at: 8)
    try bind(item.version, at: 9)
    try bind(item.material, at: 10)
    try bind(item.expires, at: 11)
    try bind(item.meta, at: 12)
  }
}
