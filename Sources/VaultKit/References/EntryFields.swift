package import SecretMemory
import VaultFormat

/// What the fields of references mean, in the one place that knows it: in an item that is not opened, and in what it keeps under its seal.
struct EntryFields {
  private let content: EntryContent

  init(_ content: EntryContent) { self.content = content }

  /// The value of a field. A word that means a part of each entry never means a field of the entry's own.
  ///
  /// - Throws: ``VaultError/Code/itemNotFound``.
  func value(of field: String) throws(VaultError) -> FieldValue {
    let value: FieldValue? =
      switch field {
      case VaultReference.password: FieldValue(content.sharedPassword, isConcealed: true)
      case "notes": FieldValue(content.sharedNotes, isConcealed: true)
      case "url": FieldValue(content.sharedAddresses.first, isConcealed: false)
      default:
        FieldValue(try content.field(field).shared, isConcealed: try content.field(field).isHidden)
      }
    guard let value else { throw Item.hasNo(field) }
    return value
  }
}

/// The value of a field.
package struct FieldValue: Sendable {
  package let secret: SharedSecret
  /// Whether it is a secret that nobody is to see by accident. An address and a field that is shown are none.
  package let isConcealed: Bool

  init(_ secret: SharedSecret, isConcealed: Bool) { (self.secret, self.isConcealed) = (secret, isConcealed) }

  fileprivate init?(_ secret: SharedSecret?, isConcealed: Bool) {
    guard let secret else { return nil }
    self.init(secret, isConcealed: isConcealed)
  }
}

extension Item {
  /// The attribute that a field means; `nil` for a field under the seal. What reads it needs no passcode and no person.
  static func attribute(of field: String) -> Attribute<String>? {
    switch field {
    case "account": .account
    case "service": .service
    default: nil
    }
  }

  /// - Throws: ``VaultError/Code/itemNotFound``.
  func value(of attribute: Attribute<String>, named field: String) throws(VaultError) -> FieldValue {
    guard let text = attributes[attribute] else { throw Self.hasNo(field) }
    return FieldValue(SharedSecret(SecretBytes(copying: text.utf8.span)), isConcealed: false)
  }

  fileprivate static func hasNo(_ field: String) -> VaultError {
    VaultError(.itemNotFound, "the item has no \(field)", hint: .showFields)
  }
}
