package import SecretMemory
package import VaultKit

/// Values of a storage on the synchronous core. ``ItemStorage`` offers the same on the actor.
extension VaultCore {
  /// - Parameter place: An item with its service and account.
  package func storedValue(
    _ place: NewItem, context: AuthenticationContext? = nil
  ) throws(VaultError) -> SecretBytes? {
    guard let item = try items(matching: Query(.genericPassword, where: place.attributes)).first else {
      return nil
    }
    do throws(VaultError) { return try secret(of: item.id, context: context) } catch {
      // Another process may have removed it between the two steps.
      guard error.code == .itemNotFound else { throw error }
      return nil
    }
  }

  /// Makes a new value of the old one, in one transaction.
  package func changeValue(
    _ place: NewItem, context: AuthenticationContext? = nil,
    _ body: (consuming SecretBytes?) throws(VaultError) -> SecretBytes?
  ) throws(VaultError) {
    try unlocking(context) { () throws(VaultError) in
      try writing { transaction throws(VaultError) in
        let query = Query(.genericPassword, where: place.attributes)
        guard let item = try transaction.items(matching: query).first else {
          if let new = try body(nil) { _ = try transaction.add(place, secret: new) }
          return
        }
        guard let new = try body(transaction.useSecret(of: item, by: nil)) else {
          return try transaction.delete(item.id)
        }
        try transaction.update(item.id, ItemChanges(), secret: new)
      }
    }
  }

  package func removeValue(_ place: NewItem) throws(VaultError) {
    try writing { transaction throws(VaultError) in
      let query = Query(.genericPassword, where: place.attributes)
      for item in try transaction.items(matching: query) { try transaction.delete(item.id) }
    }
  }
}
