/// How many rows each batch of a rotation of the epoch moves.
///
/// Only the number of rows decides, never the time that they take: each batch writes nearly all pages of the indexes, so a slow disk
/// would get more batches, and with them more to write (docs/decisions/0043-batches-of-rows.md).
package struct RotationBatches: Sendable {
  /// The items of a batch. Other writers wait for one batch.
  package var items: Int
  /// The items that a command moves besides its own task when it continues an interrupted rotation.
  package var itemsAlong: Int
  /// The entries of the log in a batch. They are in the order of the file, so small batches write as little as large ones.
  package var entries: Int

  package init(items: Int, itemsAlong: Int, entries: Int) {
    (self.items, self.itemsAlong, self.entries) = (items, itemsAlong, entries)
  }

  /// The batches of the real world. One takes about half a second on a usual machine, which leaves the rest of two seconds to a
  /// slow disk.
  package static let standard = RotationBatches(items: 16_000, itemsAlong: 4_000, entries: 8_000)
  /// Those of a test, which has fewer items.
  package static let small = RotationBatches(items: 2_000, itemsAlong: 500, entries: 2_000)
}
