public import VaultKit

/// A client key to make or to import: everything but the key.
public struct NewClientKey: Sendable {
  /// The vault-wide name, 1–255 bytes of UTF-8 whose characters are all visible.
  public var name: String
  /// Who may sign with it and when.
  public var access = AccessControl()
  /// Which operations are logged; with ``AuditPolicy/all`` also each signature.
  public var audit = AuditPolicy.changes
  /// Whether ``Vault/secret(of:context:)`` may give out the private key, as PKCS#8. **Advisory**: who opens the class key of
  /// the item has the key.
  public var isExportable = false

  /// A key that is not exportable.
  public init(name: String) { self.name = name }

  /// The item of the key.
  func item(of key: PublicKey, certificates: [[UInt8]] = []) throws(VaultError) -> NewItem {
    var new = NewItem(.key, name: name, access: access, audit: audit)
    new.isExportable = isExportable
    new.attributes[.subjectPublicKeyInfo] = key.subjectPublicKeyInfo
    new.attributes[.applicationLabel] = key.hash
    new.attributes[.keyClass] = ClientKeyItem.privateKey
    (new.attributes[.keyType], new.attributes[.keyBits]) = key.type.stored
    new.attributes[.canSign] = true
    guard !certificates.isEmpty else { return new }
    let joined = certificates.reduce([], +)
    guard joined.count <= 65_536 else {
      throw VaultError(
        .malformed, "the certificates of the key have more than 65,536 bytes",
        hint: "leave out those that are not of its chain")
    }
    new.attributes[.certificates] = joined
    return new
  }
}
