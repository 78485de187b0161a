import VaultFormat

/// What a call does with the vault. The gate finds out from it what is missing: before a person is asked, and again in the
/// transaction that does the work.
package indirect enum Use: Sendable {
  /// What neither the passcode nor an access rule guards.
  case free
  /// Needs everything that the passcode guards.
  case unlocked
  /// Opens or replaces the secret of an item.
  case secret(ItemOperation, of: ItemID, by: Component?)
  /// Opens a former secret of an item.
  case former(ItemID, version: UInt64, for: ItemOperation = .read)
  /// Changes an item, and its secret if a new one is given.
  case update(ItemID, ItemChanges, replacesSecret: Bool, by: Component?)
  /// Changes the state of an item, whose access rule may ask for a person.
  case state(of: ItemID, by: Component)
  /// The same for a state that the passcode guards too, such as a counter.
  case guardedState(of: ItemID, by: Component)
  /// Adds an item.
  case add(NewItem, by: Component?)
  /// Deletes an item, whether it opens or not, or shows what the passcode guards of it besides its secret.
  case delete(ItemID)
  /// Deletes all items that match.
  case deleteAll(Query)
  /// Puts an item in the place of the one that it would duplicate, or adds it.
  case replace(NewItem)
  /// Two at once, of which only the first may ask for a person.
  case both(Use, Use)

  /// The item and the operation for which a person may have to be verified.
  var verified: (item: ItemID, operation: ItemOperation, component: Component?)? {
    switch self {
    case .secret(let operation, let id, let component): (id, operation, component)
    case .former(let id, _, let operation): (id, operation, nil)
    case .update(let id, _, let replacesSecret, let component):
      (id, replacesSecret ? .replace : .update, component)
    case .state(let id, let component), .guardedState(let id, let component): (id, .update, component)
    case .both(let first, _): first.verified
    case .free, .unlocked, .add, .delete, .deleteAll, .replace: nil
    }
  }

  /// The version of the material that is opened; `nil` for the present one.
  var formerVersion: UInt64? {
    if case .former(_, let version, _) = self { return version }
    return nil
  }
}

/// What a use lacks, with the error of a call that cannot get it.
enum Missing {
  /// The vault is locked.
  case passcode(VaultError)
  /// The access rule asks for a person, or a PIN or a session was not given.
  case person(VaultError)

  var error: VaultError {
    switch self {
    case .passcode(let error), .person(let error): error
    }
  }
}
