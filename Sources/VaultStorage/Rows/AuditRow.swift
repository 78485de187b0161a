/// A row of `audit`.
package struct AuditRow: Equatable, Sendable {
  package var sequence: UInt64
  package var body: [UInt8]
  /// 32 bytes; of any length where the file is damaged.
  package var mac: [UInt8]

  package init(sequence: UInt64, body: [UInt8], mac: [UInt8]) {
    self.sequence = sequence
    self.body = body
    self.mac = mac
  }
}

extension AuditRow {
  init(_ row: borrowing Cursor) throws(StorageError) {
    sequence = try row.integer(0)
    body = try row.blobBytes(1)
    mac = try row.blobBytes(2)
  }
}
