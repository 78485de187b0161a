import SealedStorage
package import VaultFormat
import VaultStorage

/// A walk over all items in the order of insertion. It reads them in batches, so the store can be used between two of them.
package struct ItemWalk {
  private let keepingPages: Bool
  private var policy: Policy?
  private var batch: [Item] = []
  /// How many items of the batch were given.
  private var given = 0
  /// The row after the batch that does not open; its items come first, because they are whole.
  private var damage: (row: ItemFields, error: VaultError)?
  private var last: Int64
  private var isLast = false

  /// - Parameters:
  ///   - number: The row after which the walk begins.
  ///   - keepingPages: Whether the pages that were read stay in memory for later reads.
  package init(after number: Int64 = .min, keepingPages: Bool = true) {
    last = number
    self.keepingPages = keepingPages
  }

  /// A row that the walk has come to.
  package enum Found {
    case item(Item)
    /// Its attributes do not open.
    case damaged(ItemID, VaultError)
  }

  /// The next row; `nil` after the last.
  ///
  /// - Throws: What is not the damage of a row.
  mutating func nextRow(in store: inout SealedStore) throws(VaultError) -> Found? {
    if given == batch.count, damage == nil, !isLast { try readBatch(in: &store) }
    if given < batch.count {
      given += 1
      return .item(batch[given - 1])
    }
    guard let (row, error) = damage else { return nil }
    damage = nil
    guard error.isUnreadable else { throw error }
    return .damaged(ItemID(row.id), error)
  }

  /// The next item; `nil` after the last.
  ///
  /// - Throws: Also for an item that does not open.
  mutating func next(in store: inout SealedStore) throws(VaultError) -> Item? {
    switch try nextRow(in: &store) {
    case .item(let item): item
    case .damaged(_, let error): throw error
    case nil: nil
    }
  }

  /// The next item that opens; `nil` after the last.
  mutating func nextReadable(in store: inout SealedStore) throws(VaultError) -> Item? {
    while let found = try nextRow(in: &store) { if case .item(let item) = found { return item } }
    return nil
  }

  private mutating func readBatch(in store: inout SealedStore) throws(VaultError) {
    batch.removeAll(keepingCapacity: true)
    given = 0
    damage = try store.readBatch(after: last, policy: &policy, into: &batch)
    if !keepingPages { store.rows.releasePages() }
    guard let end = damage?.row.row ?? batch.last?.row else { return isLast = true }
    last = end
  }
}
