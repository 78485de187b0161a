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
  fileprivate static func grant(
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

extension VaultCore {
  /// Verifies the person as the access rule of an item requires, and runs the last part of a call with the grant. Logs a denial.
  ///
  /// - Parameters:
  ///   - action: What the operation is for, as a verb phrase that prompts show; `nil` for the operation's own words.
  ///   - label: The name that prompts show; `nil` for that of the item.
  ///   - body: Must throw before it changes anything if the grant is not accepted.
  /// - Throws: ``VaultError/Code/interactionNotAllowed`` without a context, what ``Authentication`` throws, and what `body` throws.
  func granting<R: ~Copyable>(
    _ operation: ItemOperation, on id: ItemID, by component: Component?, to action: String? = nil,
    of label: String? = nil, context: AuthenticationContext?,
    body: (consuming Grant?) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try context?.call?.requirePerson()
    var verification = Authentication(core: self, context: context, operation: operation)
    if let action { verification.asking.action = action }
    verification.asking.label = label
    var isVerified = false
    do throws(VaultError) {
      return try repeatingUnderNewKeys(if: { !verification.hasAsked }) { () throws(VaultError) in
        isVerified = false
        verification.renew()
        var grant: Grant? = try Gate.grant(on: id, after: &verification, by: component)
        isVerified = true
        return try using(context) { () throws(VaultError) in try body(grant.take()) }
      }
    } catch {
      if !isVerified { logDenial(verification.notes, of: verification.item, error: error) }
      throw error
    }
  }

  /// Runs a step again if it failed because another process has made new keys meanwhile, which end what was verified and close what
  /// a passcode had opened; as long as a statement waits for a lock.
  ///
  /// - Parameter mayRepeat: Whether no person has answered in the step: they answered under the keys of then, and are not asked a
  ///   second time.
  package func repeatingUnderNewKeys<R: ~Copyable>(
    if mayRepeat: () throws(VaultError) -> Bool, _ body: () throws(VaultError) -> R
  ) throws(VaultError) -> R {
    var race = KeyRace()
    while true {
      let (identity, locks) = session.latch.session
      do throws(VaultError) { return try body() } catch {
        let now = session.latch.session
        let isRace = [.busy, .locked].contains(error.code) && now.identity != identity && now.locks == locks
        guard isRace, race.mayTry(), try mayRepeat() else { throw error }
      }
    }
  }
}
