/// Changes to an item; a value that is `nil` or absent stays as it is.
public struct ItemChanges: Sendable {
  /// Attributes to set.
  public var attributes: Attributes
  /// Attribute codes to remove.
  public var removed: [UInt16]
  /// A new expiry: `.some(nil)` removes it.
  public var expires: Instant??
  /// What becomes of the item when it has expired. It needs the secret's key, because the rule is bound to that key.
  public var expiry: ExpiryRule?
  /// Whether the former secrets of the item are forgotten, with the one that these changes replace.
  public var forgetsFormer = false
  /// A new audit policy. It needs the secret's key, because the policy is bound to that key.
  public var audit: AuditPolicy?

  /// Changes of attributes.
  public init(attributes: Attributes = Attributes(), removed: [UInt16] = [], expires: Instant?? = nil) {
    self.attributes = attributes
    self.removed = removed
    self.expires = expires
    audit = nil
  }
}
