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
  /// - Throws: ``VaultError/Code/interactionNotAllowed`` without a context, and what ``Authentication`` throws.
  static func grant(
    _ operation: ItemOperation, on id: ItemID, in core: VaultCore, context: AuthenticationContext?
  ) throws(VaultError) -> Grant {
    var verification = Authentication(core: core, context: context, operation: operation)
    do throws(VaultError) {
      let verified = try verification.open(id)
      return Grant(
        operation, verified: verified, session: verification.session, clock: core.environment.clock,
        notes: verification.notes)
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
      item: item.id, dataKey: nil, password: nil, halves: [:], material: row.material,
      policyHash: item.policy.hash)
    return Grant(
      .read, verified: verified, session: store.identity, clock: store.environment.clock, notes: [])
  }

  /// Verifies each constraint of the items once, for a listing. Returns the items that may be listed.
  static func permitListing(
    of items: [Item], in core: VaultCore, _ context: AuthenticationContext?
  ) throws(VaultError) -> [Item] {
    var verification = Authentication(core: core, context: context, operation: .list)
    var permitted: [Item] = []
    for item in items {
      do throws(VaultError) {
        if item.access.constraints.hasSingle { try verification.show(item) }
        permitted.append(item)
      } catch {
        // An item that can no longer be opened is left out.
        if error.code.isAbsence { continue }
        core.logDenial(verification.notes, of: item, error: error)
        throw error
      }
    }
    try core.log(verification.notes)
    return permitted
  }
}
