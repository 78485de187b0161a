import SealedStorage
import VaultFormat
import VaultKeys
import SecretMemory
import VaultCrypto
import VaultStorage

/// The decisions of the gate that need a person.
extension Gate {
  /// Verifies the person as the access rule requires, outside every transaction. Logs a denial.
  ///
  /// - Parameters:
  ///   - action: What the operation is for, as a verb phrase that prompts show; `nil` for the operation's own words.
  ///   - label: The name that prompts show; `nil` for that of the item.
  /// - Throws: ``VaultError/Code/interactionNotAllowed`` without a context, and what ``Authentication`` throws.
  static func grant(
    _ operation: ItemOperation, on id: ItemID, in core: VaultCore, by component: Component? = nil,
    to action: String? = nil, of label: String? = nil, context: AuthenticationContext?
  ) throws(VaultError) -> Grant {
    try context?.call?.requirePerson()
    var verification = Authentication(core: core, context: context, operation: operation)
    if let action { verification.asking.action = action }
    verification.asking.label = label
    do throws(VaultError) {
      let verified = try verification.open(id, by: component)
      return Grant(
        operation, verified: verified, for: core.environment.caller, session: verification.session,
        locks: verification.asking.validity.locks,
        clock: core.environment.clock, notes: verification.notes)
    } catch {
      core.logDenial(verification.notes, of: verification.item, error: error)
      throw error
    }
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
      material: row.material, policyHash: item.policy.hash)
    return Grant(
      .read, verified: verified, for: store.caller, session: store.identity, locks: store.locks,
      clock: store.environment.clock, notes: [])
  }

  /// Checks, in the session of the verification, that the vault still accepts what the person showed.
  ///
  /// - Throws: ``VaultError/Code/appCancelled`` after a lock, ``VaultError/Code/busy`` after a change of the factors.
  static func confirm(_ shown: ShownFactors, for validity: CallValidity) throws(VaultError) {
    try validity.core.reading { transaction throws(VaultError) in
      try validity.check(locks: transaction.store.locks)
      guard validity.session == transaction.store.identity,
        try shown.areAccepted(by: transaction.store.keys.header)
      else {
        throw VaultError(.busy, "the vault's factors were changed meanwhile", hint: "try again")
      }
    }
  }
}
