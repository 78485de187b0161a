package import VaultFormat

extension ReadTransaction {
  /// The former versions of an entry, the newest first. Opens none of them.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/damaged``.
  public mutating func history(of id: ItemID) throws(VaultError) -> [FormerVersion] {
    try store.former(of: store.row(of: id)).reversed().map {
      FormerVersion(version: $0.version, until: $0.until)
    }
  }
}

extension VaultCore {
  /// The former versions of an entry, the newest first.
  package func history(of id: ItemID) throws(VaultError) -> [FormerVersion] {
    var transaction = try beginReading()
    return try transaction.history(of: id)
  }

  /// What a former version of an entry kept. Its audit entries are durable before it is returned.
  package func entry(
    of id: ItemID, version: UInt64, context: AuthenticationContext? = nil
  ) throws(VaultError) -> EntryContent {
    var transaction = try beginReading(.former(id, version: version), context: context)
    let opened = try transaction.openFormer(version, of: id)
    transaction.end()
    try logReading(opened.notes)
    return opened.content
  }

  /// Makes a former version the present one. The present one becomes a former version, so nothing is lost.
  ///
  /// - Returns: The item, and the names of what is different now.
  @discardableResult
  package func restore(
    _ id: ItemID, version: UInt64, context: AuthenticationContext? = nil
  ) throws(VaultError) -> (item: Item, changed: [String]) {
    let before = try item(id)
    let former = try entry(of: id, version: version, context: context)
    var changed: [String] = []
    let use = Use.update(id, ItemChanges(), replacesSecret: true, by: nil)
    var transaction = try beginWriting(use, context: context)
    guard try transaction.item(id).version == before.version else { throw Self.changedMeanwhile }
    let result = try transaction.update(id) { (entry) throws(VaultError) in
      changed = entry.differences(from: former)
      entry = former
    }
    try transaction.commit()
    return (result, changed)
  }

  package static var changedMeanwhile: VaultError {
    VaultError(.busy, "the entry was changed meanwhile", hint: "look at it, and try again")
  }

  private func item(_ id: ItemID) throws(VaultError) -> Item {
    var transaction = try beginReading()
    return try transaction.item(id)
  }

  // MARK: The trash

  /// Puts an item into the trash, or deletes it where it has no place there.
  ///
  /// - Returns: Whether it is in the trash.
  @discardableResult
  package func moveToTrash(_ id: ItemID, context: AuthenticationContext? = nil) throws(VaultError) -> Bool {
    var transaction = try beginWriting(.delete(id), context: context)
    let isInTrash = try transaction.moveToTrash(id)
    try transaction.commit()
    return isInTrash
  }

  /// Puts an item back that is in the trash.
  @discardableResult
  package func restoreFromTrash(
    _ id: ItemID, named name: String? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> Item {
    var transaction = try beginWriting(.delete(id), context: context)
    let item = try transaction.restoreFromTrash(id, named: name)
    try transaction.commit()
    return item
  }

  /// The items in the trash.
  package func trash() throws(VaultError) -> [Item] {
    var transaction = try beginReading()
    return try transaction.trash()
  }

  /// Deletes all that is in the trash, and returns the number of items.
  @discardableResult
  package func emptyTrash(context: AuthenticationContext? = nil) throws(VaultError) -> Int {
    var query = Query()
    query.trash = .only
    var transaction = try beginWriting(.deleteAll(query), context: context)
    let found = try transaction.reading.trash()
    for item in found { try transaction.delete(item.id) }
    try transaction.commit()
    return found.count
  }
}
