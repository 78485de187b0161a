package import VaultFormat

extension VaultCore {
  /// Adds an entry.
  package func add(
    _ item: NewItem, entry: EntryContent, context: AuthenticationContext? = nil
  ) throws(VaultError) -> Item {
    try Gate.permitEntry(item.kind)
    var item = item
    if let host = entry.host { item.attributes[.server] = host }
    if entry.isPlain { return try add(item, secret: entry.password, context: context) }
    item.isEntry = true
    return try add(item, secret: try entry.encoded(), context: context)
  }

  /// What an entry keeps under its seal. Its audit entries are durable before it is returned.
  package func entry(
    of id: ItemID, context: AuthenticationContext? = nil
  ) throws(VaultError) -> EntryContent {
    var transaction = try beginReading(.secret(.read, of: id, by: nil), context: context)
    let opened = try transaction.openEntry(of: id, .read)
    transaction.end()
    try logReading(opened.notes)
    return opened.content
  }

  /// Changes an entry.
  ///
  /// - Parameter edit: May be called again, where the vault changed meanwhile.
  @discardableResult
  package func update(
    _ id: ItemID, _ changes: ItemChanges = ItemChanges(), context: AuthenticationContext? = nil,
    entry edit: (inout EntryContent) throws(VaultError) -> Void
  ) throws(VaultError) -> Item {
    let use = Use.update(id, changes, replacesSecret: true, by: nil)
    var transaction = try beginWriting(use, context: context)
    let result = try transaction.update(id, changes, entry: edit)
    try transaction.commit()
    return result
  }
}

extension VaultCore {
  /// The one-time-password credential of an entry; `nil` without one.
  package func owned(by entry: Item) throws(VaultError) -> Item? {
    guard entry.owned != nil else { return nil }
    var transaction = try beginReading()
    return try transaction.owned(by: entry)
  }
}
