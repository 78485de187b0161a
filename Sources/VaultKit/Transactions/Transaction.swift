package import SecretMemory
import VaultCrypto
import VaultStorage

/// The mode of a transaction that only reads.
public enum Reading {}
/// The mode of a transaction that also writes.
public enum Writing {}

/// One state of the vault, lent to a closure. Nothing of it may be kept.
public typealias ReadTransaction = Transaction<Reading>
/// Changes of the vault that become durable together, lent to a closure: all or nothing.
public typealias WriteTransaction = Transaction<Writing>

/// One state of the vault, lent to a closure.
public struct Transaction<Mode>: ~Copyable, Sendable {
  var session: Session
  var head: Head?
  var changes = TransactionChanges()

  init(_ session: consuming Session, head: consuming Head? = nil) {
    self.session = session
    self.head = head
  }

  /// The item with this identifier.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/damaged``.
  public mutating func item(_ id: ItemID) throws(VaultError) -> Item {
    try session.open(session.row(of: id))
  }

  /// The item with this vault-wide name.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/damaged``.
  public mutating func item(named name: String) throws(VaultError) -> Item {
    guard let item = try items(matching: Query(name: name)).first else {
      throw VaultError(
        .itemNotFound, "there is no item with that name", hint: "'vaultctl item list' shows the names")
    }
    return item
  }

  /// All items that match, in the order of insertion; none is no error.
  public mutating func items(matching query: Query) throws(VaultError) -> [Item] {
    try session.items(matching: query)
  }

  /// Every item in the order of insertion, until the body answers `false`.
  package mutating func forEachItem(_ body: (Item) throws(VaultError) -> Bool) throws(VaultError) {
    try session.forEachItem(body)
  }

  /// The state of an item.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound`` also where the item's kind has no state.
  public mutating func state(of id: ItemID) throws(VaultError) -> ItemState {
    guard let found = try session.state(of: session.row(of: id)) else {
      throw VaultError(.itemNotFound, "the item has no state")
    }
    return found.state
  }

  /// The secret of an item, for a component that uses it inside this transaction and never hands it out.
  ///
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/expired``, ``VaultError/Code/damaged``.
  package mutating func useSecret(of item: Item) throws(VaultError) -> SecretBytes {
    let opened = try openSecret(of: item.id, .use)
    return opened.secret
  }

  mutating func openSecret(of id: ItemID, _ operation: Operation) throws(VaultError) -> OpenedSecret {
    let row = try session.row(of: id)
    let item = try session.open(row)
    let decision = try Gate.decide(
      operation, on: item, keys: session.keys, generation: row.generation, now: session.now)
    let note = decision.note
    return OpenedSecret(secret: try session.secret(of: row, item, decision.grant), note: note)
  }
}

/// An opened secret with what must be logged before it is shown.
struct OpenedSecret: ~Copyable {
  let secret: SecretBytes
  let note: AuditNote?
}

/// What a write transaction has done so far.
struct TransactionChanges: Sendable {
  /// Something was written; an untouched transaction is rolled back.
  var isDirty = false
  /// Secrets or slots were deleted: the log must be truncated.
  var needsCleaning = false
  /// Operations of several writes that have begun and not come to their end. One that stopped half way stays here, so
  /// the transaction is rolled back even when its closure passes over the error.
  var underWay = 0
  /// Suite-2 seals written.
  var seals: UInt64 = 0
}
