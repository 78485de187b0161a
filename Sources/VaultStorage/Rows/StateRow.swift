/// A row of `state`.
package struct StateRow: Equatable, Sendable {
  package var revision: UInt64
  package var body: [UInt8]

  package init(revision: UInt64, body: [UInt8]) {
    self.revision = revision
    self.body = body
  }
}

extension StateRow {
  init(_ row: borrowing Cursor) throws(StorageError) {
    revision = (try? row.integer(0)) ?? 0
    body = try row.blobBytes(1)
  }
}
