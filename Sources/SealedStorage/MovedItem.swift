package import VaultFormat
package import VaultStorage

/// An item's rows as they are and as the current generation seals them, made without holding the write lock.
package struct MovedItem: Sendable {
  package let old: ItemRow
  package let new: ItemRow
  /// The material, and its `keys` under the new class key.
  package let material: MaterialRow?
  package let keys: [UInt8]?
  package let state: StateRow?
  package let newState: StateRow?
  package let oldIndex: [[UInt8]]
  package let newIndex: [[UInt8]]
  /// The change of S: what it gains minus what it loses.
  package let sum: Sum256
  package var seals: UInt64 { newState == nil ? 1 : 2 }
  package var byteCount: Int { new.meta.count + (material.map { $0.keys.count + $0.secret.count } ?? 0) }
}
