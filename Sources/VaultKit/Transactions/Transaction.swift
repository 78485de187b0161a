import SealedStorage
import VaultFormat
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
    self.session.begin()
    self.head = head
  }

  /// The item with this identifier.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/damaged``.
  public mutating func item(_ id: ItemID) throws(VaultError) -> Item {
    try session.open(session.row(of: id))
  }

  /// The time by which items expire: the wall clock's, or the highest that the vault has seen.
  package var expiryTime: Instant { session.time.now }

  /// The item with this vault-wide name.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/damaged``.
  public mutating func item(named name: String) throws(VaultError) -> Item {
    guard let item = try session.item(named: name) else {
      throw VaultError(
        .itemNotFound, "there is no item with that name", hint: "'vaultctl item list' shows the names")
    }
    return item
  }

  /// All items that match, in the order of insertion; none is no error.
  public mutating func items(matching query: Query) throws(VaultError) -> [Item] {
    try session.items(matching: query)
  }

  /// The same; an item that the index leads to and that does not open is told of and skipped.
  ///
  /// - Parameter damaged: Called with its id, and the reason.
  package mutating func items(
    matching query: Query, damaged: @escaping (ItemID, VaultError) -> Void
  ) throws(VaultError) -> [Item] {
    try session.items(matching: query, damaged: damaged)
  }

  /// Every item in the order of insertion, until the body answers `false`.
  ///
  /// - Parameters:
  ///   - keepingPages: Whether the pages of the file that were read stay in memory for what is read next.
  ///   - damaged: Called with each item that does not open, and the reason; the item is skipped. Without it, such an item
  ///     is an error.
  package mutating func forEachItem(
    keepingPages: Bool = true, damaged: ((ItemID, VaultError) -> Void)? = nil,
    _ body: (Item) throws(VaultError) -> Bool
  ) throws(VaultError) {
    guard let damaged else { return try session.forEachItem(keepingPages: keepingPages, body) }
    try session.forEachItem(keepingPages: keepingPages, damaged: { damaged(ItemID($0.id), $1) }, body)
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

  mutating func openSecret(
    of id: ItemID, _ operation: ItemOperation, with grant: consuming Grant? = nil
  ) throws(VaultError) -> OpenedSecret {
    let row = try session.row(of: id)
    let item = try session.open(row)
    try session.readTime(for: item)
    let decision = try Gate.decide(operation, on: item, row, in: session, with: grant)
    let notes = decision.notes
    let keys = decision.opening.spend(on: id)
    return OpenedSecret(secret: try session.sealedSecret(of: row, item).open(with: keys), notes: notes)
  }
}

extension Transaction where Mode == Reading {
  /// The secret of an item, for a component that uses it and never hands it out.
  ///
  /// - Returns: With the secret what must be logged before anything made from it is shown.
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/expired``, ``VaultError/Code/verificationNeeded``.
  package mutating func useSecret(of item: Item, with grant: consuming Grant? = nil) throws(VaultError)
    -> OpenedSecret
  {
    try openSecret(of: item.id, .use, with: grant)
  }

  /// Opens the secret of an item before the write transaction that uses it, so that no other writer waits for the
  /// opening.
  ///
  /// - Returns: `nil` when the item has constraints: its grant is spent, and its secret opened, only in the write
  ///   transaction.
  /// - Throws: As ``useSecret(of:with:)``.
  package mutating func prepareSecret(of item: Item) throws(VaultError) -> PreparedSecret? {
    guard item.access.word == 0 else { return nil }
    let opened = try openSecret(of: item.id, .use)
    return PreparedSecret(
      secret: opened.secret, item: item, row: try session.row(of: item.id), session: session.identity,
      config: session.keys.header.config)
  }
}

extension Transaction where Mode == Writing {
  /// The secret of an item, for a component that uses it inside this transaction and never hands it out.
  ///
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/expired``, ``VaultError/Code/verificationNeeded``.
  package mutating func useSecret(of item: Item, with grant: consuming Grant? = nil) throws(VaultError)
    -> SecretBytes
  {
    try openLogged(item, .use, grant)
  }

  /// The same, with a secret that was opened before this transaction, if it is unchanged. The gate decides here.
  package mutating func useSecret(
    of item: Item, prepared: consuming PreparedSecret?, with grant: consuming Grant? = nil
  ) throws(VaultError) -> SecretBytes {
    guard let prepared = consume prepared, prepared.isOf(try session.row(of: item.id), in: session) else {
      return try useSecret(of: item, with: grant)
    }
    let decision = try Gate.decide(.use, on: item, prepared.row, in: session, with: grant)
    try log(decision.notes)
    return prepared.secret
  }

  /// The item of a prepared secret; it is opened again only when it was changed.
  package mutating func item(_ id: ItemID, of prepared: borrowing PreparedSecret?) throws(VaultError) -> Item
  {
    switch prepared {
    case .some(let prepared) where prepared.isOf(session): session.recall(prepared.item, of: prepared.row)
    default: break
    }
    return try item(id)
  }

  /// The secret of an item that is about to be handed out.
  ///
  /// - Throws: As ``useSecret(of:with:)``.
  package mutating func exportSecret(of item: Item, with grant: consuming Grant? = nil) throws(VaultError)
    -> SecretBytes
  {
    try openLogged(item, .export, grant)
  }

  private mutating func openLogged(
    _ item: Item, _ operation: ItemOperation, _ grant: consuming Grant?
  ) throws(VaultError) -> SecretBytes {
    let opened = try openSecret(of: item.id, operation, with: grant)
    try log(opened.notes)
    return opened.secret
  }

  /// Asks the gate whether an item may be changed that no secret is opened of.
  ///
  /// - Parameter needingKeys: Whether an item without constraints must be unlocked too.
  package mutating func permitChange(
    of id: ItemID, needingKeys: Bool = false, with grant: consuming Grant? = nil
  ) throws(VaultError) {
    let row = try session.row(of: id)
    let item = try session.open(row)
    guard item.access.word != 0 || needingKeys else { return }
    let decision = try Gate.decide(.update, on: item, row, in: session, with: grant)
    try log(decision.notes)
  }
}

/// An opened secret with what must be logged before it is shown.
package struct OpenedSecret: ~Copyable {
  package let secret: SecretBytes
  package let notes: [AuditNote]
}

/// A secret that was opened before the write transaction that uses it, with the values that show whether it is
/// unchanged: the item's row (policy, versions and seal), the session, the `config`. Only that transaction gives it
/// out.
package struct PreparedSecret: ~Copyable, Sendable {
  fileprivate let secret: SecretBytes
  let item: Item
  let row: ItemRow
  private let session: UInt64
  private let config: UInt64

  fileprivate init(secret: consuming SecretBytes, item: Item, row: ItemRow, session: UInt64, config: UInt64) {
    self.secret = secret
    self.item = item
    self.row = row
    self.session = session
    self.config = config
  }

  fileprivate func isOf(_ row: ItemRow, in session: borrowing Session) -> Bool {
    isOf(session) && row == self.row
  }

  /// Whether it was opened with the keys that the session has now.
  func isOf(_ session: borrowing Session) -> Bool {
    session.identity == self.session && session.keys.header.config == config
  }
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
