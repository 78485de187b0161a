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
