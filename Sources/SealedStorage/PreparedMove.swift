/// A batch of a rotation.
package struct PreparedMove: Sendable {
  package let generation: UInt32
  /// The number of commits when the batch was read: if that number is unchanged, no row has changed.
  package let sequence: UInt64
  package let from: UInt64
  package var items: [MovedItem] = []
  package var damaged: [(row: Int64, part: DamagedPart)] = []
  /// The last row that was examined.
  package var last: UInt64
  /// Whether there was no row after it.
  package var isLast = false
}
