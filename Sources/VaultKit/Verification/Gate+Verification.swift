import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// The decisions of the gate that need a person.
extension Gate {
  /// The grant for an item, after a verification, outside every transaction.
  ///
  /// - Throws: What ``Authentication`` throws.
  static func grant(
    on id: ItemID, after verification: inout Authentication, by component: Component?
  ) throws(VaultError) -> Grant {
    let (core, asking) = (verification.core, verification.asking)
    let verified = try verified(id, by: component, &verification)
    return Grant(
      asking.operation, verified: verified, for: core.environment.caller, session: asking.validity.session,
      locks: asking.validity.locks, clock: core.environment.clock, notes: verification.notes)
  }

  /// What a person has let the program do again; without that, verifies the person, who may let it.
  private static func verified(
    _ id: ItemID, by component: Component?, _ verification: inout Authentication
  ) throws(VaultError) -> VerifiedItem {
    // A grant that stands is for the present secret.
    guard verification.version == nil else { return try verification.open(id, by: component) }
    if let granted = try verification.granted(on: id, by: component) { return granted }
    let verified = try verification.open(id, by: component)
    try verification.offerGrant(verified, by: component)
    return verified
  }

  /// The grant to read an item without constraints, whose reading is logged before the transaction that uses the
  /// grant; `nil` if its reading is not logged.
  static func grantLoggedReading(
    of item: Item, row: ItemRow, in store: borrowing SealedStore
  ) throws(VaultError) -> Grant? {
    let decision = try decide(.read, on: item, row: row, in: store)
    guard !decision.notes.isEmpty else { return nil }
    let verified = VerifiedItem(
      item: item.id, dataKey: nil, password: nil, shown: ShownFactors(halves: [:], passcode: nil),
      material: row.material, version: row.version, policyHash: item.policy.hash)
    return Grant(
      .read, verified: verified, for: store.caller, session: store.identity, locks: store.locks,
      clock: store.environment.clock, notes: [])
  }

  /// Checks, in the session of the verification, that the vault still accepts what the person showed.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a lock, ``VaultError/Code/busy`` after a change of the factors.
  static func confirm(_ shown: ShownFactors, for validity: CallValidity) throws(VaultError) {
    let transaction = try validity.core.beginReading()
    try validity.check(locks: transaction.store.locks)
    guard validity.session == transaction.store.identity,
      try shown.areAccepted(by: transaction.store.keys.header)
    else {
      throw VaultError(.busy, "the vault's factors were changed meanwhile", hint: "try again")
    }
  }
}
