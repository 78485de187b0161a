/// A row of `former`: what an item's secret was before it was replaced.
package struct FormerRow: Equatable, Sendable {
  /// The version of the material that it was.
  package var version: UInt64
  package var meta: [UInt8]
  package var keys: [UInt8]
  package var secret: [UInt8]

  package init(version: UInt64, meta: [UInt8], keys: [UInt8], secret: [UInt8]) {
    (self.version, self.meta, self.keys, self.secret) = (version, meta, keys, secret)
  }
}

extension FormerRow {
  init(_ row: borrowing Cursor) throws(StorageError) {
    version = try row.integer(0)
    meta = try row.blobBytes(1)
    keys = try row.blobBytes(2)
    secret = try row.blobBytes(3)
  }
}
