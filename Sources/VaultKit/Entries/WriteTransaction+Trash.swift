import SealedStorage
public import VaultFormat
import VaultKeys
import VaultStorage

/// The trash: passwords and one-time-password credentials stay for 30 days after somebody deleted them. Their names are free at once,
/// and nothing opens or uses them meanwhile.
extension WriteTransaction {
  /// How long an item stays in the trash, in milliseconds.
  package static var trashKept: Int64 { 30 * 24 * 3_600_000 }

  /// Puts an item into the trash, with the credential that belongs to an entry. What has no place there, such as a token, is deleted.
  ///
  /// - Returns: Whether it is in the trash; otherwise it is deleted.
  /// - Throws: As ``delete(_:)``.
  @discardableResult
  public mutating func moveToTrash(_ id: ItemID) throws(VaultError) -> Bool {
    let row = try store.row(of: id)
    guard let item = try? store.open(row), item.kind.rules.goesToTrash, !item.isInTrash,
      !item.isOfLaterVersion
    else {
      try delete(id)
      return false
    }
    try Gate.permitWithoutSecret(on: item, keys: store.keys)
    try leaveOwner(of: item)
    try discard(row, item)
    if let owned = try owned(by: item), !owned.isInTrash { try discard(store.row(of: owned.id), owned) }
    return true
  }

  private mutating func discard(_ old: ItemRow, _ item: Item) throws(VaultError) {
    try destroyBelongings(of: item.id, kind: item.kind)
    let keys = try store.keys(of: old.generation)
    var (row, attributes) = (old, item.attributes)
    row.version += 1
    row.flags |= ItemFlags.trash
    row.name = nil
    row.primaryKey = keys.blindIndex.primaryKey(of: item.kind, id: item.id)
    attributes[.expiryBeforeTrash] = item.expires
    row.expires = lastTrashEnd.milliseconds
    row.meta = try store.sealedMeta(
      of: row, attributes: attributes, policy: item.policy, keeping: store.laterFields(of: old, item: item))
    var before = ItemRows(row.row, under: keys, item: old)
    before.index = keys.blindIndex.values(of: item)
    try replace(
      before, with: ItemRows(row.row, under: keys, item: row),
      noting: AuditNote(operation: .itemTrashed, item: item.id, kind: item.kind, detail: item.name))
  }

  /// Puts an item back that is in the trash, with the credential that belongs to an entry.
  ///
  /// - Parameters:
  ///   - id: The item.
  ///   - name: Its name from now on; `nil` for the one that it had. A credential that was that of an entry goes back to the entry of that
  ///     name, if there is one.
  /// - Throws: ``VaultError/Code/itemNotFound``; ``VaultError/Code/duplicateItem`` if another item has its name by now;
  ///   ``VaultError/Code/locked`` as ``delete(_:)``.
  @discardableResult
  public mutating func restoreFromTrash(_ id: ItemID, named name: String? = nil) throws(VaultError) -> Item {
    let found = try store.row(of: id)
    let item = try store.open(found)
    guard item.isInTrash else {
      throw VaultError(.itemNotFound, "the item is not in the trash", hint: .listTrash)
    }
    try Gate.permitWithoutSecret(on: item, keys: store.keys)
    if item.isOwned, let name, let entry = try entry(joinedBy: item.kind, named: name) {
      let result = try putBack(found, item, named: nil)
      try join(id, to: entry)
      return result.found(by: entry)
    }
    let result = try putBack(found, item, named: name)
    if let owned = try owned(by: item), owned.isInTrash {
      _ = try putBack(store.row(of: owned.id), owned, named: nil)
    }
    return result
  }

  private mutating func putBack(_ found: ItemRow, _ item: Item, named name: String?) throws(VaultError)
    -> Item
  {
    let old = found.generation == store.keys.current.generation ? found : try move(found)
    let keys = store.keys.current
    var attributes = item.attributes
    if let name { attributes[.name] = name }
    attributes = try attributes.normalized()
    try ItemLimits.check(attributes, replacing: item.attributes)
    try refuseDuplicates(of: attributes, kind: item.kind)
    var row = old
    row.version += 1
    row.flags &= ~ItemFlags.trash
    row.expires = item.attributes[.expiryBeforeTrash]?.milliseconds
    attributes[.expiryBeforeTrash] = nil
    let index = keys.blindIndex
    row.primaryKey = try index.primaryKey(of: item.kind, attributes, id: item.id)
    row.name = index.name(of: attributes)
    row.meta = try store.sealedMeta(
      of: row, attributes: attributes, policy: item.policy, keeping: store.laterFields(of: old, item: item))
    var after = ItemRows(row.row, under: keys, item: row)
    after.index = index.values(of: attributes)
    try replace(
      ItemRows(row.row, under: keys, item: old), with: after,
      noting: AuditNote(operation: .itemPutBack, item: item.id, kind: item.kind))
    return try store.open(row)
  }
}

extension ReadTransaction {
  /// The items in the trash, in the order of insertion. A credential that is there with its entry is not listed.
  public mutating func trash() throws(VaultError) -> [Item] {
    var query = Query()
    query.trash = .only
    let all = try store.items(matching: query, damaged: { _, _ in })
    let owned = Set(all.compactMap(\.owned))
    return all.filter { !owned.contains($0.id) }
  }
}
