/// The row of `header`.
package struct HeaderRow: Equatable, Sendable {
  package var body: [UInt8]
  /// 32 bytes.
  package var mac: [UInt8]

  package init(body: [UInt8], mac: [UInt8]) {
    self.body = body
    self.mac = mac
  }
}

extension HeaderRow {
  init(_ row: borrowing Cursor) throws(StorageError) {
    body = try row.bytes(0)
    mac = try row.bytes(1, count: 32)
  }
}
