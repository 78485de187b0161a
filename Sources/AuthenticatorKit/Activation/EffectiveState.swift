import VaultKit

/// The state of a credential as it is now: after its deadline, and together with its PIN.
extension ReadTransaction {
  /// A credential that makes codes counts as blocked while its PIN is. An activation whose time is over counts as none, an
  /// unlock whose time is over as blocked.
  mutating func effectiveState(of item: Item) throws(VaultError) -> CredentialState {
    let state = try state(of: item.id)
    let stored = try state.credentialState()
    switch stored {
    case .started, .unlockStarted:
      return state.secondsLeft(clock) > 0 ? stored : stored.after(.lapsed)!
    case .none, .active:
      guard let pin = item.policy.guardingPINItem, try self.state(of: pin).isBlocked else { return stored }
      return .blocked
    case .blocked, .disabled: return stored
    }
  }

  /// - Throws: ``VaultError/Code/blocked`` while the PIN that guards an item is blocked.
  mutating func refuseBlockedPIN(of item: Item) throws(VaultError) {
    if let pin = item.policy.guardingPINItem, try state(of: pin).isBlocked {
      throw VaultError.pinBlocked.advising(try adviceOnBlockedPIN(pin))
    }
  }

  /// Throws unless a credential and the PIN that guards it permit codes.
  ///
  /// - Throws: As ``ItemState/refuseUnlessActive()``.
  mutating func refuseInactive(_ item: Item) throws(VaultError) {
    try state(of: item.id).refuseUnlessActive()
    try refuseBlockedPIN(of: item)
  }

  /// Whether the deadline of an activation or of an unlock has passed, and nothing has recorded it.
  ///
  /// - Throws: ``VaultError/Code/io`` if the boot cannot be told: what cannot be judged is not recorded as over.
  mutating func isLapsed(_ id: ItemID) throws(VaultError) -> Bool {
    let state = try state(of: id)
    guard try state.credentialState().after(.lapsed) != nil else { return false }
    try clock.refuseWithoutBoot()
    return state.secondsLeft(clock) == 0
  }

  /// The device credential of a credential; `nil` where there is none.
  mutating func deviceCredential(of item: Item) throws(VaultError) -> Item? {
    item.isActivation ? nil : try credential(namedBy: item)
  }

  /// The disabled credential that an activation replaces; `nil` where there is none.
  mutating func credential(replacedBy activation: Item) throws(VaultError) -> Item? {
    activation.isActivation ? try credential(namedBy: activation) : nil
  }

  private mutating func credential(namedBy item: Item) throws(VaultError) -> Item? {
    guard let id = item.attributes[.credential].flatMap(ItemID.init) else { return nil }
    return try items(matching: Query(id: id)).first { $0.kind == .otp }
  }

  /// The activation under way that replaces a disabled credential.
  mutating func activation(replacing id: ItemID) throws(VaultError) -> Item? {
    try items(matching: Query(.otp)).first {
      $0.isActivation && $0.attributes[.credential] == id.bytes
    }
  }
}

extension WriteTransaction {
  /// Records that the time of an activation or of an unlock is over: an activation is deleted, and a credential is blocked
  /// again.
  ///
  /// - Returns: Whether it was over.
  mutating func settleLapsed(_ item: Item) throws(VaultError) -> Bool {
    guard try reading.isLapsed(item.id) else { return false }
    guard try state(of: item.id).credentialState() == .unlockStarted else {
      try endActivation(item, result: VaultError.activationLapsed.auditResult, detail: "its time was over")
      return true
    }
    var held = try heldState(of: item.id)
    try held.state.apply(.lapsed)
    held.state.deadline = nil
    try keep(held)
    try log(.stateChanged, item: item, detail: "the time of the unlock was over")
    return true
  }

  /// Deletes an activation that leads to no credential. The seal of its secret leaves the file with this commit.
  mutating func endActivation(_ item: Item, result: AuditResult, detail: String) throws(VaultError) {
    try log(.activationEnded, item: item, result: result, detail: detail)
    try destroy(item.id)
  }
}

extension VaultCore {
  /// Records a deadline that has passed.
  ///
  /// - Throws: ``VaultError/Code/expired`` for an activation, which no longer exists.
  func refuseLapsed(_ item: Item) throws(VaultError) {
    var transaction = try beginReading()
    let isActivation = try transaction.isLapsed(item.id) ? item.isActivation : nil
    transaction.end()
    guard let isActivation else { return }
    if !isReadOnly {
      var transaction = try beginWriting()
      _ = try transaction.settleLapsed(item)
      try transaction.commit()
    }
    if isActivation { throw .activationLapsed }
  }
}

extension VaultError {
  static var activationLapsed: VaultError {
    VaultError(
      .expired, "the activation was not finished in time, and was deleted", hint: .activateCredential)
  }
}
