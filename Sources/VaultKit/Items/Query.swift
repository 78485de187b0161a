/// Which items are meant: equality of attributes. Nothing given matches everything.
///
/// `name` and the indexed attributes (service, account, label, generic, access group, server, application label and
/// tag, issuer, serial number, public-key hash) are looked up; all others are compared after opening.
public struct Query: Sendable {
  /// The kind, or `nil` for all.
  public var kind: ItemKind?
  /// The attributes that must be equal.
  public var attributes: Attributes
  /// One item by its identifier.
  public var id: ItemID?
  /// How many at most, in the order of insertion.
  public var limit: Int

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

  func matches(_ item: Item) -> Bool {
    (kind == nil || kind == item.kind) && (id == nil || id == item.id)
      && attributes.isContained(in: item.attributes)
  }
}
