import SealedStorage
package import VaultFormat
import VaultStorage

/// The one-time-password credential of an entry: an item without a name, which the entry names by its identifier. It is found by the
/// name of the entry, and goes with it into the trash and out of the vault.
extension WriteTransaction {
  /// The item that goes with another one. One that was planted as such, and has a name of its own, does not.
  mutating func owned(by item: Item) throws(VaultError) -> Item? { try reading.owned(by: item) }

  /// The item that is deleted with another one, also if this program does not know its kind.
  mutating func deleted(with item: Item) throws(VaultError) -> ItemID? {
    guard let id = item.owned, let row = try store.rows.item(id: id.stored), let owned = try? store.open(row)
    else { return nil }
    return owned.isOwned || !owned.kind.isKnown && owned.name == nil ? id : nil
  }

  /// An entry whose credential goes alone no longer names it.
  mutating func leaveOwner(of item: Item) throws(VaultError) {
    guard let owner = try reading.owner(of: item) else { return }
    try dropOwned(of: owner)
  }

  private mutating func dropOwned(of entry: Item) throws(VaultError) {
    let code = Attribute<[UInt8]>.ownedItem.code
    try rewriteInGeneration(entry.id) { _, attributes in attributes.record[code] = nil }
  }

  /// The entry that a new item joins; `nil` where no entry has its name.
  ///
  /// - Throws: ``VaultError/Code/duplicateItem`` if the entry has one already; ``VaultError/Code/locked`` as for a change of the entry.
  mutating func entry(joinedBy new: NewItem) throws(VaultError) -> Item? {
    if let owner = new.owner, new.kind.rules.attributes.namelessHasOwner {
      return try joinable(reading.item(owner))
    }
    guard new.joinsEntry, new.trashedUntil == nil, let name = new.attributes[.name] else { return nil }
    return try entry(joinedBy: new.kind, named: name)
  }

  /// The entry that an item of a kind can join by its name; `nil` where no entry has the name.
  ///
  /// - Throws: As ``entry(joinedBy:)``.
  mutating func entry(joinedBy kind: ItemKind, named name: String) throws(VaultError) -> Item? {
    guard kind.rules.attributes.namelessHasOwner, let entry = try store.item(named: name),
      entry.kind.rules.canBeEntry
    else { return nil }
    return try joinable(entry)
  }

  private mutating func joinable(_ entry: Item) throws(VaultError) -> Item {
    try Gate.permitWithoutSecret(on: entry, keys: store.keys)
    guard try owned(by: entry) == nil else {
      throw VaultError(
        .duplicateItem, "the entry has a one-time-password credential already",
        hint: .removeCode(of: entry.nameInPlace))
    }
    return entry
  }

  /// Takes the credential of an entry out of it, for the entry that takes its place, and returns it.
  ///
  /// - Throws: ``VaultError/Code/locked`` as for a change of the entry.
  package mutating func takeOwned(by entry: Item) throws(VaultError) -> ItemID? {
    guard let owned = try owned(by: entry) else { return nil }
    try Gate.permitWithoutSecret(on: entry, keys: store.keys)
    try dropOwned(of: entry)
    return owned.id
  }

  /// Deletes the credential of an entry, as ``delete(_:)``.
  package mutating func deleteOwned(by entry: Item) throws(VaultError) {
    guard let owned = try owned(by: entry) else { return }
    try Gate.permitWithoutSecret(on: owned, keys: store.keys)
    try dropOwned(of: entry)
    try destroy(owned.id)
  }

  /// Gives an entry a credential that no entry has.
  package mutating func giveOwned(_ id: ItemID, to entry: Item) throws(VaultError) {
    try Gate.permitWithoutSecret(on: entry, keys: store.keys)
    try join(id, to: entry)
  }

  /// Gives the credential of an entry the name of the entry, which was destroyed without it.
  mutating func giveName(of entry: Item, to id: ItemID) throws(VaultError) {
    let old = try store.row(of: id)
    let item = try store.open(old)
    let keys = try store.keys(of: old.generation)
    var (row, attributes) = (old, item.attributes)
    attributes[.name] = entry.attributes[.name]
    row.version += 1
    var (before, after) = (ItemRows(row.row, under: keys, item: old), ItemRows(row.row, under: keys))
    // The name of what is in the trash is free.
    if !item.isInTrash {
      row.name = keys.blindIndex.name(of: attributes)
      row.primaryKey = try keys.blindIndex.primaryKey(of: item.kind, attributes, id: id)
      before.index = keys.blindIndex.values(of: item)
      after.index = keys.blindIndex.values(of: attributes)
    }
    row.meta = try store.sealedMeta(
      of: row, attributes: attributes, policy: item.policy, keeping: store.laterFields(of: old, item: item))
    after.item = row
    try replace(before, with: after)
  }

  mutating func join(_ id: ItemID, to entry: Item) throws(VaultError) {
    try rewriteInGeneration(entry.id) { _, attributes in attributes[.ownedItem] = id.bytes }
  }
}

extension ReadTransaction {
  /// The credential of an entry; `nil` without one.
  package mutating func owned(by entry: Item) throws(VaultError) -> Item? {
    guard let id = entry.owned, let row = try store.rows.item(id: id.stored), let owned = try? store.open(row)
    else { return nil }
    return owned.isOwned ? owned.found(by: entry) : nil
  }

  /// The entry to which a credential without a name belongs; `nil` where there is none.
  package mutating func owner(of item: Item) throws(VaultError) -> Item? {
    guard item.isOwned else { return nil }
    var walk = ItemWalk()
    while let other = try walk.nextReadable(in: &store) { if other.owned == item.id { return other } }
    return nil
  }

  /// The same items, in which the credentials of entries have the names of these.
  package mutating func named(_ items: [Item]) throws(VaultError) -> [Item] {
    guard items.contains(where: \.isOwned) else { return items }
    var entries: [ItemID: Item] = [:]
    var walk = ItemWalk(keepingPages: false)
    while let item = try walk.nextReadable(in: &store) {
      if let owned = item.owned { entries[owned] = item }
    }
    return items.map { item in
      guard item.isOwned, let entry = entries[item.id] else { return item }
      return item.found(by: entry)
    }
  }
}

extension Item {
  /// Whether it has no name because another item names it.
  package var isOwned: Bool {
    attributes.bytes(of: Attribute<String>.name.code) == nil && kind.rules.attributes.namelessHasOwner
  }
}
