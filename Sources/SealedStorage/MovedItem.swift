package import VaultFormat
package import VaultStorage

/// An item's rows as the current generation seals them, made without holding the write lock.
///
/// Many of them are in memory at once, so it keeps no copy of the rows that it was made from: their tags tell whether they have
/// changed since.
package struct MovedItem: Sendable {
  package let new: ItemRow
  /// The `keys` of its material under the new class key.
  package let keys: [UInt8]?
  package let newState: StateRow?
  package let oldIndex: [Bytes16]
  package let newIndex: [Bytes16]
  /// The change of S: what it gains minus what it loses.
  package let sum: Sum256
  private let origin: Origin

  /// - Parameters:
  ///   - old: The row before.
  ///   - lost: All rows before.
  ///   - new: The row after.
  ///   - gained: All rows after.
  init(from old: ItemRow, _ lost: ItemRows, to new: ItemRow, _ gained: ItemRows) {
    (self.new, keys, newState) = (new, gained.material?.keys, gained.state)
    (oldIndex, newIndex) = (lost.index.map { Bytes16($0) }, gained.index.map { Bytes16($0) })
    var sum = gained.sum
    sum -= lost.sum
    self.sum = sum
    origin = Origin(old, lost.material, lost.state)
  }

  package var row: Int64 { new.row }
  package var seals: UInt64 { newState == nil ? 1 : 2 }

  /// About as many bytes as it needs in memory.
  package var byteCount: Int {
    Self.fixedByteCount + new.meta.count + (keys?.count ?? 0) + (newState?.body.count ?? 0)
  }

  /// Itself, and what the allocations of its arrays need in addition to their content.
  private static let fixedByteCount = 1024

  /// Whether it was made from these rows.
  package func isMade(from row: ItemRow, _ material: MaterialRow?, _ state: StateRow?) -> Bool {
    origin == Origin(row, material, state)
  }

  /// What tells the rows of one moment from those of another: all columns that are not sealed, and the end of each seal, which
  /// is its tag.
  private struct Origin: Equatable, Sendable {
    let fields: ItemFields
    let meta: Bytes16?
    let keys: Bytes16?
    let secret: Bytes16?
    let revision: UInt64?
    let state: Bytes16?

    init(_ row: ItemRow, _ material: MaterialRow?, _ state: StateRow?) {
      fields = row.fields
      meta = Self.tag(row.meta)
      keys = Self.tag(material?.keys)
      secret = Self.tag(material?.secret)
      revision = state?.revision
      self.state = Self.tag(state?.body)
    }

    private static func tag(_ seal: [UInt8]?) -> Bytes16? {
      guard let seal, seal.count >= 16 else { return nil }
      return Bytes16(Array(seal.suffix(16)))
    }
  }
}
