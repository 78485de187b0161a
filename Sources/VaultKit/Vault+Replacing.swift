import VaultFormat
import VaultKeys
public import SecretMemory

extension Vault {
  /// Adds an item, or replaces the item of the same kind and name. An item without a name replaces the one of its kind that
  /// has none either and the same primary attributes: of a generic password, service and account. Durable when this returns.
  ///
  /// An item of another name is never replaced. A replaced item keeps its identifier, its creation date and its state;
  /// attributes, expiry with its rule, audit policy and secret are those of the new item.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - secret: Its secret.
  ///   - context: Gives the passcode if the vault is locked, and verifies the person if the present item has
  ///     constraints.
  /// - Throws: As ``add(_:secret:context:)`` and ``update(_:_:secret:context:)``;
  ///   ``VaultError/Code/duplicateItem`` if the name belongs to an item of another kind, or the primary attributes to an
  ///   item of another name; ``VaultError/Code/policy`` if the present item has another access rule.
  @discardableResult
  public nonisolated func addOrReplace(
    _ item: NewItem, secret: consuming SecretBytes, context: AuthenticationContext? = nil
  ) async throws(VaultError) -> Item {
    let secret = SharedSecret(secret)
    do throws(VaultError) { return try await replace(item, with: secret) } catch {
      guard let context else { throw error }
      switch error.code {
      case .locked where context.canShow(.passcode): try await unlock(with: context)
      case .verificationNeeded: break
      default: throw error
      }
      return try await replace(item, with: secret, asking: context)
    }
  }

  private nonisolated func replace(_ item: NewItem, with secret: SharedSecret) async throws(VaultError)
    -> Item
  {
    try await write { (transaction: inout WriteTransaction) throws(VaultError) in
      try transaction.addOrReplace(item, secret: secret.bytes.copy())
    }
  }

  /// In two steps, because a transaction asks nobody.
  private nonisolated func replace(
    _ item: NewItem, with secret: SharedSecret, asking context: AuthenticationContext
  ) async throws(VaultError) -> Item {
    let old = try await read { (transaction: inout ReadTransaction) throws(VaultError) in
      try transaction.duplicate(of: item)
    }
    guard let old else { return try await add(item, secret: secret.bytes.copy(), context: context) }
    return try await update(
      old.id, item.changes(replacing: old), secret: secret.bytes.copy(), context: context)
  }
}
