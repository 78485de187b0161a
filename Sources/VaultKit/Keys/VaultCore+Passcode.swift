import SealedStorage
import VaultFormat
import VaultKeys
package import PasswordDerivation
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// Sets a passcode when none is set. Rewrites a few slots and no item.
  ///
  /// A former holder of the device key could have planted members, factors and audit roots, so they are removed. The
  /// recovery half stays only if the person gives the recovery code.
  ///
  /// - Parameter recovery: Whether to keep or drop the recovery code. Required only when the vault has one.
  /// - Returns: The trust that was removed.
  /// - Throws: ``VaultError/Code/policy`` if a passcode is already set, if `recovery` is missing, or if it keeps a
  ///   code that the vault does not have; ``VaultError/Code/authenticationFailed`` for another vault's code. After an
  ///   error nothing is changed.
  @discardableResult
  package func setPasscode(
    _ new: consuming Passcode, recovery: consuming RecoveryChoice? = nil
  ) throws(VaultError) -> ForgottenTrust {
    guard !hasPasscode else {
      throw VaultError(.policy, "a passcode is set already", hint: .changePasscode)
    }
    let validity = CallValidity(self)
    let choice = try RecoverySettlement(recovery)
    let header = try keysNow().header
    _ = try choice.keeps(header)
    let half = header.recoveryKey
    let notes = choice.notes + new.shown.notes(.newPasscode)
    let keys = try PasscodeKeys(new: new, in: environment)
    var transaction = try beginWriting()
    var change = try transaction.beginKeyChange()
    guard !change.header.hasPasscode else {
      throw VaultError(.policy, "another process has just set a passcode")
    }
    // The choice was made for the earlier code.
    guard change.header.recoveryKey == half else {
      throw VaultError(.busy, "the recovery code was changed by another process", hint: "try again")
    }
    guard let present = UInt32(exactly: transaction.head.segment), present < .max else {
      throw VaultError(.policy, "the audit log is full", hint: .rotateEpoch)
    }
    var forgotten = try change.forgetTrust(beyond: present)
    forgotten.recoveryCode = try choice.settle(&change)
    try change.setPasscode(keys, segment: present + 1)
    try transaction.beginChain(change.auditRoot!)
    try transaction.log(notes)
    try transaction.write(change, as: .passcodeSet, detail: forgotten.detail)
    try transaction.commit()
    try adopt(keys, for: validity)
    return forgotten
  }

  /// Changes the passcode. Rewrites a few slots and no item.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed``, ``VaultError/Code/passcodeDelay``, ``VaultError/Code/policy``.
  ///
  /// - Parameter parameters: Argon2id parameters to change to; `nil` for the default of this version.
  package func changePasscode(
    from old: consuming Passcode, to new: consuming Passcode, parameters: Argon2id.Parameters? = nil
  ) throws(VaultError) {
    let validity = CallValidity(self)
    let before = try verified(old, for: validity)
    try exchange(
      before, for: new, parameters: parameters, notes: new.shown.notes(.newPasscode), validity: validity)
  }

  /// Changes a passcode that was verified before the prompt for the new one.
  package func changePasscode(from old: CheckedPasscode, to new: consuming Passcode) throws(VaultError) {
    try exchange(
      old.keys, for: new, parameters: nil, notes: new.shown.notes(.newPasscode), validity: CallValidity(self))
  }

  /// Verifies a passcode. A right one unlocks the vault.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed``, ``VaultError/Code/passcodeDelay``, ``VaultError/Code/policy``.
  package func checked(_ passcode: consuming Passcode) throws(VaultError) -> CheckedPasscode {
    CheckedPasscode(keys: try verified(passcode))
  }

  /// Wraps the keys for the new passcode in place of the old one, which was verified. If the vault was locked since
  /// `validity` was made, it stays locked.
  func exchange(
    _ before: PasscodeKeys, for new: borrowing Passcode, parameters: Argon2id.Parameters?,
    notes: [AuditNote] = [], validity: CallValidity
  ) throws(VaultError) {
    let after = try PasscodeKeys(new: new, parameters: parameters, in: environment)
    var transaction = try beginWriting()
    var change = try transaction.beginKeyChange()
    try Self.check(before, change: change)
    try transaction.log(notes)
    try change.changePasscode(from: before, to: after)
    try transaction.write(change, as: .passcodeChanged)
    try transaction.commit()
    try adopt(after, for: validity)
  }

  /// The items that removing the passcode would destroy.
  package func itemsBehindPasscode() throws(VaultError) -> DestroyedItems {
    var transaction = try beginReading()
    var items: [(id: ItemID, name: String?)] = []
    for id in try transaction.store.itemsBehindPasscode() {
      items.append((id, try transaction.item(id).name))
    }
    return DestroyedItems(items: items)
  }

  /// Removes the passcode and the enrolled set. Destroys permanently the items of when-passcode-set and the items
  /// behind a factor, and the items behind a PIN among them. All other items stay.
  ///
  /// - Parameter announced: Throws if an item that is not among these would be destroyed; `nil` for any items.
  /// - Throws: ``VaultError/Code/authenticationFailed``, ``VaultError/Code/passcodeDelay``, ``VaultError/Code/policy``.
  package func removePasscode(_ old: consuming Passcode, announced: [ItemID]? = nil) throws(VaultError)
    -> DestroyedItems
  {
    try removePasscode(checked(old), announced: announced)
  }

  /// Removes a passcode that was verified before.
  package func removePasscode(_ old: CheckedPasscode, announced: [ItemID]? = nil) throws(VaultError)
    -> DestroyedItems
  {
    var transaction = try beginWriting()
    var change = try transaction.beginKeyChange()
    try Self.check(old.keys, change: change)
    let dying = try transaction.store.itemsBehindPasscode()
    guard announced.map({ Set(dying).isSubset(of: $0) }) ?? true else {
      throw VaultError(.policy, "items were added meanwhile that would be destroyed", hint: "try again")
    }
    let destroyed = try transaction.deleteLost(dying)
    try change.removePasscode(old.keys)
    try transaction.write(change, as: .passcodeRemoved)
    try transaction.commit()
    return DestroyedItems(items: destroyed)
  }

  /// Checks that the verified passcode is still the vault's, because keys of another `config` must not wrap anything.
  private static func check(_ keys: PasscodeKeys, change: KeyChange) throws(VaultError) {
    guard change.header.passcodeDerivation == keys.derivation else {
      throw VaultError(.busy, "the passcode was changed by another process", hint: "try again")
    }
  }
}

extension SealedStore {
  /// The items that removing the passcode destroys, except items that do not open anyway.
  mutating func itemsBehindPasscode() throws(VaultError) -> [ItemID] {
    // Factors do not exist without a passcode, so an item behind a factor could no longer open.
    try lostItems { $0.access.accessibility == .whenPasscodeSet || $0.access.constraints.hasSingle }
  }

  /// The items that are lost, and the items behind a PIN among them, which never open without it.
  mutating func lostItems(_ isLost: (Item) -> Bool) throws(VaultError) -> [ItemID] {
    var lost: [ItemID] = []
    var pins: Set<ItemID> = []
    var walk = ItemWalk()
    while let item = try walk.nextReadable(in: &self) {
      guard isLost(item) else { continue }
      lost.append(item.id)
      if item.kind.rules.relations.guardsOthers { pins.insert(item.id) }
    }
    guard !pins.isEmpty else { return lost }
    walk = ItemWalk()
    while let item = try walk.nextReadable(in: &self) {
      if let pin = item.policy.guardingPINItem, pins.contains(pin), !isLost(item) { lost.append(item.id) }
    }
    return lost
  }
}
