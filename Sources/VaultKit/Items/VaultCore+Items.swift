import VaultFormat
import VaultStorage
package import SecretMemory

extension VaultCore {
  /// Adds an item; durable when this returns.
  ///
  /// - Parameters:
  ///   - component: The component of the item's kind, with what its policy requires.
  ///   - notes: Logged in the same commit.
  ///   - context: Gives the passcode if the vault is locked, and the item's application password.
  ///   - prepare: Looks in the same commit whether what the item relies on is still there, and may change its first state.
  package func add(
    _ item: NewItem, secret: consuming SecretBytes? = nil, by component: Component? = nil,
    noting notes: [AuditNote] = [], context: AuthenticationContext? = nil,
    preparing prepare: (inout NewItem, inout WriteTransaction) throws(VaultError) -> Void = { _, _ in }
  ) throws(VaultError) -> Item {
    guard secret != nil || !item.access.constraints.contains(.applicationPassword) else {
      throw VaultError(
        .malformed, "an application password guards a secret, and the item has none",
        hint: "add the item with its secret")
    }
    if item.access.word != 0 { try completeEnrolledSet() }
    var (item, notes) = (item, notes)
    let password = try newPassword(of: item, by: component, noting: &notes, context: context)
    var transaction = try beginWriting(.add(item, by: component), context: context)
    try password?.validity.check(locks: transaction.store.locks)
    try prepare(&item, &transaction)
    try transaction.log(notes)
    let result = try transaction.add(item, secret: secret, by: component, password: password?.key)
    try transaction.commit()
    return result
  }

  /// The items that match, in the order of insertion. No match is not an error.
  package func items(matching query: Query) throws(VaultError) -> [Item] {
    var transaction = try beginReading()
    return try transaction.items(matching: query)
  }

  /// The item with this name.
  package func item(named name: String) throws(VaultError) -> Item {
    var transaction = try beginReading()
    return try transaction.item(named: name)
  }

  /// The secret of an item. Its audit entries are durable before the secret is returned.
  ///
  /// - Parameters:
  ///   - component: The component of the item's kind, with what its policy requires.
  ///   - context: Verifies the person if the item has constraints.
  package func secret(
    of id: ItemID, by component: Component? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> SecretBytes {
    var transaction = try beginReading(.secret(.read, of: id, by: component), context: context)
    let opened = try transaction.openSecret(of: id, .read, by: component)
    transaction.end()
    try logReading(opened.notes)
    return opened.secret
  }

  /// Makes the audit entries of secrets durable, before one is shown.
  func logReading(_ notes: [AuditNote]) throws(VaultError) {
    guard !notes.isEmpty else { return }
    var transaction = try beginWriting()
    try transaction.log(notes)
    try transaction.commit()
  }

  /// Changes an item, and its secret if a new one is given.
  ///
  /// - Parameter component: The component of the item's kind, if it changes its item.
  @discardableResult
  package func update(
    _ id: ItemID, _ changes: ItemChanges, secret: consuming SecretBytes? = nil,
    by component: Component? = nil, context: AuthenticationContext? = nil
  ) throws(VaultError) -> Item {
    let use = Use.update(id, changes, replacesSecret: secret != nil, by: component)
    var transaction = try beginWriting(use, context: context)
    let result = try transaction.update(id, changes, secret: secret, by: component)
    try transaction.commit()
    return result
  }

  /// Deletes all items that match, without a prompt. Returns their number.
  ///
  /// - Parameter context: Gives the passcode if the vault is locked.
  /// - Throws: ``VaultError/Code/malformed`` for an empty query other than ``Query/all``.
  @discardableResult
  package func delete(
    _ query: Query, context: AuthenticationContext? = nil
  ) throws(VaultError) -> Int {
    guard !query.selectsAllByOmission else {
      throw VaultError(
        .malformed, "the query has no condition, so it would delete every item",
        hint: "give a kind, an attribute or an identifier, or Query.all to delete every item")
    }
    var transaction = try beginWriting(.deleteAll(query), context: context)
    let items = try transaction.items(matching: query)
    for item in items {
      // What the item belongs to may have taken it along.
      if try transaction.store.rows.item(id: item.id.stored) == nil { continue }
      try transaction.delete(item.id)
    }
    let result = items.count
    try transaction.commit()
    return result
  }

  /// The identity and the state of the vault.
  package func status() throws(VaultError) -> VaultStatus {
    var transaction = try beginReading()
    return try transaction.status()
  }
}
