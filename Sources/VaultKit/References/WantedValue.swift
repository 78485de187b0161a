package import VaultFormat

/// A value that a command asks for.
package enum WantedValue: Sendable {
  /// The secret of the item with this name, of any kind whose secret everybody may use.
  case secret(of: String)
  /// A field of an item that a person keeps.
  case field(VaultReference)

  package var name: String {
    switch self {
    case .secret(let name): name
    case .field(let reference): reference.name
    }
  }

  package var field: String {
    switch self {
    case .secret: VaultReference.password
    case .field(let reference): reference.field
    }
  }

  package var isReference: Bool { if case .field = self { true } else { false } }

  /// Whether its value is in the secret of the item.
  var isSealed: Bool { Item.attribute(of: field) == nil }
}

/// A value that was asked for.
package struct GivenValue: Sendable {
  package let value: FieldValue
  package let item: Item
  /// Whether it was in the secret of the item.
  package let isSealed: Bool
}

/// Why one of several values is not given, and with it none.
package struct WantedFailure: Error {
  /// Which one.
  package let index: Int
  /// Its item, if there is one.
  package let item: Item?
  package let error: VaultError
}
