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
  /// Whether a column has a value of a type, length or range that cannot be; it reads as zero, empty or NULL. The other rows
  /// can be read all the same, and this one can be removed.
  package let isDamaged: Bool
}
