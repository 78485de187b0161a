import SealedStorage
import VaultFormat
package import SecretMemory
import VaultCrypto
import VaultStorage

/// Changes of the vault. They become durable together, by a commit, or not at all. It also reads.
public struct WriteTransaction: ~Copyable, Sendable {
  /// The state of the vault as the changes so far have left it.
  package var reading: ReadTransaction
  /// The head row of the commit.
  var head: Head
  var changes = TransactionChanges()

  init(_ lease: consuming StoreLease, head: consuming Head) {
    reading = ReadTransaction(lease)
    self.head = head
  }

  var store: SealedStore {
    _read { yield reading.store }
    _modify { yield &reading.store }
  }

  /// The item with this identifier.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/damaged``.
  public mutating func item(_ id: ItemID) throws(VaultError) -> Item { try reading.item(id) }

  /// The item with this vault-wide name.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/damaged``.
  public mutating func item(named name: String) throws(VaultError) -> Item { try reading.item(named: name) }

  /// All items that match, in the order of insertion. No match is not an error.
  public mutating func items(matching query: Query) throws(VaultError) -> [Item] {
    try reading.items(matching: query)
  }

  /// The state of an item.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, also if the item's kind has no state.
  public mutating func state(of id: ItemID) throws(VaultError) -> ItemState { try reading.state(of: id) }

  /// The secret of an item, for a component that uses it inside this transaction and never hands it out.
  ///
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/expired``, ``VaultError/Code/verificationNeeded``.
  package mutating func useSecret(
    of item: Item, by component: Component?
  ) throws(VaultError) -> SecretBytes {
    try openLogged(item, operation: .use, by: component)
  }

  /// The same, with a secret that was opened before this transaction, if it is unchanged. The gate decides in this
  /// call.
  package mutating func useSecret(
    of item: Item, by component: Component?, prepared: consuming PreparedSecret?
  ) throws(VaultError) -> SecretBytes {
    guard let prepared = consume prepared, prepared.isOf(try store.row(of: item.id), in: store) else {
      return try useSecret(of: item, by: component)
    }
    let decision = try Gate.decide(.use, on: item, row: prepared.row, in: store, by: component)
    try log(decision.notes)
    return prepared.secret
  }

  /// The item of a prepared secret. Opens it again only if it was changed.
  package mutating func item(_ id: ItemID, of prepared: borrowing PreparedSecret?) throws(VaultError) -> Item
  {
    switch prepared {
    case .some(let prepared) where prepared.isOf(store): store.recall(prepared.item, of: prepared.row)
    default: break
    }
    return try item(id)
  }

  /// The secret of an item that is about to be handed out.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - component: The component that asks.
  ///   - operation: `exportOfAll` also for an item in the trash.
  /// - Throws: As ``useSecret(of:by:)``.
  package mutating func exportSecret(
    of item: Item, by component: Component? = nil, for operation: ItemOperation = .export
  ) throws(VaultError) -> SecretBytes {
    try openLogged(item, operation: operation, by: component)
  }

  private mutating func openLogged(
    _ item: Item, operation: ItemOperation, by component: Component?
  ) throws(VaultError) -> SecretBytes {
    let opened = try reading.openSecret(of: item.id, operation, by: component)
    try log(opened.notes)
    return opened.secret
  }

  /// Asks the gate whether an item may be deleted, or its counter set: what a passcode guards besides secrets.
  ///
  /// - Throws: ``VaultError/Code/locked``.
  package mutating func permitWithoutSecret(on item: Item) throws(VaultError) {
    try Gate.permitWithoutSecret(on: item, keys: store.keys)
  }

  /// Asks the gate whether an item may be changed, for a change that opens no secret.
  ///
  /// - Parameters:
  ///   - operation: `update`, or `replace` for a change that is as sensitive as the secret.
  ///   - needingKeys: Whether an item without constraints must be unlocked too; for `replace`, a PIN that guards the
  ///     item must then be given.
  ///   - component: The component that changes it.
  package mutating func permitChange(
    of id: ItemID, _ operation: ItemOperation = .update, needingKeys: Bool = false, by component: Component
  ) throws(VaultError) {
    let row = try store.row(of: id)
    let item = try store.open(row)
    guard item.access.asksPerson || needingKeys else { return }
    let decision = try Gate.decide(
      operation, on: item, row: row, in: store, by: component,
      with: reading.takeGrant(for: operation, on: id))
    try log(decision.notes)
  }

  /// Ends without a commit: nothing is changed.
  consuming func rollBack() {}
}
