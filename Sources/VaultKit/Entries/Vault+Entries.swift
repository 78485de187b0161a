public import VaultFormat

extension Vault {
  /// Adds an entry: a password with notes, fields and addresses. The host of its first address becomes the attribute
  /// ``Attribute/server``, by which it is found while the vault is locked.
  ///
  /// - Throws: As ``add(_:secret:context:)``; ``VaultError/Code/policy`` for a kind that is no password.
  public func add(
    _ item: NewItem, entry: EntryContent, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> Item {
    try await asking(context) { core, context throws(VaultError) in
      try core.add(item, entry: entry, context: context)
    }
  }

  /// What an entry keeps under its seal; of a password that is no entry, the password.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - context: Verifies the person if the item has constraints.
  /// - Throws: As ``secret(of:context:)``; ``VaultError/Code/policy`` for an item that is no password.
  public func entry(
    of item: ItemID, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> EntryContent {
    try await asking(context) { core, context throws(VaultError) in try core.entry(of: item, context: context)
    }
  }

  /// Changes an entry, and its attributes. All that `edit` does not touch stays as it is.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - changes: Changes of its attributes and rules.
  ///   - context: Verifies the person if the item has constraints.
  ///   - edit: Gets the content as it is, and changes it. It holds the vault, so it calculates and does not wait.
  /// - Throws: What `edit` throws; as ``update(_:_:secret:context:)``.
  @discardableResult
  public func update(
    _ item: ItemID, _ changes: ItemChanges = ItemChanges(), context: AuthenticationContext? = nil,
    entry edit: @escaping @Sendable (inout EntryContent) throws(VaultError) -> Void
  ) async throws(VaultError) -> Item {
    try await asking(context) { core, context throws(VaultError) in
      try core.update(item, changes, context: context, entry: edit)
    }
  }
}

// MARK: Former versions and the trash

extension Vault {
  /// The former versions of an entry, the newest first: at most five. Asks no person, and opens none of them.
  ///
  /// Whenever the content of a password with a name is replaced, the one before is kept. A change of its rules, new keys
  /// (``rotateEpoch(passcode:dropDamaged:progress:)``), and ``ItemChanges/forgetsFormer`` end them.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/damaged``.
  public func history(of item: ItemID) throws(VaultError) -> [FormerVersion] { try core.history(of: item) }

  /// What a former version of an entry kept.
  ///
  /// - Throws: As ``entry(of:context:)``; ``VaultError/Code/itemNotFound`` for a version that there is not.
  public func entry(
    of item: ItemID, version: UInt64, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> EntryContent {
    try await asking(context) { core, context throws(VaultError) in
      try core.entry(of: item, version: version, context: context)
    }
  }

  /// Makes a former version of an entry the present one, and the present one a former version. That is a read and a change: a person is
  /// asked for both, unless the context keeps what was shown (`reuse`).
  ///
  /// - Returns: The names of what is different now, as ``EntryContent/differences(from:)`` gives them.
  /// - Throws: As ``entry(of:version:context:)``; ``VaultError/Code/busy`` if the entry was changed meanwhile.
  @discardableResult
  public func restore(
    _ item: ItemID, version: UInt64, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> [String] {
    try await asking(context) { core, context throws(VaultError) in
      try core.restore(item, version: version, context: context).changed
    }
  }

  /// Puts a password or a one-time-password credential into the trash, where it stays for 30 days. Its name is free at once, and nothing
  /// opens it there. An item of another kind is deleted.
  ///
  /// - Returns: Whether it is in the trash.
  /// - Throws: As ``delete(_:)-(ItemID)``.
  @discardableResult
  public func moveToTrash(_ item: ItemID) throws(VaultError) -> Bool { try core.moveToTrash(item) }

  /// The items in the trash, in the order of insertion. A credential that is there with its entry is not listed.
  public func trash() throws(VaultError) -> [Item] { try core.trash() }

  /// Puts an item back that is in the trash, as it was: a counter is where it was.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - name: Its name from now on; `nil` for the one that it had.
  /// - Throws: ``VaultError/Code/itemNotFound`` for an item that is not there; ``VaultError/Code/duplicateItem`` if its name was taken
  ///   meanwhile.
  @discardableResult
  public func restoreFromTrash(_ item: ItemID, named name: String? = nil) throws(VaultError) -> Item {
    try core.restoreFromTrash(item, named: name)
  }

  /// Deletes all that is in the trash, and returns the number of items.
  @discardableResult
  public func emptyTrash() throws(VaultError) -> Int { try core.emptyTrash() }
}
