/// What one row adds to the sum (section 8 of the format).
package struct SummedRow: Equatable, Sendable {
  package enum Table: UInt8, Sendable, CaseIterable {
    case item = 1, material, state, blind, former
  }

  package var table: Table
  package var row: Int64
  /// The generation of the item's row; for row 0 of `state`, the one in its body. Nil when there is no such item.
  package var generation: UInt32?
  /// 16 bytes, 32 for `material`, 56 for `former`, whose version comes first; fewer where a column has an impossible value, which has no generation either.
  package var tags: [UInt8]
  /// Of `former`, the version of the material.
  package var version: UInt64 = 0

  package init(table: Table, row: Int64, generation: UInt32?, tags: [UInt8]) {
    self.table = table
    self.row = row
    self.generation = generation
    self.tags = tags
  }
}

extension SummedRow {
  init(_ table: Table, _ row: borrowing Cursor) throws(StorageError) {
    self.table = table
    self.row = try row.integer(0)
    tags = []
    if table == .blind {
      tags = try row.bytes(2, count: 16)
      generation = try? row.integer(1)
      return
    }
    do throws(StorageError) {
      if table == .former {
        version = try row.integer(5)
        tags = Array(Bytes16(high: 0, low: version).bytes.suffix(8))
      }
      try row.appendLast(16, of: 2, to: &tags)
      if table == .material || table == .former { try row.appendLast(16, of: 3, to: &tags) }
      if table == .former { try row.appendLast(16, of: 4, to: &tags) }
      generation =
        table == .state && self.row == 0 ? Self.generation(inSeal: try row.bytes(2)) : try? row.integer(1)
    } catch {
      guard case .damaged = error else { throw error }
      generation = nil
    }
  }

  /// A seal of suite 2 names its generation after version and suite.
  private static func generation(inSeal seal: [UInt8]) -> UInt32? {
    guard seal.count >= 6 else { return nil }
    return seal[2..<6].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
