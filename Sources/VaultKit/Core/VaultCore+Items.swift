package import SecretMemory

extension VaultCore {
  /// Adds an item; durable when this returns.
  package func add(_ item: NewItem, secret: consuming SecretBytes? = nil) throws(VaultError) -> Item {
    var secret = consume secret
    return try writing { transaction throws(VaultError) in try transaction.add(item, secret: secret.take()) }
  }

  /// The items that match, in the order of insertion; none is no error.
  package func items(matching query: Query) throws(VaultError) -> [Item] {
    try reading { transaction throws(VaultError) in try transaction.items(matching: query) }
  }

  /// The item with this name.
  package func item(named name: String) throws(VaultError) -> Item {
    try reading { transaction throws(VaultError) in try transaction.item(named: name) }
  }

  /// The secret of an item. Where its policy logs reads, the entry is durable before the secret is returned.
  package func secret(of id: ItemID) throws(VaultError) -> SecretBytes {
    var found: OpenedSecret?
    try reading { transaction throws(VaultError) in found = try transaction.openSecret(of: id, .read) }
    let opened = found.take()!
    if let note = opened.note { try writing { transaction throws(VaultError) in try transaction.log(note) } }
    return opened.secret
  }

  /// Changes an item and, where one is given, its secret.
  @discardableResult
  package func update(
    _ id: ItemID, _ changes: ItemChanges, secret: consuming SecretBytes? = nil
  ) throws(VaultError) -> Item {
    var secret = consume secret
    return try writing { transaction throws(VaultError) in
      try transaction.update(id, changes, secret: secret.take())
    }
  }

  /// Deletes all items that match; returns how many.
  @discardableResult
  package func delete(_ query: Query) throws(VaultError) -> Int {
    try writing { transaction throws(VaultError) in
      let items = try transaction.items(matching: query)
      for item in items { try transaction.delete(item.id) }
      return items.count
    }
  }

  /// What the vault is and how it is kept.
  package func status() throws(VaultError) -> VaultStatus {
    try reading { transaction throws(VaultError) in try transaction.status() }
  }
}
