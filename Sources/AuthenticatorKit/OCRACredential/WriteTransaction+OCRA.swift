public import SecretMemory
public import VaultKit

/// Credentials with a suite inside a transaction, for operations on many items at once.
extension WriteTransaction {
  /// Adds a credential with a suite.
  ///
  /// - Parameters:
  ///   - new: Everything but the key.
  ///   - key: The shared secret, 10 to 512 bytes; 20 recommended (RFC 4226 R6).
  /// - Returns: The item, for ``OCRACredential/init(id:in:)``.
  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/duplicateItem``, ``VaultError/Code/locked``;
  ///   ``VaultError/Code/verificationNeeded`` behind a PIN, because a transaction asks no person.
  @discardableResult
  public mutating func enroll(_ new: NewOCRACredential, key: consuming SecretBytes) throws(VaultError) -> Item
  {
    try addOCRA(new, key: key)
  }

  /// - Parameter adjust: Sets further fields of the item.
  package mutating func addOCRA(
    _ new: NewOCRACredential, key: consuming SecretBytes, adjusting adjust: (inout NewItem) -> Void = { _ in }
  ) throws(VaultError) -> Item {
    guard new.pin == nil else { throw .pinInTransaction }
    var item = try new.item(key: key)
    item.limit(to: new.limits, from: reading.expiryTime)
    adjust(&item)
    return try add(item, secret: key, by: .otp)
  }

  /// The secret of a credential. An entry in the audit records the export.
  ///
  /// - Parameters:
  ///   - item: The credential.
  ///   - component: With what a PIN that guards the credential gave.
  ///   - operation: `exportOfAll` also for a credential in the trash.
  /// - Throws: ``VaultError/Code/policy`` behind a camouflaged PIN: a secret outside of it would reveal the PIN.
  package mutating func exportOCRA(
    _ item: Item, by component: Component = .otp, for operation: ItemOperation = .export
  ) throws(VaultError) -> SecretBytes {
    _ = try OCRAItem(item)
    try item.refuseIfCamouflaged(
      "the secret behind a camouflaged PIN is never exported: it would reveal the PIN")
    let key = try exportSecret(of: item, by: component, for: operation)
    try log(.exported, item: item)
    return key
  }
}

extension VaultError {
  static var pinInTransaction: VaultError {
    VaultError(
      .verificationNeeded, "a credential behind a PIN needs the PIN, and a transaction asks no person",
      hint: "enroll it outside of a transaction")
  }
}
