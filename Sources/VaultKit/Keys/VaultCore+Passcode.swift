import SealedStorage
import VaultFormat
import VaultKeys
package import PasswordDerivation
import VaultCrypto
import VaultStorage

extension VaultCore {
  /// Sets a passcode where none is set. Touches a handful of slots and no item.
  ///
  /// A former holder of the device key could have planted members, factors and audit roots: they are forgotten, and the
  /// recovery half stays only when the person gives the recovery code.
  ///
  /// - Parameter recovery: Whether to keep or drop the recovery code; needed when the vault has one, and only then.
  /// - Returns: What was forgotten.
  /// - Throws: ``VaultError/Code/policy`` where a passcode is set already, and where `recovery` does not say what it has
  ///   to; ``VaultError/Code/authenticationFailed`` for a code that is not the vault's. Nothing is changed then.
  @discardableResult
  package func setPasscode(
    _ new: consuming Passcode, recovery: consuming RecoveryChoice? = nil
  ) throws(VaultError) -> ForgottenTrust {
    guard !hasPasscode else {
      throw VaultError(
        .policy, "a passcode is set already", hint: Hint(.changePasscode, saying: "change it instead"))
    }
    let choice = try RecoverySettlement(recovery)
    let half = try withHeader { header, _, _ throws(VaultError) in
      _ = try choice.keeps(header)
      return header.recoveryKey
    }
    let notes = choice.notes + new.shown.notes(.newPasscode)
    let keys = try freshKeys(from: new)
    var forgotten = ForgottenTrust()
    try changeKeys(.passcodeSet, detail: forgotten.detail) { change, transaction throws(VaultError) in
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
      forgotten = try change.forgetTrust(beyond: present)
      forgotten.recoveryCode = try choice.settle(&change)
      try change.setPasscode(keys, segment: present + 1)
      try transaction.beginChain(change.auditRoot!)
      try transaction.log(notes)
    }
    try adopt(keys)
    return forgotten
  }

  /// Changes the passcode. Touches a handful of slots and no item.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed``, ``VaultError/Code/lockedOut``, ``VaultError/Code/policy``.
  ///
  /// - Parameter parameters: Argon2id parameters to change to; `nil` for the default of this version.
  package func changePasscode(
    from old: consuming Passcode, to new: consuming Passcode, parameters: Argon2id.Parameters? = nil
  ) throws(VaultError) {
    try exchange(try verified(old), for: new, parameters: parameters, notes: new.shown.notes(.newPasscode))
  }

  /// Changes a passcode that was judged before the new one was asked for.
  package func changePasscode(from old: CheckedPasscode, to new: consuming Passcode) throws(VaultError) {
    try exchange(old.keys, for: new, parameters: nil, notes: new.shown.notes(.newPasscode))
  }

  /// Judges a passcode. The vault is unlocked with it.
  ///
  /// - Throws: ``VaultError/Code/authenticationFailed``, ``VaultError/Code/lockedOut``, ``VaultError/Code/policy``.
  package func checked(_ passcode: consuming Passcode) throws(VaultError) -> CheckedPasscode {
    CheckedPasscode(keys: try verified(passcode))
  }

  /// Wraps for the new passcode what was wrapped for one that has been verified.
  func exchange(
    _ before: PasscodeKeys, for new: borrowing Passcode, parameters: Argon2id.Parameters?,
    notes: [AuditNote] = []
  ) throws(VaultError) {
    let after = try freshKeys(from: new, parameters: parameters)
    try changeKeys(.passcodeChanged) { change, transaction throws(VaultError) in
      try Self.check(before, change: change)
      try transaction.log(notes)
      try change.changePasscode(from: before, to: after)
    }
    try adopt(after)
  }

  /// The items that removing the passcode would destroy.
  package func itemsBehindPasscode() throws(VaultError) -> DestroyedItems {
    try reading { transaction throws(VaultError) in
      DestroyedItems(
        items: try transaction.store.itemsBehindPasscode().map { ($0.item.id, $0.item.name) })
    }
  }

