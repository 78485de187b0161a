extension Store {
  // MARK: - Header

  package mutating func header() throws(StorageError) -> HeaderRow {
    try only(.header, as: HeaderRow.init)
  }

  package mutating func setHeader(_ header: HeaderRow) throws(StorageError) {
    try change(.setHeader, header.body, header.mac)
  }

  // MARK: - Slots

  /// The most slots that are read. A vault has about ten; one with a thousand members has a few thousand.
  package static var mostSlots: Int { 16_384 }

  /// All slots by ascending id.
  package mutating func slots() throws(StorageError) -> [SlotRow] {
    var count = 0
    // A closure, because a nested function would move `count` to the heap.
    return try rows(
      .slots,
      as: { row throws(StorageError) in
        guard count < Self.mostSlots else { throw row.damage }
        count += 1
        return try SlotRow(row)
      }, by: \.id)
  }

  /// - Throws: ``StorageError/duplicate(_:)`` with `row` when the id is taken.
  package mutating func insertSlot(_ slot: SlotRow) throws(StorageError) {
    try change(
      .insertSlot, slot.id, slot.kind, slot.subject, slot.generation, slot.opener, slot.openerID, slot.body)
  }

  /// Deletes all slots and inserts `slots`.
  package mutating func replaceSlots(_ slots: [SlotRow]) throws(StorageError) {
    try change(.deleteSlots)
    for slot in slots { try insertSlot(slot) }
  }

  // MARK: - Head

  package mutating func head() throws(StorageError) -> [UInt8] {
    try only(.head, as: [UInt8].init(firstColumn:))
  }

  package mutating func setHead(_ body: [UInt8]) throws(StorageError) {
    try change(.setHead, body)
  }
}
