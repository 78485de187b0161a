package import VaultStorage

/// Selects items by equality of attributes. An empty query matches every item; a deletion takes only ``all`` for that.
///
/// `name` and the indexed attributes (service, account, label, generic, access group, server, application label and
/// tag, issuer, serial number, public-key hash) are looked up; all other attributes are compared after an item is
/// opened.
public struct Query: Sendable {
  /// The kind, or `nil` for all.
  public var kind: ItemKind?
  /// The attributes that must be equal.
  public var attributes: Attributes
  /// One item by its identifier.
  public var id: ItemID?
  /// The maximum number of items, in the order of insertion.
  public var limit: Int
  /// How to treat items whose access rule asks for a person.
  public var constrained = ConstrainedItems.list

  /// How to treat items in the trash.
  public var trash = TrashedItems.skip

  /// How a query treats items in the trash.
  public struct TrashedItems: Sendable, Hashable {
    private let number: UInt8

    /// They are left out.
    public static let skip = TrashedItems(number: 0)
    /// They are listed with the others.
    public static let list = TrashedItems(number: 1)
    /// Nothing else is listed.
    public static let only = TrashedItems(number: 2)
  }

  /// How a query treats items with constraints.
  ///
  /// A listing asks no person, because attributes open with the device key alone: an access rule guards the secret.
  /// Both other ways are advisory.
  public struct ConstrainedItems: Sendable, Hashable {
    private let number: UInt8

    /// They are listed with their attributes, also those whose rule can no longer be satisfied.
    public static let list = ConstrainedItems(number: 0)
    /// The query fails with ``VaultError/Code/verificationNeeded``: for programs that cannot ask a person for the
    /// secrets later.
    public static let fail = ConstrainedItems(number: 1)
    /// They are left out.
    public static let skip = ConstrainedItems(number: 2)
  }

  /// Whether the caller has said that every item is meant.
  private var meansAll = false

  /// Every item, also those in the trash, and also for a deletion. ``Vault/delete(_:)-(Query)`` refuses any other query without a kind, an attribute or an
  /// identifier.
  public static var all: Query {
    var query = Query()
    query.trash = .list
    query.meansAll = true
    return query
  }

  /// Whether the query has no condition, and the caller has not said that every item is meant.
  package var selectsAllByOmission: Bool { !meansAll && kind == nil && id == nil && attributes.isEmpty }

  /// Items of a kind with these attributes.
  public init(_ kind: ItemKind? = nil, where attributes: Attributes = Attributes(), limit: Int = .max) {
    self.kind = kind
    self.attributes = attributes
    self.limit = limit
  }

  /// The item with this identifier.
  public init(id: ItemID) {
    self.init()
    self.id = id
  }

  /// The item with this vault-wide name.
  public init(name: String) {
    self.init()
    attributes[.name] = name
  }

  /// Whether an item belongs in the listing.
  package func lists(_ row: ItemFields, _ attributes: RawSpan, _ access: AccessControl) throws(VaultError)
    -> Bool
  {
    guard trash == .list || (trash == .only) == ItemFlags.areOfTrash(row.flags, ItemKind(rawValue: row.kind))
    else { return false }
    guard kind == nil || kind?.rawValue == row.kind, id == nil || id?.stored == row.id,
      self.attributes.isEmpty || self.attributes.areContained(in: attributes)
    else { return false }
    guard constrained != .list, access.constraints.hasSingle else { return true }
    if constrained == .skip { return false }
    throw VaultError(
      .verificationNeeded, "an item with an access rule matches, and the query refuses such items",
      hint: "list these items, or leave them out")
  }
}
