import SealedStorage
import VaultFormat
import VaultKeys
import VaultStorage

/// That a person was verified for one operation on one item, kept for a program that may repeat it. It has the key of that one item, and
/// nothing that opens another one.
///
/// Who keeps it decides for which program, for how long and how often it serves: ``StandingGrants``. Whatever that is, it ends with the
/// session of the verification, so with a lock and with new keys, and with a change of the item, its rule, or what the person showed.
package final class StandingGrant: Sendable {
  package let item: ItemID
  package let operation: ItemOperation
  let verified: VerifiedItem
  let moment: VerificationMoment

  init(_ operation: ItemOperation, verified: VerifiedItem, at moment: VerificationMoment) {
    (item, self.operation, self.verified, self.moment) = (verified.item, operation, verified, moment)
  }

  /// Whether the vault was not locked, and has got no new keys, since the person was verified.
  package func isOfSession(of core: VaultCore) -> Bool {
    core.session.latch.session == (moment.session, moment.locks)
  }

  /// Whether the vault accepts it no more. A vault that cannot be read says nothing.
  package func isOver(in core: VaultCore) -> Bool {
    do throws(VaultError) { return try acceptedItem(in: core) == nil } catch { return false }
  }

  /// Its item; `nil` if the vault accepts it no more: the item, its rule, the factors or the keys were changed, or the item is gone.
  func acceptedItem(in core: VaultCore) throws(VaultError) -> Item? {
    var transaction = try core.beginReading()
    guard moment.session == transaction.store.identity, moment.locks == transaction.store.locks,
      let row = try transaction.store.rows.item(id: item.stored), row.version == verified.version,
      row.material == verified.material
    else { return nil }
    let item = try transaction.store.open(row)
    guard item.policy.hash == verified.policyHash,
      try verified.shown.areAccepted(by: transaction.store.keys.header)
    else { return nil }
    return item
  }
}

/// Keeps grants for the program that a call serves.
package protocol StandingGrants: Sendable {
  /// The grant of the program for an operation on an item; `nil` if it has none. Counts nothing.
  func grant(for item: ItemID, _ operation: ItemOperation) -> StandingGrant?

  /// Counts one use, before anything is opened by it.
  ///
  /// - Returns: Whether the program may: not after another use was the last one.
  func use(_ grant: StandingGrant) -> Bool

  /// The vault does not accept it any more.
  func end(_ grant: StandingGrant)

  /// Has the person asked what they allow, where the program can have a grant, and keeps the grant as they answer.
  ///
  /// - Parameters:
  ///   - name: What a list calls the item.
  ///   - hasTyped: Whether the person has typed a secret that was right. If not, another program has judged the person.
  ///   - ask: Asks the person.
  /// - Returns: The answer; `nil` if nobody was asked.
  func offer(
    _ grant: StandingGrant, named name: String, afterTyping hasTyped: Bool,
    asking ask: () throws(VaultError) -> GrantAnswer
  ) throws(VaultError) -> GrantAnswer?
}

// MARK: In a verification

extension Authentication {
  /// What a person has let the program do again. Counts a use of it.
  mutating func granted(on id: ItemID, by component: Component?) throws(VaultError) -> VerifiedItem? {
    guard let grants = asking.context?.grants, let grant = grants.grant(for: id, asking.operation) else {
      return nil
    }
    guard component?.pin == nil, component?.session == nil else { return nil }
    guard let item = try grant.acceptedItem(in: core) else {
      grants.end(grant)
      return nil
    }
    guard grants.use(grant) else { return nil }
    asking.item = item
    asking.notes.append(AuditNote(operation: .given, item: id, kind: item.kind, detail: "grant"))
    return grant.verified
  }

  /// Asks the person who has just been verified whether the program may do the same again, where the rule of the item is presence
  /// alone. Every other rule asks at each use.
  ///
  /// - Throws: ``VaultError/Code/cancelled`` if they allow nothing.
  mutating func offerGrant(_ verified: VerifiedItem, by component: Component?) throws(VaultError) {
    guard asking.hasAsked, core.hasOpenKeys, let item = asking.item, item.access.constraints == .userPresence,
      [.read, .use].contains(asking.operation), component?.pin == nil, component?.session == nil,
      asking.context?.text == nil
    else { return }
    let required = try item.policy.requirements()
    guard required.pin == nil, required.life == nil else { return }
    let moment = VerificationMoment(
      for: core.environment.caller, session: asking.validity.session, locks: asking.validity.locks,
      clock: core.environment.clock)
    try asking.offer(StandingGrant(asking.operation, verified: verified, at: moment))
  }
}
