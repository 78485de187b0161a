import SealedStorage
public import VaultFormat
public import SecretMemory
import VaultCrypto
import VaultStorage

extension WriteTransaction {
  /// Adds an item, or replaces the item of the same kind and name. An item without a name replaces the one of its kind that
  /// has none either and the same primary attributes: of a generic password, service and account.
  ///
  /// An item of another name is never replaced. A replaced item keeps its identifier, its creation date and its state;
  /// attributes, expiry with its rule, audit policy and secret are those of the new item.
  /// - Throws: As ``add(_:secret:)`` and ``update(_:_:secret:)``; ``VaultError/Code/duplicateItem`` if the name belongs
  ///   to an item of another kind, or the primary attributes to an item of another name; ``VaultError/Code/policy`` if the
  ///   present item has another access rule; ``VaultError/Code/verificationNeeded`` if the item has constraints.
  @discardableResult
  public mutating func addOrReplace(
    _ new: NewItem, secret: consuming SecretBytes
  ) throws(VaultError) -> Item {
    guard let old = try reading.duplicate(of: new) else { return try add(new, secret: secret) }
    return try update(old.id, new.changes(replacing: old), secret: secret)
  }
}

extension NewItem {
  /// The changes that make the present item this one.
  ///
  /// - Throws: ``VaultError/Code/policy`` if the present item has another access rule.
  func changes(replacing old: Item) throws(VaultError) -> ItemChanges {
    guard old.access == access else {
      throw VaultError(
        .policy, "the present item has another access rule, which only a new item can change",
        hint: "delete the item, then add it")
    }
    guard !kind.rules.dependsOnExport || old.policy.isExportable == isExportable else {
      throw VaultError(
        .policy, "only a new key can be exportable where the present one is not, or the other way round",
        hint: "delete the key, then add it")
    }
    let kept = Set(
      attributes.codes + [Attribute<Instant>.creationDate.code, Attribute<Instant>.modificationDate.code])
    var changes = ItemChanges(
      attributes: attributes, removed: old.attributes.codes.filter { !kept.contains($0) },
      expires: .some(expires))
    if audit != old.audit { changes.audit = audit }
    if expiry != old.policy.expiry { changes.expiry = expiry }
    return changes
  }
}
