extension Store {
  package mutating func item(row number: Int64) throws(StorageError) -> ItemRow? {
    try first(.itemByRow, number, as: ItemRow.init)
  }

  package mutating func item(id: Bytes16) throws(StorageError) -> ItemRow? {
    if let recentItem, recentItem.id == id { return recentItem }
    let found = try first(.itemByID, id, as: ItemRow.init)
    if isInTransaction { recentItem = found }
    return found
  }

  package mutating func item(name: Bytes16) throws(StorageError) -> ItemRow? {
    try first(.itemByName, name, as: ItemRow.init)
  }

  /// As ``item(name:)``, but faster: lends `meta`. Does not call `body` when there is no such item.
  package mutating func withItem(
    name: Bytes16, _ body: (ItemFields, _ meta: RawSpan) -> Void
  ) throws(StorageError) {
    try run(.itemByName, name) { row throws(StorageError) in
      guard try row.step() else { return }
      let fields = try ItemFields(row)
      try row.withBlob(11) { body(fields, $0) }
    }
  }

  package mutating func item(primaryKey: Bytes16) throws(StorageError) -> ItemRow? {
    try first(.itemByPrimaryKey, primaryKey, as: ItemRow.init)
  }

  /// - Throws: ``StorageError/duplicate(_:)`` naming the column that is taken; nothing is written then.
  package mutating func insertItem(_ item: ItemRow) throws(StorageError) {
    recentItem = nil
    try change(.insertItem, to: item)
  }

  /// Writes all columns of the row `item.row`.
  ///
  /// - Returns: False when there is no such row.
  /// - Throws: ``StorageError/duplicate(_:)`` naming the column that is taken; nothing is written then.
  @discardableResult
  package mutating func updateItem(_ item: ItemRow) throws(StorageError) -> Bool {
    recentItem = nil
    return try change(.updateItem, to: item) > 0
  }

  /// Deletes the row of `item` only. Material, state and blind values have calls of their own.
  ///
  /// - Returns: False when there was no such row.
  @discardableResult
  package mutating func deleteItem(row number: Int64) throws(StorageError) -> Bool {
    recentItem = nil
    return try change(.deleteItem, number) > 0
  }

  /// Lends the items after row `row`, at most `limit`, in ascending row until `body` returns false.
  package mutating func forEachItem<E: StorageFailure>(
    after number: Int64 = .min, limit: Int? = nil, _ body: (ItemRow) throws(E) -> Bool
  ) throws(E) {
    var failure = BodyFailure<E>()
    try E.from(
      walk(.items, number, limit ?? -1, as: ItemRow.init, by: { $0.row }, after: number) {
        row throws(StorageError) in
        var goesOn = false
        return failure.isAbsent(after: { () throws(E) in goesOn = try body(row) }) && goesOn
      })
    try failure.rethrow()
  }

  /// As ``forEachItem(after:limit:_:)``, but faster: lends `meta`, and allocates nothing.
  package mutating func scanItems(
    after number: Int64 = .min, limit: Int? = nil, _ body: (ItemFields, _ meta: RawSpan) -> Bool
  ) throws(StorageError) {
    try run(.scanItems, number, limit ?? -1) { row throws(StorageError) in
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
    func expiry(_ row: borrowing Cursor) throws(StorageError) -> (row: Int64, time: Int64?) {
      (try row.integer(0), row.isInteger(1) ? try row.integer(1) : nil)
    }
    var rows: [Int64] = []
    try walk(.expiries, as: expiry, by: \.row) { expiry throws(StorageError) in
      if let expires = expiry.time, expires < time { rows.append(expiry.row) }
      return true
    }
    return rows
  }

  /// Binds all columns.
  @discardableResult
  private mutating func change(_ query: Query, to item: ItemRow) throws(StorageError) -> Int {
    try change(
      query, item.row, item.id, item.kind, item.primaryKey, item.name, item.flags, item.class,
      item.generation, item.version, item.material, item.expires, item.meta)
  }
}
