import SealedStorage
import VaultFormat
import VaultKeys
import VaultStorage

extension WriteTransaction {
  /// Forgets the former secrets of all items.
  mutating func forgetAllFormer() throws(VaultError) {
    guard try store.rows.hasFormer() else { return }
    let operation = changes.begin()
    let keys = [store.keys.current, store.keys.previous].compactMap { $0 }
    var (sum, count) = (Sum256(), UInt64(0))
    try store.rows.forEachSummed(of: .former) { row throws(VaultError) in
      // A row without an item was never counted.
      guard let keys = keys.first(where: { $0.generation == row.generation }) else { return }
      sum += keys.summand.value(row.table.rawValue, row.row, row.tags[...])
      count += 1
    }
    guard head.summedRows >= count else { throw Head.miscounted }
    head.sum -= sum
    head.summedRows -= count
    if try store.rows.deleteAllFormer() > 0 { (changes.isDirty, changes.needsCleaning) = (true, true) }
    changes.end(operation)
  }
}
