/// What one row adds to the sum (section 8 of the format).
package struct SummedRow: Equatable, Sendable {
  package enum Table: UInt8, Sendable, CaseIterable {
    case item = 1, material, state, blind
  }

  package var table: Table
  package var row: Int64
  /// That of the item's row, for row 0 of `state` the one in its body; nil when there is no such item.
  package var generation: UInt32?
  /// 16 or, for `material`, 32 bytes; fewer where a column has a value that cannot be, which has no generation either.
  package var tags: [UInt8]

  package init(table: Table, row: Int64, generation: UInt32?, tags: [UInt8]) {
    self.table = table
    self.row = row
    self.generation = generation
    self.tags = tags
  }
}
