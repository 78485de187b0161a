import SecretMemory
package import VaultKit

/// Changes of a PIN: of a checked one its wrapping, of a camouflaged one its offset. The credentials behind it stay as
/// they are.
extension VaultCore {
  package func changePIN(
    _ id: ItemID, keepingBiokeys: Bool = false, context: AuthenticationContext? = nil
  ) throws(VaultError) {
    let context = context?.witnessingPasscode()
    let stored = try usablePIN(id, context: context)
    switch stored.mode {
    case .checked: try changeChecked(stored, keepingBiokeys: keepingBiokeys, context: context)
    default: try changeCamouflaged(stored, context: context)
    }
  }

  /// Drops the pending offset.
  package func undoPINChange(_ id: ItemID, context: AuthenticationContext? = nil) throws(VaultError) {
    try changingOffset(of: id, detail: "change undone", context: context) { state, _ throws(VaultError) in
      guard state.hasPendingOffset else {
        throw VaultError(.policy, "no change of the PIN is pending, so there is nothing to undo")
      }
      state.pendingPINOffset = nil
    }
  }

  /// Makes the pending offset the offset.
  package func confirmPIN(_ id: ItemID, context: AuthenticationContext? = nil) throws(VaultError) {
    var transaction = try beginWriting(.secret(.use, of: id, by: .pin), context: context) {
      (look) throws(VaultError) in try StoredPIN.check(id, in: &look)
    }
    try transaction.confirmPIN(id)
    try transaction.commit()
  }

  // MARK: Checked

  private func changeChecked(
    _ stored: StoredPIN, keepingBiokeys: Bool, context: AuthenticationContext?
  ) throws(VaultError) {
    let old = try checkedPIN(stored, to: "change the PIN", context: context)
    guard case .checked(let secret) = old.secret else { preconditionFailure("changeChecked: camouflaged") }
    // The person may take long to type the new PIN, and an attempt without a verdict counts as a wrong one.
    var transaction = try beginWriting()
    _ = try transaction.writeUse(of: old)
    try transaction.commit()
    try replacePIN(
      of: old.stored, wrapping: secret, keepingBiokeys: keepingBiokeys, as: .pinChanged, context: context
    ) { (pin) throws(VaultError) in
      guard !pin.bytes.isEqualInConstantTime(to: old.digits.bytes) else { throw .pinReused }
    }
  }

  /// Asks for a new PIN, and wraps `D` in it.
  ///
  /// - Parameter refuse: Throws for a new PIN that is not accepted.
  func replacePIN(
    of stored: StoredPIN, wrapping secret: SharedSecret, keepingBiokeys: Bool, as operation: AuditOperation,
    context: AuthenticationContext?, refusing refuse: (borrowing PIN) throws(VaultError) -> Void
  ) throws(VaultError) {
    let (record, notes) = try askingPIN(stored.requestForNew, context: context) {
      (pin, shown) throws(VaultError) in
      try refuse(pin)
      try refuseNew(pin, of: .checked, context: context)
      let record = try PINRecord.wrapping(
        secret.bytes, under: NewPINKey(pin, in: environment), of: stored.id, vault: stored.vault,
        replacing: stored.record, environment: environment)
      return (record, shown.notes(.newPIN))
    }
    var transaction = try beginWriting(.secret(.replace, of: stored.id, by: .pin), context: context)
    guard try transaction.reading.materialVersion(of: stored.id) == stored.material else {
      throw .pinChanged
    }
    _ = try transaction.update(
      stored.id, ItemChanges(), secret: record.data.bytes.copy(), by: .pin)
    if operation == .pinUnlocked { try transaction.changeState(of: stored.id) { $0.unlockPIN() } }
    if !keepingBiokeys { try transaction.deleteBiokeys(of: stored.id) }
    try transaction.log(notes)
    try transaction.log(operation, item: stored.item)
    try transaction.commit()
  }

  private func refuseNew(
    _ pin: borrowing PIN, of mode: PINMode, context: AuthenticationContext?
  ) throws(VaultError) {
    try CommonPINs.refuse(pin, of: mode)
    try refusePasscode(pin, context: context)
  }

  // MARK: Camouflaged

  /// The new offset is always computed from the confirmed one, so a mistyped old PIN never accumulates.
  private func changeCamouflaged(
    _ stored: StoredPIN, context: AuthenticationContext?
  ) throws(VaultError) {
    let confirmed = stored.state.pinOffset
    let (old, shown) = try askingPIN(stored.request("change the PIN"), context: context) {
      (pin, shown) throws(VaultError) in (SharedSecret(pin.bytes.copy()), shown)
    }
    let (offset, notes) = try askingPIN(stored.requestForNew, context: context) {
      (pin, shown) throws(VaultError) in
      guard !CamouflagedPIN.isEqual(pin.bytes, to: old.bytes) else { throw .pinReused }
      try refuseNew(pin, of: .camouflaged, context: context)
      return (CamouflagedPIN.offset(confirmed, changing: old.bytes, to: pin.bytes), shown.notes(.newPIN))
    }
    try changingOffset(
      of: stored.id, detail: nil, noting: (stored.settledMark ?? []) + shown.notes(.pin) + notes,
      context: context
    ) { state, hasMarked throws(VaultError) in
      guard state.pinOffset == confirmed, state.offsetInUse == stored.state.offsetInUse, !hasMarked,
        stored.settledMark != nil || !state.needsResync
      else { throw .pinChanged }
      state.needsResync = false
      state.pendingPINOffset = offset
      state.unconfirmed = 0
    }
  }

  private func changingOffset(
    of id: ItemID, detail: String?, noting notes: [AuditNote] = [], context: AuthenticationContext?,
    _ change: (inout ItemState, _ hasMarked: Bool) throws(VaultError) -> Void
  ) throws(VaultError) {
    var transaction = try beginWriting(.secret(.use, of: id, by: .pin), context: context) {
      (look) throws(VaultError) in try StoredPIN.check(id, in: &look)
    }
    try transaction.changeOffset(of: id, detail: detail, noting: notes, change)
    try transaction.commit()
  }
}

extension WriteTransaction {
  /// Records that the server has accepted a code made under the offset in use. An acceptance of an earlier code must not make
  /// a change final: its old PIN may have been mistyped.
  mutating func confirmPIN(_ id: ItemID) throws(VaultError) {
    try changeOffset(of: id, detail: "confirmed") { state, _ throws(VaultError) in
      guard !state.hasPendingOffset || state.unconfirmed > 0 else {
        throw VaultError(
          .policy, "no code was made since the change of the PIN, so the server has accepted none",
          hint: "make a code with the new PIN, and confirm after the server accepted it")
      }
      state.pinOffset = state.offsetInUse
      state.pendingPINOffset = nil
      state.unconfirmed = 0
    }
  }

  fileprivate mutating func changeOffset(
    of id: ItemID, detail: String?, noting notes: [AuditNote] = [],
    _ change: (inout ItemState, _ hasMarked: Bool) throws(VaultError) -> Void
  ) throws(VaultError) {
    let stored = try StoredPIN(id, in: &reading)
    guard stored.mode == .camouflaged else {
      throw VaultError(.policy, "a change of a checked PIN is final at once", hint: "change the PIN again")
    }
    var held = try heldState(of: id)
    try change(&held.state, hasMarked)
    try keep(held)
    try log(notes)
    try log(.pinChanged, item: stored.item, detail: detail)
  }
}

extension VaultError {
  fileprivate static var pinReused: VaultError {
    VaultError(.pinReused, "the new PIN is the old one", hint: "choose another")
  }
}
