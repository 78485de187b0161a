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
  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/duplicateItem``, ``VaultError/Code/locked``.
  @discardableResult
  public mutating func enroll(_ new: NewOCRACredential, key: consuming SecretBytes) throws(VaultError) -> Item
  {
    try addOCRA(new, key: key)
  }

  /// - Parameter adjust: Sets further fields of the item.
  package mutating func addOCRA(
    _ new: NewOCRACredential, key: consuming SecretBytes, adjusting adjust: (inout NewItem) -> Void = { _ in }
  ) throws(VaultError) -> Item {
    var item = try new.item(key: key)
    adjust(&item)
    return try add(item, secret: key, by: .otp)
  }

  /// The suite, the state and the secret of a credential. An entry in the audit records the export.
  package mutating func exportOCRA(_ item: Item, with grant: consuming Grant? = nil) throws(VaultError)
    -> SecretBytes
  {
    _ = try OCRAItem(item)
    let key = try exportSecret(of: item, by: .otp, with: grant)
    try log(.exported, item: item)
    return key
  }
}
