package import VaultStorage

/// Everything about an item but its secret.
public struct Item: Sendable, Identifiable {
  private let opened: OpenedItems
  private let index: Int
  /// The name of the entry that it belongs to, where that was looked at.
  private var entryName: String?

  package init(_ opened: OpenedItems, at index: Int) {
    self.opened = opened
    self.index = index
  }

  /// An item that was just sealed.
  package init(_ row: ItemFields, attributes: Attributes, policy: Policy) {
    let bytes = attributes.record.encoded
    let columns = OpenedItems.Columns(row, end: bytes.count)
    self.init(OpenedItems(policy: policy, columns: [columns], attributes: bytes), at: 0)
  }

  /// 16 random bytes that never change.
  public var id: ItemID { ItemID(columns.id) }
  /// What it is.
  public var kind: ItemKind { ItemKind(rawValue: columns.kind) }
  /// Its attributes, opened with the device key alone.
  public var attributes: Attributes { opened.attributes(of: index) }
  /// Who may use it and when.
  public var access: AccessControl { policy.access }
  /// Which operations on it are logged.
  public var audit: AuditPolicy { policy.audit }
  /// When it was added.
  public var created: Instant { attributes.date(.creationDate) }
  /// When it was last changed.
  public var modified: Instant { attributes.date(.modificationDate) }
  /// The time from which it has expired, or `nil`. ``expiry`` says what becomes of it then.
  public var expires: Instant? { columns.expires.map { Instant(milliseconds: $0) } }
  /// The same, and in the trash the one that it has when it is put back.
  package var ownExpiry: Instant? { isInTrash ? attributes[.expiryBeforeTrash] : expires }
  /// What becomes of it when it has expired: a password is given, and programs warn, unless its rule is to refuse it. Any other kind
  /// is refused.
  public var expiry: ExpiryRule { kind.isGivenWhenExpired ? policy.expiry : .refuse }
  /// Whether it has a secret. An empty secret is a secret too.
  public var hasSecret: Bool { columns.flags & ItemFlags.hasSecret != 0 }
  /// Whether it keeps more than a password: notes, fields or addresses (``EntryContent``).
  public var isEntry: Bool { columns.flags & ItemFlags.entry != 0 }
  /// Whether it is in the trash.
  public var isInTrash: Bool { ItemFlags.areOfTrash(columns.flags, kind) }
  /// The version of the row; each change of the row adds 1.
  public var version: UInt64 { columns.version }

  /// Its vault-wide name, or `nil`. In the trash, the one that it had. The credential of an entry has that of the entry, where it
  /// was found by it.
  public var name: String? { attributes[.name] ?? entryName }

  /// The same item, found by the entry that it belongs to.
  package func found(by entry: Item) -> Item {
    var item = self
    item.entryName = entry.name
    return item
  }

  /// Its name or its identifier, and whether it is in the trash.
  package var nameInPlace: String { (name ?? id.hexadecimal) + (isInTrash ? " (in the trash)" : "") }

  /// The item that goes with this one wherever it goes: of an entry, its one-time-password credential.
  package var owned: ItemID? { kind.rules.canBeEntry ? attributes[.ownedItem].flatMap(ItemID.init) : nil }

  /// Whether it is a credential whose codes follow a counter.
  package var countsCodes: Bool { counter != nil }

  /// A credential whose counter a server follows.
  package var isCountingProver: Bool { counter == .prover }

  private var counter: StateRules.Counter? { kind.rules.state.counter.flatMap { $0(attributes) } }

  /// The row in the file; ascending in the order of insertion.
  package var row: Int64 { columns.row }
  package var policy: Policy { opened.policy }
  package var flags: UInt32 { columns.flags }
  /// The generation of the keys that seal it.
  package var generation: UInt32 { columns.generation }

  private var columns: OpenedItems.Columns { opened.columns(of: index) }
}
