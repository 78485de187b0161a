/// The columns of ``ItemRow`` but `meta`, without an allocation.
package struct ItemFields: Equatable, Sendable {
  package let row: Int64
  package let id: Bytes16
  package let kind: UInt32
  package let primaryKey: Bytes16
  package let name: Bytes16?
  package let flags: UInt32
  package let `class`: UInt8
  package let generation: UInt32
  package let version: UInt64
  package let material: UInt64
  package let expires: Int64?
  /// Whether a column has a value of an impossible type, length or range. It reads as zero, empty or NULL. The
  /// other rows can still be read, and this one can be removed.
  package let isDamaged: Bool
}

extension ItemFields {
  init(_ row: borrowing Cursor) throws(StorageError) {
    do throws(StorageError) { try self.init(whole: row) } catch {
      guard case .damaged = error else { throw error }
      try self.init(damaged: row)
    }
  }

  private init(whole row: borrowing Cursor) throws(StorageError) {
    self.row = try row.integer(0)
    guard self.row > 0, row.isBlob(11) else { throw row.damage }
    id = try row.bytes16(1)
    kind = try row.integer(2)
    primaryKey = try row.bytes16(3)
    name = row.isNull(4) ? nil : try row.bytes16(4)
    flags = try row.integer(5)
    `class` = try row.integer(6)
    generation = try row.integer(7)
    version = try row.integer(8)
    material = try row.integer(9)
    expires = row.isNull(10) ? nil : try row.integer(10)
    isDamaged = false
  }

  /// The readable part of a row with impossible values. Its number is its key, and must be a number.
  private init(damaged row: borrowing Cursor) throws(StorageError) {
    self.row = try row.integer(0)
    guard self.row > 0 else { throw row.damage }
    id = (try? row.bytes16(1)) ?? Bytes16(high: 0, low: 0)
    kind = (try? row.integer(2)) ?? 0
    primaryKey = (try? row.bytes16(3)) ?? Bytes16(high: 0, low: 0)
    name = try? row.bytes16(4)
    flags = (try? row.integer(5)) ?? 0
    `class` = (try? row.integer(6)) ?? 0
    generation = (try? row.integer(7)) ?? 0
    version = (try? row.integer(8)) ?? 0
    material = (try? row.integer(9)) ?? 0
    expires = try? row.integer(10)
    isDamaged = true
  }
}
