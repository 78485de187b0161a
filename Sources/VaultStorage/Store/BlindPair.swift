/// A row of `blind`, in the order of its primary key.
struct BlindPair: Comparable {
  let value: Bytes16
  let row: Int64

  static func < (a: BlindPair, b: BlindPair) -> Bool {
    (a.value.high, a.value.low, a.row) < (b.value.high, b.value.low, b.row)
  }
}

extension BlindPair {
  init(_ row: borrowing Cursor) throws(StorageError) {
    value = try row.bytes16(0)
    self.row = try row.integer(1)
  }
}
