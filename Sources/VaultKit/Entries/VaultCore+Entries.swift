package import VaultFormat

extension VaultCore {
  /// Adds an entry.
  ///
  /// - Parameter prepare: Looks in the same commit whether what the entry relies on is still there.
  package func add(
    _ item: NewItem, entry: EntryContent, context: AuthenticationContext? = nil,
    preparing prepare: (inout WriteTransaction) throws(VaultError) -> Void = { _ in }
  ) throws(VaultError) -> Item {
    try Gate.permitEntry(item.kind)
    var item = item
    if let host = entry.host { item.attributes[.server] = host }
    item.isEntry = !entry.isPlain
    let secret = entry.isPlain ? entry.password : try entry.encoded()
    return try add(item, secret: secret, context: context) { (_, transaction) throws(VaultError) in
      try prepare(&transaction)
    }
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
