import SealedStorage
import VaultFormat
import VaultKeys
public import SecretMemory
import VaultCrypto
import VaultStorage

/// Secrets that transactions of callers open.
extension VaultCore {
  /// Verifies the person for secrets that a transaction is to open, and logs the reading. The context keeps a grant
  /// for each item that has constraints or whose reading is logged. A call that was cancelled leaves neither.
  package func prepareSecrets(of items: [ItemID], context: AuthenticationContext) throws(VaultError) {
    for id in items { try prepareSecret(of: id, context: context) }
  }

  private func prepareSecret(of id: ItemID, context: AuthenticationContext) throws(VaultError) {
    var transaction = try beginReading(.secret(.read, of: id, by: nil), context: context)
    let item = try transaction.item(id)
    var found = transaction.takeGrant(for: .read, on: id)
    if found == nil { found = try transaction.loggedGrant(id) }
    transaction.end()
    guard var grant = found else { return }
    let notes = grant.takeNotes(for: item)
    var change = try beginWriting(.free, context: context)
    try change.log(notes)
    try change.commit()
    context.memory.keep(grant, for: id)
  }
}

extension ReadTransaction {
  /// The secret of an item.
  ///
  /// - Parameters:
  ///   - id: The item.
  ///   - context: The context of ``Vault/prepareSecrets(of:context:)``, for an item that has constraints or
  ///     whose audit policy is ``AuditPolicy/all``. Nobody is asked here.
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/locked``, ``VaultError/Code/expired``,
  ///   ``VaultError/Code/damaged``; ``VaultError/Code/verificationNeeded`` if the item must be prepared first, or if
  ///   its preparation was used, lapsed or ended by a lock; ``VaultError/Code/busy`` if the item changed meanwhile.
  public mutating func secret(
    of id: ItemID, context: AuthenticationContext? = nil
  ) throws(VaultError) -> SecretBytes {
    let opened = try openSecret(of: id, .read, with: context?.memory.takeGrant(for: id))
    try refuseUnlogged(opened.notes)
    return opened.secret
  }

  /// Entries are durable before a secret is shown, and a transaction commits too late for that.
  func refuseUnlogged(_ notes: [AuditNote]) throws(VaultError) {
    guard notes.isEmpty else {
      throw VaultError(
        .verificationNeeded, "each reading of the item is logged before its secret is shown",
        hint: "prepare the secret before the transaction")
    }
  }

  fileprivate mutating func loggedGrant(_ id: ItemID) throws(VaultError) -> Grant? {
    let row = try store.row(of: id)
    let item = try store.open(row)
    try store.readTime(for: item)
    return try Gate.grantLoggedReading(of: item, row: row, in: store)
  }
}

extension WriteTransaction {
  /// The secret of an item.
  ///
  /// - Parameters:
  ///   - id: The item.
  ///   - context: As ``ReadTransaction/secret(of:context:)``.
  /// - Throws: As ``ReadTransaction/secret(of:context:)``.
  public mutating func secret(
    of id: ItemID, context: AuthenticationContext? = nil
  ) throws(VaultError) -> SecretBytes {
    try reading.secret(of: id, context: context)
  }
}
