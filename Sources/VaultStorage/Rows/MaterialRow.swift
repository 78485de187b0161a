/// A row of `material`.
package struct MaterialRow: Equatable, Sendable {
  package var keys: [UInt8]
  package var secret: [UInt8]

  package init(keys: [UInt8], secret: [UInt8]) {
    self.keys = keys
    self.secret = secret
  }
}

extension MaterialRow {
  init(_ row: borrowing Cursor) throws(StorageError) {
    keys = try row.blobBytes(0)
    secret = try row.blobBytes(1)
  }
}
