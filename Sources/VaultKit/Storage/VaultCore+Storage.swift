package import SecretMemory
package import VaultFormat

/// Values of a storage on the synchronous core. ``ItemStorage`` offers the same on the actor.
///
/// A value is found as the item that a new one would replace: an item with a name is none, also one of the same service and
/// account.
extension VaultCore {
  /// - Parameter place: An item with its service and account.
  package func storedValue(
    _ place: NewItem, context: AuthenticationContext? = nil
  ) throws(VaultError) -> SecretBytes? {
    var transaction = try beginReading()
    let found = try transaction.duplicate(of: place)
    transaction.end()
    guard let item = found else { return nil }
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
    var transaction = try beginWriting(.replace(place), context: context)
    if let item = try transaction.reading.duplicate(of: place) {
      if let new = try body(transaction.useSecret(of: item, by: nil)) {
        try transaction.update(item.id, ItemChanges(), secret: new)
      } else {
        try transaction.delete(item.id)
      }
    } else if let new = try body(nil) {
      _ = try transaction.add(place, secret: new)
    }
    try transaction.commit()
  }

  package func removeValue(
    _ place: NewItem, context: AuthenticationContext? = nil
  ) throws(VaultError) {
    var look = try beginReading()
    let found = try look.duplicate(of: place)
    look.end()
    guard let found else { return }
    var transaction = try beginWriting(.delete(found.id), context: context)
    if let item = try transaction.reading.duplicate(of: place) { try transaction.delete(item.id) }
    try transaction.commit()
  }
}
