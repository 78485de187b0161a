import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

extension Command {
  /// The client key that NAME, or what stands in its place, means. The vault stays locked.
  func clientKey() throws -> ClientKeyDescription {
    try vault.opened().describeClientKey(of: target().id)
  }

  /// The name and the rules of a new key.
  func newClientKey(_ access: AccessControl) -> NewClientKey {
    var new = NewClientKey(name: required(ItemOptions.newName))
    new.access = access
    new.audit = self[ItemOptions.audit] ?? .changes
    new.isExportable = self[KeyOptions.exportable]
    return new
  }
}

extension ClientKeyDescription {
  /// Everything but the private key.
  var json: JSON { json(at: nil) }

  /// The same, with a mark if the key has expired by then.
  func json(at moment: ExpiryMoment?) -> JSON {
    item.json(at: moment).adding("type", .string(type.rawValue)).adding("exportable", .boolean(isExportable))
      .adding("pin", .string(publicKey.pin)).adding("certificates", .integer(Int64(certificates.count)))
  }
}
