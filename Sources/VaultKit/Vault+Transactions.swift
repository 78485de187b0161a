import VaultFormat
import SecretMemory

/// Transactions and lent secrets. Each call has a form whose error type is that of the closure, a ``VaultFailure`` such
/// as ``VaultError``, and a form for closures that throw any error:
///
/// ```swift
/// try await vault.write { transaction throws(VaultError) in … }  // throws(VaultError)
/// try await vault.write { transaction in … }                     // throws any error
/// ```
extension Vault {
  /// Lends one state of the vault to a closure.
  ///
  /// - Returns: What the closure returns; it can be a secret.
  /// - Throws: What the closure throws, and errors of the vault as the same type.
  public func read<R: ~Copyable, E: VaultFailure>(
    _ body: sending (inout ReadTransaction) throws(E) -> sending R
  ) throws(E) -> sending R {
    try core.lendingState(body, converting: { E(vault: $0) })
  }

  /// Lends one state of the vault to a closure that throws any error.
  public func read<R: ~Copyable>(
    _ body: sending (inout ReadTransaction) throws -> sending R
  ) throws -> sending R {
    try core.lendingState(body, converting: { $0 as any Error })
  }

  /// Lends the vault to a closure that changes it. All changes are made or none; they are durable when this returns.
  ///
  /// - Returns: What the closure returns; it can be a secret.
  /// - Throws: What the closure throws, and errors of the vault as the same type. Nothing is changed then.
  @discardableResult
  public func write<R: ~Copyable, E: VaultFailure>(
    _ body: sending (inout WriteTransaction) throws(E) -> sending R
  ) throws(E) -> sending R {
    try core.lendingChanges(body, converting: { E(vault: $0) })
  }

  /// Lends the vault to a closure that changes it and throws any error.
  @discardableResult
  public func write<R: ~Copyable>(
    _ body: sending (inout WriteTransaction) throws -> sending R
  ) throws -> sending R {
    try core.lendingChanges(body, converting: { $0 as any Error })
  }

  /// Lends the vault to a closure that changes it, and gives a secret away to the closure.
  ///
  /// ```swift
  /// try await vault.write(consuming: password) { transaction, password throws(VaultError) in
  ///   try transaction.update(item.id, ItemChanges(), secret: password)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - secret: Secret bytes, or a value of yours that owns several of them.
  ///   - body: Gets the transaction and the secret.
  /// - Throws: What the closure throws, and errors of the vault as the same type. Nothing is changed then. The secret is wiped then.
  @discardableResult
  public func write<Secret: ~Copyable & Sendable, R: ~Copyable, E: VaultFailure>(
    consuming secret: consuming Secret,
    _ body: sending (inout WriteTransaction, consuming Secret) throws(E) -> sending R
  ) throws(E) -> sending R {
    var secret: Secret? = secret
    return try core.lendingChanges(
      { (transaction: inout WriteTransaction) throws(E) in try body(&transaction, secret.take()!) },
      converting: { E(vault: $0) })
  }

  /// Lends the vault to a closure that changes it and throws any error, and gives a secret away to the closure.
  @discardableResult
  public func write<Secret: ~Copyable & Sendable, R: ~Copyable>(
    consuming secret: consuming Secret,
    _ body: sending (inout WriteTransaction, consuming Secret) throws -> sending R
  ) throws -> sending R {
    var secret: Secret? = secret
    return try core.lendingChanges(
      { (transaction: inout WriteTransaction) throws in try body(&transaction, secret.take()!) },
      converting: { $0 as any Error })
  }

  /// Lends the secret of an item to a closure, which runs where the caller runs.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - context: Verifies the person if the item has constraints.
  ///   - body: Gets the secret for the time of the call.
  /// - Throws: What the closure throws, and the errors of ``secret(of:context:)`` as the same type.
  public nonisolated func withSecret<R: ~Copyable, E: VaultFailure>(
    of item: ItemID, context: AuthenticationContext? = nil, _ body: (RawSpan) throws(E) -> R
  ) async throws(E) -> R {
    let secret: SecretBytes
    do throws(VaultError) { secret = try await self.secret(of: item, context: context) } catch {
      throw E(vault: error)
    }
    return try secret.expose(body)
  }

  /// Lends the secret of an item to a closure that throws no error.
  public nonisolated func withSecret<R: ~Copyable>(
    of item: ItemID, context: AuthenticationContext? = nil, _ body: (RawSpan) -> R
  ) async throws(VaultError) -> R {
    try await secret(of: item, context: context).expose(body)
  }

  /// Lends the secret of an item to a closure that throws any error.
  public nonisolated func withSecret<R: ~Copyable>(
    of item: ItemID, context: AuthenticationContext? = nil, _ body: (RawSpan) throws -> R
  ) async throws -> R {
    try await secret(of: item, context: context).expose(body)
  }

  /// Verifies the person for the secrets that a transaction is to open, because a transaction asks nobody.
  ///
  /// The transaction then opens each of these secrets once, with the same context, in `secret(of:context:)`. This needs
  /// no call for items that have no constraints and whose reading is not logged. The audit entries are durable when
  /// this returns, so an entry tells that the secret could be read. The permission lasts 30 s, and ends when the vault
  /// is locked, when the context is invalidated, and when the item, its rule or the keys change.
  ///
  /// - Throws: As ``secret(of:context:)``.
  public func prepareSecrets(of items: [ItemID], context: AuthenticationContext) async throws(VaultError) {
    try await waiting(context) { core, context throws(VaultError) in
      try core.prepareSecrets(of: items, context: context)
    }
  }
}