  /// Removes the passcode: items of when-passcode-set, and those with a constraint that a factor stands for, are destroyed
  /// for good; the enrolled set goes too; all other items stay.
  ///
  /// - Parameter expecting: Refused when there are more of them than this, so that none dies unannounced.
  /// - Throws: ``VaultError/Code/authenticationFailed``, ``VaultError/Code/lockedOut``, ``VaultError/Code/policy``.
  package func removePasscode(_ old: consuming Passcode, expecting: Int = .max) throws(VaultError)
    -> DestroyedItems
  {
    let before = try verified(old)
    var destroyed: [(id: ItemID, name: String?)] = []
    try changeKeys(.passcodeRemoved) { change, transaction throws(VaultError) in
      try Self.check(before, change: change)
      let dying = try transaction.store.itemsBehindPasscode()
      guard dying.count <= expecting else {
        throw VaultError(.policy, "items were added meanwhile that would be destroyed", hint: "try again")
      }
      for (row, item) in dying {
        try transaction.remove(row, item: item)
        try transaction.log(
          AuditNote(operation: .itemDeleted, item: item.id, kind: item.kind, detail: item.name))
      }
      destroyed = dying.map { ($0.item.id, $0.item.name) }
      try change.removePasscode(before)
    }
    return DestroyedItems(items: destroyed)
  }

  private func freshKeys(
    from passcode: borrowing Passcode, parameters: Argon2id.Parameters? = nil
  ) throws(VaultError) -> PasscodeKeys {
    let derivation = try KeyDerivation.fresh(
      parameters ?? environment.parameters, random: environment.random)
    return try PasscodeKeys(passcode, derivation: derivation, environment: environment)
  }

  /// The passcode that was verified must still be the vault's: nothing is wrapped with keys of another `config`.
  private static func check(_ keys: PasscodeKeys, change: KeyChange) throws(VaultError) {
    guard try change.header.passcodeDerivation() == keys.derivation else {
      throw VaultError(.busy, "the passcode was changed by another process", hint: "try again")
    }
  }

  func changeKeys(
    _ operation: AuditOperation, _ body: (inout KeyChange) throws(VaultError) -> Void
  ) throws(VaultError) {
    try changeKeys(operation) { change, _ throws(VaultError) in try body(&change) }
  }

  /// One transaction that changes header and slots as they are in the file at its begin.
  ///
  /// - Parameter detail: For the audit log; asked when the change is made.
  func changeKeys(
    _ operation: AuditOperation, detail: @autoclosure () -> String? = nil,
    _ body: (inout KeyChange, inout WriteTransaction) throws(VaultError) -> Void
  ) throws(VaultError) {
    try writing { transaction throws(VaultError) in
      try transaction.changeKeys(operation, detail: detail(), body)
    }
  }
}

extension WriteTransaction {
  /// Changes header and slots as they are in the file now.
  mutating func changeKeys(
    _ operation: AuditOperation, detail: @autoclosure () -> String? = nil,
    _ body: (inout KeyChange, inout WriteTransaction) throws(VaultError) -> Void
  ) throws(VaultError) {
    try store.refuseShut()
    var change = store.keyChange
    try body(&change, &self)
    try set(change)
    try log(operation, detail: detail())
  }
}

extension SealedStore {
  /// A change of header and slots as they are now.
  var keyChange: KeyChange {
    KeyChange(
      header: keys.header, slots: keys.slots, keys: keys.current, previous: keys.previous,
      random: environment.random)
  }

  /// The items that a removal of the passcode destroys, without those that do not open anyway.
  mutating func itemsBehindPasscode() throws(VaultError) -> [(row: ItemRow, item: Item)] {
    var found: [(row: ItemRow, item: Item)] = []
    var ids: [ItemID] = []
    try forEachItem(damaged: { _, _ in }) { item throws(VaultError) in
      // Factors do not exist without a passcode: what stands behind one could be opened by nobody.
      let isBehindFactor = item.access.constraints.hasSingle
      if item.access.accessibility == .whenPasscodeSet || isBehindFactor { ids.append(item.id) }
      return true
    }
    for id in ids {
      let row = try row(of: id)
      found.append((row, try open(row)))
    }
    return found
  }
}
