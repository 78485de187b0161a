import VaultStorage

/// Everything about an item but its secret.
public struct Item: Sendable, Identifiable {
  private let opened: OpenedItems
  private let index: Int

  init(_ opened: OpenedItems, _ index: Int) {
    self.opened = opened
    self.index = index
  }

  /// An item that was just sealed.
  init(_ row: ItemFields, _ attributes: Attributes, _ policy: Policy) {
    let bytes = attributes.record.encoded
    let columns = OpenedItems.Columns(row, end: bytes.count)
    self.init(OpenedItems(policy: policy, columns: [columns], attributes: bytes), 0)
  }

  /// 16 random bytes for life.
  public var id: ItemID { ItemID(columns.id) }
  /// What it is.
  public var kind: ItemKind { ItemKind(rawValue: columns.kind) }
  /// Its attributes, opened with the device key alone.
  public var attributes: Attributes { opened.attributes(of: index) }
  /// Who may use it and when.
  public var access: AccessControl { policy.access }
  /// What is logged of it.
  public var audit: AuditPolicy { policy.audit }
  /// When it was added.
  public var created: Instant { attributes.date(.creationDate) }
  /// When it was last changed.
  public var modified: Instant { attributes.date(.modificationDate) }
  /// From when on it cannot be used, or `nil`.
  public var expires: Instant? { columns.expires.map { Instant(milliseconds: $0) } }
  /// Whether it has a secret; an item without one is not an item with an empty one.
  public var hasSecret: Bool { columns.hasSecret }
  /// The version of the row, +1 at each change of it.
  public var version: UInt64 { columns.version }

  /// Its vault-wide name, or `nil`.
  public var name: String? { attributes[.name] }

  /// The row in the file; ascending in the order of insertion.
  package var row: Int64 { columns.row }
  var policy: Policy { opened.policy }

  private var columns: OpenedItems.Columns { opened.columns(of: index) }
}

/// An item to add.
public struct NewItem: Sendable {
  /// What it is.
  public var kind: ItemKind
  /// Its attributes.
  public var attributes: Attributes
  /// Who may use it and when.
  public var access: AccessControl
  /// What is logged of it.
  public var audit: AuditPolicy
  /// From when on it cannot be used.
  public var expires: Instant?
  /// The state it starts with, for kinds that have one.
  public var state: ItemState

  /// An item to add.
  ///
  /// - Parameters:
  ///   - kind: What it is.
  ///   - name: The vault-wide name, 1–255 bytes of UTF-8 whose characters all show; `nil` for none. A generic
  ///     password that is given no account gets it as its account too.
  ///   - attributes: Further attributes; none may be a secret.
  ///   - access: Accessibility and constraints.
  ///   - audit: What is logged.
  ///   - expires: From when on it cannot be used.
  public init(
    _ kind: ItemKind, name: String? = nil, attributes: Attributes = Attributes(),
    access: AccessControl = AccessControl(), audit: AuditPolicy = .changes, expires: Instant? = nil
  ) {
    self.kind = kind
    self.attributes = attributes
    self.access = access
    self.audit = audit
    self.expires = expires
    state = ItemState()
    guard let name else { return }
    self.attributes[.name] = name
    if kind == .genericPassword, self.attributes.bytes(of: Attribute<String>.account.code) == nil {
      self.attributes[.account] = name
    }
  }
}

/// What to change of an item; what is `nil` or absent stays.
public struct ItemChanges: Sendable {
  /// Attributes to set.
  public var attributes: Attributes
  /// Attribute codes to remove.
  public var removed: [UInt16]
  /// A new expiry: `.some(nil)` removes it.
  public var expires: Instant??
  /// A new audit policy; needs the secret's key, because the policy is bound to it.
  public var audit: AuditPolicy?

  /// Changes of attributes.
  public init(attributes: Attributes = Attributes(), removed: [UInt16] = [], expires: Instant?? = nil) {
    self.attributes = attributes
    self.removed = removed
    self.expires = expires
    audit = nil
  }
}

/// What of an item is logged.
public enum AuditPolicy: UInt8, Sendable {
  /// Every write, counter use, verification, denial, prompt and export; not a plain read.
  case changes = 0
  /// Plain reads too, each a durable write.
  case all = 1
}
