import VaultFormat
import VaultStorage
package import SecretMemory

extension VaultCore {
  /// Adds an item; durable when this returns.
  ///
  /// - Parameter context: Unlocks the vault where it is locked, and says the item's application password.
  package func add(
    _ item: NewItem, secret: consuming SecretBytes? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> Item {
    var secret = consume secret
    guard item.access.word == 0 else {
      return try addConstrained(item, secret: secret.take(), context: context)
    }
    if context != nil { try permitAdding(item, context: context) }
    return try writing { transaction throws(VaultError) in
      try transaction.add(item, secret: secret.take(), password: nil)
    }
  }

  /// The items that match, in the order of insertion; none is no error. Where an access rule asks for a person before
  /// they are listed, she is asked once for all of them.
  package func items(matching query: Query, context: AuthenticationContext? = nil) throws(VaultError)
    -> [Item]
  {
    guard query.constrained == .ask else {
      return try reading { transaction throws(VaultError) in try transaction.items(matching: query) }
    }
    var all = query
    all.constrained = .unasked
    let found = try reading { transaction throws(VaultError) in try transaction.items(matching: all) }
    guard found.contains(where: { $0.access.constraints.hasSingle }) else { return found }
    return try Gate.permitListing(of: found, in: self, context)
  }

  /// The item with this name.
  package func item(named name: String) throws(VaultError) -> Item {
    try reading { transaction throws(VaultError) in try transaction.item(named: name) }
  }

  /// The secret of an item. What has to be logged of it is durable before the secret is returned.
  ///
  /// - Parameter context: Who is asked where the item has constraints.
  package func secret(of id: ItemID, context: AuthenticationContext? = nil) throws(VaultError) -> SecretBytes
  {
    try authorizing(.read, on: id, context: context) { (grant) throws(VaultError) in
      var grant = consume grant
      var found: OpenedSecret?
      try reading { transaction throws(VaultError) in
        found = try transaction.openSecret(of: id, .read, with: grant.take())
      }
      let opened = found.take()!
      if !opened.notes.isEmpty {
        try writing { transaction throws(VaultError) in try transaction.log(opened.notes) }
      }
      return opened.secret
    }
  }

  /// Changes an item and, where one is given, its secret.
  @discardableResult
  package func update(
    _ id: ItemID, _ changes: ItemChanges, secret: consuming SecretBytes? = nil,
    context: AuthenticationContext? = nil
  ) throws(VaultError) -> Item {
    let box = boxed(secret)
    if box != nil || changes.audit != nil { try permitSealing(of: id, context) }
    return try authorizing(.update, on: id, context: context) { (grant) throws(VaultError) in
      var grant = consume grant
      return try writing { transaction throws(VaultError) in
        try transaction.update(id, changes, secret: box?.bytes.copy(), with: grant.take())
      }
    }
  }

  /// Deletes all items that match; returns how many. Asks nobody.
  @discardableResult
  package func delete(_ query: Query) throws(VaultError) -> Int {
    var all = query
    all.constrained = .unasked
    return try writing { transaction throws(VaultError) in
      let items = try transaction.items(matching: all)
      for item in items { try transaction.delete(item.id) }
      return items.count
    }
  }

  /// What the vault is and how it is kept.
  package func status() throws(VaultError) -> VaultStatus {
    try reading { transaction throws(VaultError) in try transaction.status() }
  }
}
