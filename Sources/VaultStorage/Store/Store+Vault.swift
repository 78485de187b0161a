extension Store {
  // MARK: - Header

  package mutating func header() throws(StorageError) -> HeaderRow {
    try run(.header) { row throws(StorageError) in
      guard try row.step() else { throw row.damage }
      return HeaderRow(body: try row.bytes(0), mac: try row.bytes(1, count: 32))
    }
  }

  package mutating func setHeader(_ header: HeaderRow) throws(StorageError) {
    try change(.setHeader) { row throws(StorageError) in
      try row.bind(header.body, at: 1)
      try row.bind(header.mac, at: 2)
    }
  }

  // MARK: - Slots

  /// The most slots that are read. A vault has about ten; one with a thousand members has a few thousand.
  package static var mostSlots: Int { 16_384 }

  /// All slots by ascending id.
  package mutating func slots() throws(StorageError) -> [SlotRow] {
    try run(.slots) { row throws(StorageError) in
      var slots: [SlotRow] = []
      var order = Ascending<Int64>()
      while try row.step() {
        guard slots.count < Self.mostSlots else { throw row.damage }
        let slot = try SlotRow(row)
        try order.next(slot.id)
        slots.append(slot)
      }
      return slots
    }
  }

  /// - Throws: ``StorageError/duplicate(_:)`` with `row` when the id is taken.
  package mutating func insertSlot(_ slot: SlotRow) throws(StorageError) {
    try change(.insertSlot) { row throws(StorageError) in
      try row.bind(slot.id, at: 1)
      try row.bind(slot.kind, at: 2)
      try row.bind(slot.subject, at: 3)
      try row.bind(slot.generation, at: 4)
      try row.bind(slot.opener, at: 5)
      try row.bind(slot.openerID, at: 6)
      try row.bind(slot.body, at: 7)
    }
  }

  /// - Returns: False when there was none.
  @discardableResult
  package mutating func deleteSlot(id: Int64) throws(StorageError) -> Bool {
    try change(.deleteSlot) { row throws(StorageError) in try row.bind(id, at: 1) } > 0
  }

  /// Deletes all slots and inserts `slots`.
  package mutating func replaceSlots(_ slots: [SlotRow]) throws(StorageError) {
    try change(.deleteSlots) { _ throws(StorageError) in }
    for slot in slots { try insertSlot(slot) }
  }

  // MARK: - Head

  package mutating func head() throws(StorageError) -> [UInt8] {
    try run(.head) { row throws(StorageError) in
      guard try row.step() else { throw row.damage }
      return try row.bytes(0)
    }
  }

  package mutating func setHead(_ body: [UInt8]) throws(StorageError) {
    try change(.setHead) { row throws(StorageError) in try row.bind(body, at: 1) }
  }
}
