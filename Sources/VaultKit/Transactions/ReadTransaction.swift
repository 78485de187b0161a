import SealedStorage
import VaultFormat
import VaultCrypto
import VaultStorage

/// One state of the vault, for as long as this value is held.
public struct ReadTransaction: ~Copyable, Sendable {
  var lease: StoreLease
  /// What a verification gave to the use of this transaction. Its use takes it.
  var grant: Grant?

  init(_ lease: consuming StoreLease) {
    // Before it is set: an initializer of such a type must not read `self`.
    lease.store.begin()
    self.lease = lease
  }

  var store: SealedStore {
    _read { yield lease.store }
    _modify { yield &lease.store }
  }

  /// Ends before its scope does, where the vault is needed again.
  package consuming func end() {}

  /// The item with this identifier.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/damaged``.
  public mutating func item(_ id: ItemID) throws(VaultError) -> Item {
    try store.open(store.row(of: id))
  }

  /// The time that decides whether items have expired: the wall clock's, or the recorded time. Outside of a
  /// change, ``readTime()`` comes first.
  package var expiryTime: Instant { store.time.now }

  /// The time that decides whether what has expired is deleted, or treated as if it were. ``readTime()`` comes first.
  package var deletionTime: Instant { store.time.ofDeletion }

  /// Reads the recorded time, as this state of the file has it.
  package mutating func readTime() throws(VaultError) { _ = try store.head() }

  /// The item with this vault-wide name.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, ``VaultError/Code/damaged``.
  public mutating func item(named name: String) throws(VaultError) -> Item {
    guard let item = try store.item(named: name) else {
      throw VaultError(.itemNotFound, "there is no item with that name", hint: .listItems)
    }
    return item
  }

  /// All items that match, in the order of insertion. No match is not an error.
  public mutating func items(matching query: Query) throws(VaultError) -> [Item] {
    try store.items(matching: query)
  }

  /// The same, but reports and skips an item that does not open.
  ///
  /// - Parameters:
  ///   - keepingPages: Whether the pages that were read stay in memory for later reads. Those of a long list never do.
  ///   - damaged: Called with the id of such an item and the reason. Without it, such an item is an error.
  package mutating func items(
    matching query: Query, keepingPages: Bool = true, damaged: ((ItemID, VaultError) -> Void)?
  ) throws(VaultError) -> [Item] {
    try store.items(matching: query, keepingPages: keepingPages, damaged: damaged)
  }

  /// The next item of a walk; `nil` after the last.
  ///
  /// - Throws: Also for an item that does not open.
  package mutating func next(_ walk: inout ItemWalk) throws(VaultError) -> Item? { try walk.next(in: &store) }

  /// The next item of a walk that opens; `nil` after the last.
  package mutating func nextReadable(_ walk: inout ItemWalk) throws(VaultError) -> Item? {
    try walk.nextReadable(in: &store)
  }

  /// The next row of a walk, whether it opens or not; `nil` after the last.
  package mutating func nextRow(_ walk: inout ItemWalk) throws(VaultError) -> ItemWalk.Found? {
    try walk.nextRow(in: &store)
  }

  /// The state of an item.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``, also if the item's kind has no state.
  public mutating func state(of id: ItemID) throws(VaultError) -> ItemState {
    guard let found = try store.state(of: store.row(of: id)) else {
      throw VaultError(.itemNotFound, "the item has no state")
    }
    return found.state
  }

  /// Calls the body with each of these items and its state, for lists of many. Items in a state that this version does not know
  /// are left out: those for which the opening or the body throws ``VaultError/Code/unsupported``.
  ///
  /// - Parameters:
  ///   - items: Items of kinds that have a state, as ``items(matching:)`` lists them.
  ///   - damaged: Called with each item whose state is damaged or missing, and the reason; the item is skipped. Without it, such
  ///     a state is an error.
  package mutating func forEachState(
    of items: [Item], damaged: ((ItemID, VaultError) -> Void)? = nil,
    _ body: (Item, ItemState) throws(VaultError) -> Void
  ) throws(VaultError) {
    try store.forEachState(of: items, damaged: damaged, body)
  }

