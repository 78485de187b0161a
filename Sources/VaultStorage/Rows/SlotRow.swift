/// A row of `slot`.
package struct SlotRow: Equatable, Sendable {
  package var id: Int64
  package var kind: UInt8
  package var subject: UInt32
  package var generation: UInt32
  package var opener: UInt8
  /// Empty or 16 bytes.
  package var openerID: [UInt8]
  package var body: [UInt8]

  package init(
    id: Int64, kind: UInt8, subject: UInt32, generation: UInt32, opener: UInt8, openerID: [UInt8],
    body: [UInt8]
  ) {
    self.id = id
    self.kind = kind
    self.subject = subject
    self.generation = generation
    self.opener = opener
    self.openerID = openerID
    self.body = body
  }
}

extension SlotRow {
  init(_ row: borrowing Cursor) throws(StorageError) {
    id = try row.integer(0)
    kind = try row.integer(1)
    subject = try row.integer(2)
    generation = try row.integer(3)
    opener = try row.integer(4)
    openerID = try row.bytes(5)
    guard openerID.isEmpty || openerID.count == 16 else { throw row.damage }
    body = try row.bytes(6)
  }
}
