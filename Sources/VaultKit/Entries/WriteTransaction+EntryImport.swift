import SealedStorage
import SecretMemory
package import VaultFormat
import VaultStorage

/// What a new item brings along: what it was before, and its place in the trash.
extension WriteTransaction {
  /// Adds an entry with its history.
  ///
  /// - Parameters:
  ///   - new: The item.
  ///   - entry: What it keeps.
  ///   - former: What it was before, the oldest first, at most five. They get the versions from 1, and its own is the next.
  /// - Throws: As ``add(_:entry:)``; ``VaultError/Code/malformed`` for a longer history, or that of an item without a name.
  package mutating func add(
    _ new: NewItem, entry: EntryContent, former: [NewFormer]
  ) throws(VaultError) -> Item {
    var new = new
    new.former = former
    return try add(new, entry: entry)
  }

  /// The rows of what a new item was before, sealed as if it had been so.
  func former(
    of new: NewItem, row: ItemRow, policy: Policy, under keys: ItemKeys
  ) throws(VaultError) -> [FormerRow] {
    guard !new.former.isEmpty else { return [] }
    guard new.former.count <= ItemLimits.formerCount, new.kind.rules.canBeEntry,
      new.attributes[.name] != nil
    else {
      throw VaultError(
        .malformed, "a password with a name has at most \(ItemLimits.formerCount) former versions")
    }
    var rows: [FormerRow] = []
    for former in new.former {
      var row = row
      row.material = UInt64(rows.count) + 1
      let isPlain = former.content.isPlain
      if !isPlain { row.flags |= ItemFlags.entry }
      let secret = SharedSecret(isPlain ? former.content.password! : try former.content.encoded())
      try ItemLimits.check(secretByteCount: secret.byteCount)
      try new.kind.rules.attributes.checkSecret(secret.bytes)
      let material = try sealed(secret.bytes, of: row, policy: policy, under: keys)
      rows.append(try store.former(material, of: row, until: former.until))
    }
    return rows
  }

  /// Gives a new item that begins in the trash the row of one that was put there. It stays there for 30 days at most, by the clock of
  /// this vault.
  func discard(_ row: inout ItemRow, _ attributes: inout Attributes, as new: NewItem) throws(VaultError) {
    guard let until = new.trashedUntil else { return }
    guard new.kind.rules.goesToTrash else {
      throw VaultError(.policy, "an item of its kind is never in the trash")
    }
    row.flags |= ItemFlags.trash
    row.name = nil
    row.primaryKey = store.keys.current.blindIndex.primaryKey(of: new.kind, id: ItemID(row.id))
    attributes[.expiryBeforeTrash] = new.expires
    row.expires = min(until, lastTrashEnd).milliseconds
  }

  /// When the last of what goes into the trash now ends.
  package var lastTrashEnd: Instant { store.time.now.advanced(byMilliseconds: Self.trashKept) }
}
