public import VaultFormat

extension WriteTransaction {
  /// Adds an entry: a password with notes, fields and addresses.
  ///
  /// - Throws: As ``add(_:secret:)``; ``VaultError/Code/policy`` for a kind that is no password.
  public mutating func add(_ new: NewItem, entry: EntryContent) throws(VaultError) -> Item {
    try Gate.permitEntry(new.kind)
    var new = new
    if let host = entry.host { new.attributes[.server] = host }
    if entry.isPlain { return try add(new, secret: entry.password) }
    new.isEntry = true
    return try add(new, secret: try entry.encoded())
  }

  /// Changes an entry. All that `edit` does not touch stays as it is. A password gets notes, fields and addresses by this, too.
  ///
  /// - Parameters:
  ///   - id: The item.
  ///   - changes: Changes of its attributes and rules.
  ///   - edit: Gets the content as it is, and changes it. Shows nothing of it: a change is no read.
  /// - Throws: What `edit` throws; as ``update(_:_:secret:)``; ``VaultError/Code/policy`` for an item that is no password.
  @discardableResult
  public mutating func update(
    _ id: ItemID, _ changes: ItemChanges = ItemChanges(),
    entry edit: (inout EntryContent) throws(VaultError) -> Void
  ) throws(VaultError) -> Item {
    try withoutActuallyEscaping(edit) { (edit) throws(VaultError) in
      try update(id, changes, content: .edited(edit), by: nil)
    }
  }
}
