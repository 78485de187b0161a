/// A row of `segment`.
package struct SegmentRow: Equatable, Sendable {
  package var number: UInt64
  /// The sequence of its first entry.
  package var first: UInt64
  /// 32 bytes.
  package var previous: [UInt8]
  package var start: [UInt8]

  package init(number: UInt64, first: UInt64, previous: [UInt8], start: [UInt8]) {
    self.number = number
    self.first = first
    self.previous = previous
    self.start = start
  }
}

extension SegmentRow {
  init(_ row: borrowing Cursor) throws(StorageError) {
    number = try row.integer(0)
    first = try row.integer(1)
    previous = try row.bytes(2, count: 32)
    start = try row.bytes(3)
  }
}