  mutating func openSecret(
    of id: ItemID, _ operation: ItemOperation, by component: Component? = nil,
    with grant: consuming Grant? = nil
  ) throws(VaultError) -> OpenedSecret {
    let row = try store.row(of: id)
    let item = try store.open(row)
    let opened = try openSealed(row, item, operation, by: component, with: grant)
    guard item.isEntry else { return opened }
    guard let password = try EntryContent(decoding: opened.secret).password else {
      throw VaultError(.itemNotFound, "the entry has no password", hint: .showFields)
    }
    return OpenedSecret(secret: password, notes: opened.notes)
  }

  /// What an entry keeps under its seal, or the password of an item that is no entry.
  mutating func openEntry(
    of id: ItemID, _ operation: ItemOperation, with grant: consuming Grant? = nil
  ) throws(VaultError) -> OpenedEntry {
    let row = try store.row(of: id)
    let item = try store.open(row)
    try Gate.permitEntry(item)
    guard item.hasSecret else { return OpenedEntry(content: EntryContent(), notes: []) }
    let opened = try openSealed(row, item, operation, by: nil, with: grant)
    return OpenedEntry(content: try EntryContent(opened.secret, isEntry: item.isEntry), notes: opened.notes)
  }

  /// What a former version of an entry kept. It is read through the gate, like the present one.
  mutating func openFormer(
    _ version: UInt64, of id: ItemID, _ operation: ItemOperation = .read
  ) throws(VaultError) -> OpenedEntry {
    let row = try store.row(of: id)
    let item = try store.open(row)
    let former = try store.former(version, of: row)
    let opened = try openSealed(row.asOf(version), item, operation, by: nil, former: former)
    return OpenedEntry(content: try EntryContent(opened.secret, isEntry: former.isEntry), notes: opened.notes)
  }

  private mutating func openSealed(
    _ row: ItemRow, _ item: Item, _ operation: ItemOperation, by component: Component?,
    with grant: consuming Grant? = nil, former: FormerSecret? = nil
  ) throws(VaultError) -> OpenedSecret {
    var grant = consume grant
    try store.readTime(for: item)
    if grant == nil { grant = takeGrant(for: operation, on: item.id) }
    let decision = try Gate.decide(
      operation, on: item, row: row, in: store, by: component, with: grant.take())
    let notes = decision.notes
    let keys = decision.opening.spend(on: item.id)
    let sealed =
      if let former { try store.sealedSecret(former, of: row, item) } else {
        try store.sealedSecret(of: row, item)
      }
    return OpenedSecret(secret: try sealed.open(with: keys), notes: notes)
  }

  /// The secret of an item, for a component that uses it and never hands it out.
  ///
  /// - Returns: The secret, with the audit notes that must be written before any result made from it is shown.
  /// - Throws: ``VaultError/Code/locked``, ``VaultError/Code/expired``, ``VaultError/Code/verificationNeeded``.
  package mutating func useSecret(
    of item: Item, by component: Component?
  ) throws(VaultError) -> OpenedSecret {
    try openSecret(of: item.id, .use, by: component)
  }

  /// Opens the secret of an item before the write transaction that uses it, so that no other writer waits meanwhile.
  ///
  /// - Returns: `nil` if something is missing, or the item's key is wrapped: only the write transaction, which gets what is missing,
  ///   opens its secret then.
  /// - Throws: Why the use is refused.
  package mutating func prepareSecret(
    of item: Item, by component: Component?
  ) throws(VaultError) -> PreparedSecret? {
    guard try !item.policy.isWrapped(), try missing(for: .secret(.use, of: item.id, by: component)) == nil
    else { return nil }
    let opened = try openSecret(of: item.id, .use, by: component)
    return PreparedSecret(
      secret: opened.secret, item: item, row: try store.row(of: item.id), session: store.identity,
      config: store.keys.header.config)
  }
}
