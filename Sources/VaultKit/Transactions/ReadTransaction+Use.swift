import SealedStorage
import VaultFormat
import VaultStorage

extension ReadTransaction {
  /// What is missing for a use in this state of the vault; `nil` if nothing is. Changes nothing, and asks nobody.
  ///
  /// - Parameter proof: The verification that was made for the use.
  /// - Throws: Why the use is refused, whatever a person would show.
  mutating func missing(
    for use: Use, with proof: VerificationProof? = nil
  ) throws(VaultError) -> Missing? {
    switch use {
    case .free: return nil
    case .unlocked:
      return store.keys.isUnlocked ? nil : try Gate.missingKey(of: AccessControl(), keys: store.keys)
    case .secret(let operation, let id, let component):
      let (row, item) = try found(id)
      return try Gate.missing(operation, on: item, row: row, in: store, by: component, with: proof)
    case .former(let id, let version, let operation):
      let (row, item) = try found(id)
      _ = try store.former(version, of: row)
      return try Gate.missing(operation, on: item, row: row.asOf(version), in: store, by: nil, with: proof)
    case .update(let id, let changes, let replacesSecret, let component):
      return try missing(
        toUpdate: id, changes, replacesSecret: replacesSecret, by: component, with: proof)
    case .state(let id, let component):
      let (row, item) = try found(id)
      guard !item.isInTrash else { throw Gate.inTrash(item) }
      guard item.access.asksPerson else { return nil }
      return try Gate.missing(.update, on: item, row: row, in: store, by: component, with: proof)
    case .guardedState(let id, let component):
      let (row, item) = try found(id)
      guard !item.isInTrash else { throw Gate.inTrash(item) }
      if let missing = Gate.missing(withoutSecretOf: item, keys: store.keys) { return missing }
      guard item.access.asksPerson else { return nil }
      return try Gate.missing(.update, on: item, row: row, in: store, by: component, with: proof)
    case .add(let new, let component): return try Gate.missing(toAdd: new, by: component, keys: store.keys)
    case .delete(let id):
      let row = try store.row(of: id)
      return Gate.missing(withoutSecretOf: try? store.open(row), keys: store.keys)
    case .deleteAll(let query): return try missing(toDeleteAll: query)
    case .replace(let new):
      guard let item = try duplicate(of: new) else { return try missing(for: .add(new, by: nil)) }
      return try missing(for: .secret(.use, of: item.id, by: nil))
    case .both(let first, let second):
      if let missing = try missing(for: first, with: proof) { return missing }
      return try missing(for: second)
    }
  }

  /// Refuses a use that is refused whatever a person would show.
  package mutating func refuse(_ use: Use) throws(VaultError) { _ = try missing(for: use) }

  /// The verification that was made for the use of this transaction; `nil` without one, and after its grant was used.
  package var proof: VerificationProof? {
    switch grant {
    case .some(let grant): grant.proof
    case nil: nil
    }
  }

  /// Takes the grant of the transaction, if it was given for this.
  mutating func takeGrant(for operation: ItemOperation, on id: ItemID) -> Grant? {
    guard grant?.proof.isFor(operation, on: id) == true else { return nil }
    return grant.take()
  }

  private mutating func found(_ id: ItemID) throws(VaultError) -> (ItemRow, Item) {
    let row = try store.row(of: id)
    let item = try store.open(row)
    try store.readTime(for: item)
    return (row, item)
  }

  private mutating func missing(
    toUpdate id: ItemID, _ changes: ItemChanges, replacesSecret: Bool, by component: Component?,
    with proof: VerificationProof?
  ) throws(VaultError) -> Missing? {
    let (row, item) = try found(id)
    let operation: ItemOperation = replacesSecret ? .replace : .update
    if replacesSecret || changes.audit != nil || changes.expiry != nil {
      if let missing = try Gate.missing(toSealAgain: item, operation, by: component, keys: store.keys) {
        return missing
      }
    }
    try ItemRule.check(changes, of: item, by: component)
    if component == nil, changes.needPasscode,
      let missing = Gate.missing(withoutSecretOf: item, keys: store.keys)
    {
      return missing
    }
    let isRebound = item.isRebound(by: changes)
    if isRebound { try Gate.permitSealingAgain(item) }
    guard replacesSecret || isRebound || item.access.asksPerson else { return nil }
    return try Gate.missing(operation, on: item, row: row, in: store, by: component, with: proof)
  }

  private mutating func missing(toDeleteAll query: Query) throws(VaultError) -> Missing? {
    guard !store.keys.isUnlocked else { return nil }
    for item in try items(matching: query) {
      if let missing = Gate.missing(withoutSecretOf: item, keys: store.keys) { return missing }
    }
    return nil
  }
}

extension Item {
  /// Whether changes give the present secret another policy, under which it is sealed again.
  func isRebound(by changes: ItemChanges) -> Bool {
    hasSecret && policy.with(audit: changes.audit, expiry: changes.expiry).hash != policy.hash
  }
}
